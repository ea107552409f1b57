"""What a long command tells: on a terminal, elsewhere, and in its log."""

import ast
import io
import re
from pathlib import Path

import pytest

from tests.support import ROOT
from tools.console import ERASE, Progress, clock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def capable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")


def tell(stream: io.StringIO, log: Path) -> str:
    with Progress(log, stream) as progress:
        progress.now("reading")
        progress.note("a detail")
        progress.say("read")
        progress.now("writing " * 10)
    return stream.getvalue()


def shown(text: str) -> list[str]:
    """The lines that are left on a terminal."""
    return [line.rpartition(ERASE)[2] for line in text.split("\n")]


def test_elsewhere_there_are_plain_lines_alone(tmp_path: Path) -> None:
    assert tell(io.StringIO(), tmp_path / "log") == "read\n"


def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert tell(Terminal(), tmp_path / "log") == "read\n"


def test_a_terminal_is_left_with_the_lines_that_stay(tmp_path: Path) -> None:
    text = tell(Terminal(), tmp_path / "log")
    assert "0:00 · reading" in text
    assert shown(text) == ["read", ""]


def test_the_changing_line_fits_the_terminal(tmp_path: Path) -> None:
    text = tell(Terminal(), tmp_path / "log")
    lines = re.split(re.escape(ERASE) + "|\n", text)
    assert max(map(len, lines)) == 29


def test_the_log_has_what_was_noted_and_said(tmp_path: Path) -> None:
    tell(Terminal(), tmp_path / "new" / "log")
    assert (tmp_path / "new" / "log").read_text() == "a detail\nread\n"


def test_minutes_and_seconds() -> None:
    assert [clock(seconds) for seconds in (0, 65.9, 600)] == ["0:00", "1:05", "10:00"]


def test_an_old_python_parses_it() -> None:
    source = (ROOT / "tools" / "console.py").read_text()
    ast.parse(source, feature_version=(3, 6))
