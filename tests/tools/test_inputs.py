"""Which files the run of a page depends on."""

from pathlib import Path

import pytest

from coursework.sources import PACKAGES
from tests.support import ROOT, litter
from tools import inputs

ENGINE = {
    "engine/__init__.py": "from engine.core import f\n",
    "engine/core.py": "",
    "engine/nets.py": "def net():\n    from engine import sums\n",
    "engine/sums.py": "",
    "engine/play/__init__.py": "from engine.play import player\n",
    "engine/play/player.py": "",
    "engine/play/player.js": "",
    "engine/pages/__init__.py": "",
    "engine/pages/one.py": "",
    "engine/pages/one.bundle.js": "",
    "engine/pages/two.py": "",
    "engine/pages/two.css": "",
    "engine/pages/look.css": "",
    "other/__init__.py": "",
}
ALWAYS = {"engine/__init__.py", "engine/core.py"}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    for name, text in ENGINE.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "requirements.txt").touch()
    (tmp_path / "benchmarks").mkdir()
    for name in inputs.RECORDED:
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("import engine", set()),
        ("x = 1; from engine import f", set()),
        ("from engine import (\n    f,\n    nets,\n)", {"engine/nets.py", "engine/sums.py"}),
        ("import engine.nets as n", {"engine/nets.py", "engine/sums.py"}),
        ("!python -c 'from engine.sums import g'", {"engine/sums.py"}),
        (
            "from engine.play import watch",
            {"engine/play/__init__.py", "engine/play/player.py", "engine/play/player.js"},
        ),
        (
            "from engine.pages.one import draw",
            {
                "engine/pages/__init__.py",
                "engine/pages/look.css",
                "engine/pages/one.py",
                "engine/pages/one.bundle.js",
            },
        ),
    ],
)
def test_what_is_imported_and_what_that_imports(book: Path, code: str, more: set[str]) -> None:
    wanted = {book / "src" / name for name in ALWAYS | more} | {book / "requirements.txt"}
    assert set(inputs.needed(book, code)) == wanted


def test_other_packages_are_no_inputs(book: Path) -> None:
    assert inputs.needed(book, "import numpy\nprint('engines')") == [book / "requirements.txt"]


@pytest.mark.parametrize("name", inputs.RECORDED)
def test_recorded_runs_are_read_where_they_are_named(book: Path, name: str) -> None:
    assert book / name in inputs.needed(book, f"open('{Path(name).name}')")
    assert book / name not in inputs.needed(book, "import engine")


def test_a_fingerprint_tells_names_and_contents(book: Path) -> None:
    digests = set()
    for change in (
        lambda: None,
        lambda: (book / "src" / "engine" / "core.py").write_text("x"),
        lambda: (book / "src" / "engine" / "core.py").rename(book / "src" / "engine" / "care.py"),
    ):
        change()
        inputs.content.cache_clear()
        digests.add(inputs.fingerprint(book, inputs.files(book, ["src"])))
    assert len(digests) == 3


def test_what_editors_and_python_leave_behind_is_no_input(book: Path) -> None:
    code = "from engine.play import watch"
    before = list(inputs.files(book, ["src"])), inputs.needed(book, code)
    litter(book / "src" / "engine" / "core.py")
    litter(book / "src" / "engine" / "play" / "player.js")
    assert (list(inputs.files(book, ["src"])), inputs.needed(book, code)) == before


def test_the_course_has_all_its_inputs() -> None:
    assert [name for name in inputs.SITE if not (ROOT / name).exists()] == []


def test_the_grader_and_the_tools_are_no_input_of_the_site() -> None:
    """Of `coursework`, the site has what the exercises of a page are read and checked with."""
    paths = [path.relative_to(ROOT) for path in inputs.files(ROOT, inputs.SITE)]
    names = {path.as_posix() for path in paths}
    folders = {path.parts[:2] for path in paths}
    assert {("src", name) for name in PACKAGES} <= folders
    assert not folders & {("tools", "build.py"), ("tests", "support.py")}
    assert {n for n in names if n.startswith("src/coursework/")} == set(inputs.EXERCISES)
