"""Run every page with releases that are not pinned, and say which pages they break.

    python tools/rot.py newest          the newest releases that fit, in a build of its own
    python tools/rot.py sphinx          the same, of Sphinx and its extensions, too, which Jupyter
                                        Book and our own bounds hold back
    python tools/rot.py colab [FREEZE]  the versions that Colab has now, in the notebooks

Colab publishes what it installs; a file in the form of `pip freeze` stands in for that.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from coursework.sources import copy  # noqa: E402
from tools import foreign  # noqa: E402

FREEZE = "https://raw.githubusercontent.com/googlecolab/backend-info/main/pip-freeze.txt"
EXTRAS = ("figures", "pages", "book")
HOLDER = "jupyter-book"  # it bounds the versions of Sphinx and its extensions
# The packages that pages import and Colab has, and the tools that run them there.
CARRIED = ("autograd", "graphviz", "jax", "matplotlib", "numpy", "scikit-learn", "torch", "tqdm")
TOOLS = ("ipykernel", "ipython", "pip")
BOOK = ("chapters", "src", "img", "_ext", "tools", "_config.yml", "_toc.yml", "references.bib",
        "pyproject.toml", "README.md", "LICENSE")  # fmt: skip
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def unpinned(extras: dict[str, list[str]]) -> list[str]:
    """Return what the extras ask for, without exact versions; bounds stay."""
    lines = {re.sub(r"==[^,;]+", "", line) for extra in EXTRAS for line in extras[extra]}
    return sorted(line for line in lines if not line.startswith("chaingrad"))


def unbounded(lines: list[str]) -> list[str]:
    """Return the packages that lines ask for, without versions; skip what only extras ask for."""
    found = (re.match(r"[\w.-]+(\[[\w,]+\])?", line) for line in lines if "extra ==" not in line)
    return sorted({match[0] for match in found if match})


def constraints(freeze: str) -> str:
    """Return the versions in the output of `pip freeze`, also of wheels from an address."""
    found = []
    for line in freeze.splitlines():
        pin = re.match(r"([\w.-]+)==([^\s;+]+)", line)
        wheel = re.match(r"([\w.-]+) @ \S*/[\w.]+-(\d[\w.]*)(?:%2B|\+|-)\S*\.whl", line)
        match = pin or wheel
        if match:
            found.append(f"{match[1]}=={match[2]}")
    return "\n".join([*found, ""])


def environment(folder: Path, packages: list[str]) -> Path:
    """Make a new virtual environment with these packages; return its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    install(python, packages)
    return python


def install(python: Path, packages: list[str]) -> None:
    pip = [str(python), "-m", "pip", "install", "--quiet", "--progress-bar", "off"]
    subprocess.run([*pip, *packages], check=True)


def free_environment(folder: Path, packages: list[str]) -> Path:
    """Make an environment in which no bound of Jupyter Book's, or ours, holds others back."""
    book = next(line for line in packages if line.startswith(HOLDER))
    python = environment(folder, ["--no-deps", book])
    (site,) = folder.glob("lib/python*/site-packages")
    (holder,) = distributions(name=HOLDER, path=[str(site)])
    packages = [line for line in packages if line != book]
    install(python, unbounded([*packages, *(holder.requires or [])]))
    return python


def copy_book(folder: Path) -> Path:
    """Make a copy of the course with nothing built; return its folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in BOOK:
        source = ROOT / name
        if source.is_dir():
            copy(source, folder / name)
        else:
            shutil.copy(source, folder)
    (folder / "requirements.txt").touch()
    return folder


def newest(folder: Path, make: Callable[[Path, list[str]], Path] = environment) -> int:
    """Build the book with the newest releases; the build's own summary says what broke."""
    book = copy_book(folder / "book")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = make(folder / "venv", unpinned(project["optional-dependencies"]))
    install(python, ["--no-deps", "-e", str(book)])
    versions = subprocess.check_output([str(python), "-m", "pip", "freeze"], text=True)
    (folder / "versions.txt").write_text(versions)
    print("Trying", *re.findall(r"(?im)^(?:sphinx|myst|docutils)[\w-]*==\S+", versions))
    build = [str(python), str(book / "tools" / "build.py"), str(book)]
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(build, env=os.environ | {"PATH": path}).returncode


def fetch(source: str) -> str:
    """Fetch a list of versions from a file or an address."""
    if not source.startswith("https://"):
        return Path(source).read_text()
    with urllib.request.urlopen(source, timeout=60) as answer:
        return str(answer.read().decode())


def colab(folder: Path, source: str) -> int:
    """Run the built notebooks with Colab's versions; their first cell installs the engine."""
    folder.mkdir(parents=True, exist_ok=True)
    limits = folder / "versions.txt"
    limits.write_text(constraints(fetch(source)))
    packages = ["--prefer-binary", "--constraint", str(limits), *CARRIED, *TOOLS]
    python = environment(folder / "venv", packages)
    built = ROOT / "_build" / "html" / "notebooks"
    (engine,) = built.glob("chaingrad-*.whl")
    notebooks = sorted(built.rglob("*.ipynb"))
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = pool.map(lambda path: run_installing(path, engine, python, folder), notebooks)
    for path, error in zip(notebooks, errors, strict=True):
        failed += bool(error)
        print(f"{'failed' if error else 'ran   '}  {path.stem}")
        if error:
            print("\n".join(ANSI.sub("", error).splitlines()[-25:]))
    print(f"\n{len(notebooks) - failed} of {len(notebooks)} notebooks ran with Colab's versions.")
    return 1 if failed or not notebooks else 0


def run_installing(notebook: Path, engine: Path, python: Path, folder: Path) -> str:
    """Run a notebook on a new Python; its first cell installs the engine. Return its error."""
    folder = folder / notebook.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(engine, folder)
    (packages,) = python.parent.parent.glob("lib/python*/site-packages")
    own = foreign.overlay(folder / "venv", str(python), packages)
    return foreign.run(notebook, own, folder)


def main(arguments: list[str]) -> int:
    kind = arguments[0] if arguments else ""
    folder = ROOT / "_build" / "rot" / kind
    if kind == "newest":
        return newest(folder)
    if kind == "sphinx":
        return newest(folder, free_environment)
    if kind == "colab":
        return colab(folder, arguments[1] if len(arguments) > 1 else FREEZE)
    raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
