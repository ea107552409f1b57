"""What `pip install` brings: the engine, its data files, and nothing else of the course."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml

import chaingrad
from coursework.sources import PACKAGES
from tests.site.colab import closure
from tests.support import ROOT

pytestmark = pytest.mark.slow

SOURCES = ("pyproject.toml", "README.md", "LICENSE", "src")
BUILD = "import sys, setuptools.build_meta as b; getattr(b, 'build_' + sys.argv[1])(sys.argv[2])"
USE = """\
import importlib.metadata, importlib.util, sys
from pathlib import Path
import numpy as np
import chaingrad

home = Path(chaingrad.__file__).parent
assert home.is_relative_to(sys.prefix), home
assert importlib.metadata.version("chaingrad") == chaingrad.__version__
assert importlib.util.find_spec("coursework") is None
for name in (
    "chaingrad/py.typed", "chaingrad/digits.npz", "chainview/player/players.bundle.js",
    "chainview/player/player.css", "chainview/piece.css", "chainlab/drills/page/alone.bundle.js",
):
    assert (home.parent / name).stat().st_size or name.endswith("py.typed"), name

w = chaingrad.Node(np.array([[1.0, -2.0], [3.0, 0.5]]))
loss = ((w @ w) ** 2).sum()
loss.backward()
square = w.data @ w.data
assert np.allclose(w.grad, 2 * (square @ w.data.T + w.data.T @ square))
"""
DRAW = """\
from chaingrad import Node
from chainview import draw_graph, nudge, play

y = Node(1.5) * Node(-0.8)
assert draw_graph(y)._repr_mimebundle_()["image/svg+xml"].count("<svg") == 1
for figure in (play(y), nudge(y)):
    assert "<script" in figure._repr_mimebundle_()["text/html"]
"""


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel and the source archive, built from a copy of the sources."""
    copy, built = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("built")
    for name in SOURCES:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copy)
    for kind in ("wheel", "sdist"):
        command = [sys.executable, "-c", BUILD, kind, str(built)]
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
    return {"wheel": next(built.glob("*.whl")), "sdist": next(built.glob("*.tar.gz"))}


def lend(name: str, folder: Path) -> None:
    """Put an installed distribution into a folder, by links."""
    site = Path(sysconfig.get_path("purelib"))
    files = distribution(name).files or []
    for part in sorted({file.parts[0] for file in files} - {"..", "__pycache__"}):
        (folder / part).symlink_to(site / part)


def empty_environment(folder: Path, *packages: str) -> Path:
    """A new Python that has these packages of ours and no other; its executable."""
    lent = folder / "lent"
    lent.mkdir(parents=True)
    for name in packages:
        lend(name, lent)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (site,) = folder.glob("venv/lib/python*/site-packages")
    (site / "lent.pth").write_text(f"{lent}\n")
    return folder / "venv" / "bin" / "python"


def run(python: Path, *arguments: str | Path) -> None:
    """Run a Python that sees neither this environment nor a package index."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    quiet = {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run([python, *arguments], env=kept | quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def install(python: Path, archive: Path) -> None:
    pip = ["-m", "pip", "--python", python, "install", "--no-index", "--no-build-isolation"]
    run(Path(sys.executable), *pip, archive)


@pytest.mark.walk
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_an_archive_installs_beside_numpy_alone(archives, kind, tmp_path):
    builders = ("setuptools", "wheel") if kind == "sdist" else ()
    python = empty_environment(tmp_path, "numpy", *builders)
    install(python, archives[kind])
    run(python, "-I", "-c", USE)


@pytest.mark.walk
def test_with_the_extra_for_figures_it_draws(archives, tmp_path):
    needed = closure(["numpy", "graphviz", "pygraphviz", "matplotlib"])
    python = empty_environment(tmp_path, *(found.name for found in needed))
    install(python, Path(f"{archives['wheel']}[figures]"))
    run(python, "-I", "-c", DRAW)


def test_the_wheel_holds_the_three_packages(archives):
    names = zipfile.ZipFile(archives["wheel"]).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {*PACKAGES, f"chaingrad-{chaingrad.__version__}.dist-info"}
    sources = {
        path.relative_to(ROOT / "src").as_posix()
        for package in PACKAGES
        for path in (ROOT / "src" / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert sources == {name for name in names if ".dist-info/" not in name}


def test_the_source_archive_holds_the_package_and_not_the_course(archives):
    with tarfile.open(archives["sdist"]) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert {"LICENSE", "README.md", "pyproject.toml", "src/chainview/player/player.js"} < set(names)
    assert not [name for name in names if name.startswith(("chapters", "src/coursework", "tests"))]


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    source = project["tool"]["setuptools"]["dynamic"]["version"]
    assert source == {"attr": "chaingrad.__version__"}
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == chaingrad.__version__
