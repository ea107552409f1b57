"""The versions that pages are tried with, and how the site is published."""

import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.support import ROOT, git
from tools import rot


def test_exact_versions_are_left_open_and_bounds_stay():
    extras = {
        "figures": ["graphviz>=0.20"],
        "pages": ["chaingrad[figures]", "torch==2.13.0", 'jax==0.10.2 ; python_version > "3"'],
        "book": ["jupyter-book>=1.0.4,<2"],
    }
    assert rot.unpinned(extras) == [
        "graphviz>=0.20",
        'jax; python_version > "3"',
        "jupyter-book>=1.0.4,<2",
        "torch",
    ]


def test_nothing_is_pinned_in_the_trial_of_the_newest():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    packages = rot.unpinned(project["optional-dependencies"])
    assert {"torch", "jax"} <= set(packages)
    assert not [line for line in packages if "==" in line]


def test_nothing_holds_sphinx_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Jupyter Book comes without what it asks for, which then comes in any version."""
    asked = []
    info = tmp_path / "lib" / "python3.11" / "site-packages" / "jupyter_book-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: jupyter-book\nVersion: 1.0\n"
        "Requires-Dist: sphinx~=7.0\nRequires-Dist: pytest<9; extra == 'testing'\n"
    )
    monkeypatch.setattr(rot, "environment", lambda folder, packages: asked.append(packages))
    monkeypatch.setattr(rot, "install", lambda python, packages: asked.append(packages))
    rot.free_environment(tmp_path, ["fonttools[woff]>=4", "jupyter-book<2", "sphinx-exercise<2"])
    assert asked == [
        ["--no-deps", "jupyter-book<2"],
        ["fonttools[woff]", "sphinx", "sphinx-exercise"],
    ]


def test_versions_are_read_from_a_freeze():
    freeze = (
        "# comment\nnumpy==2.0.2\njaxlib==0.7.2+cuda12\n"
        "torch @ https://host/whl/cu126/torch-2.9.0%2Bcu126-cp312-cp312-linux_x86_64.whl#sha256=8\n"
        "a-b @ https://host/a_b-1.2-py3-none-any.whl\n"
        "google-colab @ file:///colabtools/dist/google_colab-1.0.0.tar.gz\n"
    )
    assert rot.constraints(freeze).split() == [
        "numpy==2.0.2",
        "jaxlib==0.7.2",
        "torch==2.9.0",
        "a-b==1.2",
    ]


def test_everything_that_the_book_needs_is_copied(tmp_path: Path):
    book = rot.copy_book(tmp_path / "book")
    for name in ("_config.yml", "_toc.yml", "chapters/intro.md", "src/chaingrad/node.py"):
        assert (book / name).is_file()
    assert not (book / "requirements.txt").read_text()


def test_the_site_is_published_as_one_commit(tmp_path: Path):
    origin, work = tmp_path / "origin.git", tmp_path / "work"
    git(tmp_path, "init", "--bare", "-q", str(origin))
    git(tmp_path, "init", "-q", str(work))
    site, script = work / "_build" / "html", work / ".github" / "publish"
    script.parent.mkdir()
    script.write_bytes((ROOT / ".github" / "publish").read_bytes())
    script.chmod(0o755)
    (work / ".gitignore").write_text("_build/\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "A course")
    git(work, "remote", "add", "origin", str(origin))
    for round_ in ("first", "second"):
        (site / "_static").mkdir(parents=True, exist_ok=True)
        (site / "_static" / f"{round_}.css").touch()
        subprocess.run([script], check=True, capture_output=True)
        (site / "_static" / f"{round_}.css").unlink()
    published = git(origin, "ls-tree", "-r", "--name-only", "gh-pages").split()
    assert published == [".nojekyll", "_static/second.css"]
    assert git(origin, "rev-list", "--count", "gh-pages").strip() == "1"
    assert not git(work, "status", "--porcelain")
