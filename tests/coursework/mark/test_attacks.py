"""One batch of honest, broken and hostile submissions: every mark, and none changes another's."""

import os
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape

from coursework.collect.roster import Roster
from coursework.collect.submissions import collect
from coursework.mark.batch import Graded, grade_all
from coursework.report.results import results
from coursework.report.summary import write_reports
from coursework.sandbox.host import Limits
from tests.coursework.attacks import ASSIGNMENT, GOOD, SECRET, Case, cases, notebook, relu

pytestmark = pytest.mark.slow

LIMITS = Limits(memory=1 << 30, cpu=0.7, wall=60, total=12)
SLEEPS = ["import time; time.sleep(0.5)"] * 40
NAMES = {name: bool(case.words) for name, case in cases(Path("/"), 0).items()}


class Batch:
    """The folder of a batch, its submissions, and what grading them gave."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.cases = cases(folder, port)
        (folder / "secret.txt").write_text(SECRET)
        for student, case in self.cases.items():
            hand_in(folder / "in" / student / "a1.ipynb", case)
        graded = grade(folder)
        rows = results(graded, [], {"a1": ASSIGNMENT}, Roster())
        write_reports(folder / "out", rows, submissions=folder)
        self.graded = {item.submission.student: item for item in graded}


def hand_in(path: Path, case: Case) -> None:
    path.parent.mkdir(parents=True)
    if isinstance(case.content, bytes):
        path.write_bytes(case.content)
    elif isinstance(case.content, str):
        path.write_text(case.content, encoding="utf-8")
    else:
        case.content(path)


@pytest.fixture(scope="module")
def batch(isolated: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Batch(tmp_path_factory.mktemp("batch"), server.getsockname()[1])


@pytest.mark.parametrize("student", NAMES)
def test_the_mark(batch: Batch, student: str) -> None:
    mark = batch.graded[student].mark
    assert (mark.points, mark.max_points) == (batch.cases[student].points, 5.0), mark


@pytest.mark.parametrize("student", [name for name, has_words in NAMES.items() if has_words])
def test_the_feedback_says_why(batch: Batch, student: str) -> None:
    page = (batch.folder / "out" / "feedback" / f"{student}.html").read_text(encoding="utf-8")
    words = batch.cases[student].words
    assert words in page or escape(words) in page


def test_nothing_was_written_outside(batch: Batch) -> None:
    assert sorted(os.listdir(batch.folder)) == ["in", "out", "secret.txt"]
    assert (batch.folder / "secret.txt").read_text() == SECRET


def test_a_mark_does_not_depend_on_who_else_hands_in(batch: Batch, tmp_path: Path) -> None:
    """The quick ones again, in another order of neighbours, and one alone."""
    slow = {name for name, item in batch.graded.items() if item.mark.seconds > 0.3}
    few = [name for name in reversed(NAMES) if name not in slow and name not in ("large", "link")]
    for student in few[::3]:
        hand_in(tmp_path / "in" / f"z{student[:99]}" / "a1.ipynb", batch.cases[student])
    again = grade(tmp_path, jobs=1)
    marks = {item.submission.student: item.mark for item in again}
    for student in few[::3]:
        mark = marks[f"z{student[:99]}"]
        before = batch.graded[student].mark
        assert (mark.problems, mark.remarks) == (before.problems, before.remarks)


def test_the_attempts_are_real(batch: Batch, tmp_path: Path) -> None:
    """Where nothing is isolated they succeed: it is the sandbox that makes them fail above."""
    breaches = [n for n, c in batch.cases.items() if "'broken' in globals" in str(c.content)]
    tried = [name for name in breaches if name != "searches memory"]  # there is no secret here
    assert len(tried) >= 8
    with socket.create_server(("127.0.0.1", 0)) as server:
        now = cases(batch.folder, server.getsockname()[1])
        for student in tried:
            hand_in(tmp_path / "in" / student / "a1.ipynb", now[student])
        graded = grade(tmp_path, isolate=False)
    (batch.folder / "written.txt").unlink()
    assert {g.submission.student: g.mark.points for g in graded} == dict.fromkeys(tried, 5.0)


@pytest.mark.usefixtures("isolated")
def test_a_sleeper_does_not_hold_up_the_others(tmp_path: Path) -> None:
    """It sleeps less in each cell than a cell may, and uses no processor time."""
    hand_in(tmp_path / "in" / "sleeper" / "a1.ipynb", Case(notebook(*GOOD, *SLEEPS), 0))
    hand_in(tmp_path / "in" / "zoe" / "a1.ipynb", Case(notebook(*GOOD), 5))
    sleeper, zoe = grade(tmp_path, jobs=1, limits=replace(LIMITS, life=2))
    assert (sleeper.mark.points, zoe.mark.points) == (0, 5)
    assert "took more than 2 s by the clock" in sleeper.mark.remarks[0]


@pytest.mark.parametrize("number", [40, signal.SIGKILL, signal.SIGTERM])
def test_a_signal_of_any_number_stops_nothing(tmp_path: Path, number: int) -> None:
    """Isolated, the process cannot send itself a signal; here it can."""
    killed = relu(f"import os\nos.kill(os.getpid(), {number})")
    hand_in(tmp_path / "in" / "ann" / "a1.ipynb", Case(notebook(*killed), 2))
    hand_in(tmp_path / "in" / "zoe" / "a1.ipynb", Case(notebook(*GOOD), 5))
    assert [g.mark.points for g in grade(tmp_path, isolate=False)] == [2, 5]


def test_a_server_that_is_killed_is_replaced(tmp_path: Path) -> None:
    """Isolated, a submission cannot reach it; here it can."""
    killed = (*GOOD, "import os\nos.kill(os.getppid(), 9)")
    hand_in(tmp_path / "in" / "bob" / "a1.ipynb", Case(notebook(*killed), 0))
    for student in ("ann", "zoe"):
        hand_in(tmp_path / "in" / student / "a1.ipynb", Case(notebook(*GOOD), 5))
    ann, bob, zoe = (g.mark for g in grade(tmp_path, isolate=False, jobs=1))
    assert (ann.points, zoe.points) == (5, 5)
    assert bob.fault


def test_without_isolation_nothing_outlives_the_run(tmp_path: Path) -> None:
    """A daemon of its own session, and one whose server is killed as well."""
    if sys.platform != "linux":
        pytest.skip("processes are adopted on Linux alone")
    note = tmp_path / "pids"
    daemon = (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        f"        open({str(note)!r}, 'a').write(f'{{os.getpid()}}\\n')\n        time.sleep(600)\n"
        "    os._exit(0)\ntime.sleep(0.5)"
    )
    kill = "os.kill(os.getppid(), 9)"
    hand_in(tmp_path / "in" / "ann" / "a1.ipynb", Case(notebook(*GOOD, daemon), 5))
    hand_in(tmp_path / "in" / "bob" / "a1.ipynb", Case(notebook(*GOOD, daemon, kill), 0))
    grade(tmp_path, isolate=False, jobs=1)
    pids = note.read_text().split()
    assert len(pids) >= 2
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    hand_in(tmp_path / "elsewhere" / "x" / "a1.ipynb", Case(notebook(*GOOD), 5))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x").symlink_to(tmp_path / "elsewhere" / "x")
    assert not grade(tmp_path)


def grade(
    folder: Path, *, isolate: bool = True, jobs: int | None = None, limits: Limits = LIMITS
) -> list[Graded]:
    return grade_all(
        collect(folder / "in", ["a1"]).submissions,
        folder / "out",
        {"a1": ASSIGNMENT},
        SECRET,
        limits=limits,
        isolate=isolate,
        jobs=jobs,
        progress=False,
    )
