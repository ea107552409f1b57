"""What a submission can and cannot do, tried from inside."""

import contextlib
import itertools
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coursework.sandbox import host, jail
from coursework.sandbox.host import (
    IsolationError,
    Limits,
    Raised,
    Sandbox,
    Session,
    SessionLostError,
)
from tests.coursework import channels
from tests.support import ROOT

pytestmark = pytest.mark.slow

LIMITS = Limits(memory=1 << 30, cpu=1, wall=60, total=4)


@pytest.fixture(scope="module")
def box(isolated: None) -> Iterator[Sandbox]:
    with Sandbox(LIMITS) as opened:
        yield opened


@pytest.fixture
def session(box: Sandbox) -> Iterator[Session]:
    with box.session() as opened:
        yield opened


def run(session: Session, source: str) -> Any:
    return session.request("run", cell=1, source=source)


def value(session: Session, expression: str) -> Any:
    driver = f"def driver(student, inputs):\n    return {expression}\n"
    return session.request("call", driver=driver, entry="driver", inputs=None)


def raised(session: Session, source: str) -> str:
    answer = run(session, source)
    assert isinstance(answer, Raised), "it was let through"
    return answer.type


def test_functions_are_called_with_plain_data(session: Session) -> None:
    assert run(session, "import numpy as np\ndef double(x):\n    return 2 * x") is None
    driver = "def driver(student, inputs):\n    return {'y': student.double(inputs['x'])}\n"
    inputs = {"x": np.arange(3.0)}
    answer = session.request("call", driver=driver, entry="driver", inputs=inputs)
    np.testing.assert_array_equal(answer["y"], [0.0, 2.0, 4.0])
    assert session.request("defined", names=["double", "triple"]) == [("double", "<cell 1>", 2)]


def test_an_error_names_its_type_message_and_line(session: Session) -> None:
    answer = run(session, "x = 1\ny = x / 0")
    assert answer == Raised("ZeroDivisionError", "division by zero", ("<cell 1>", 2))
    answer = run(session, "x = 1\ny = (")
    assert answer == Raised("SyntaxError", "'(' was never closed", ("<cell 1>", 2))


def test_notebook_lines_do_nothing(session: Session) -> None:
    cell = "%matplotlib inline\nx = 1\n!rm -rf /\nfiles = !ls\nx?\nif x:\n    %cd x\ny = 3\n"
    cell += "!pip install a \\\n    b\n%pip install \\\n    c\n%time?\n"
    assert run(session, cell) is None
    assert run(session, "%%bash\nrm -rf /") is None
    assert run(session, "%%time\nz = 4") is None
    assert run(session, "display(x); get_ipython()") is None
    assert value(session, "[student.x, student.y, student.z]") == [1, 3, 4]


def test_a_cell_may_do_what_a_notebook_may(session: Session) -> None:
    assert run(session, "?len\n??len\nimport asyncio\nasync def two(): return 2") is None
    assert run(session, "await asyncio.sleep(0)\nx = await two()\nasync def f(): pass") is None
    assert run(session, "get_ipython().run_line_magic('matplotlib', 'inline')") is None
    assert value(session, "student.x") == 2


def test_magics_that_run_python_run_it(session: Session) -> None:
    cell = "%time x = 6\n%prun -q -s cumtime y = 7\nz = %time x * y\n%timeit -n 10 x = 9\n"
    cell += "def f(x):\n    %time g(x)\n    r = %time x + 1\n    return r\ndef g(x): return x\n"
    cell += "f = f(3)\nget_ipython().run_line_magic('time', 'w = 4')"
    assert run(session, cell) is None
    assert value(session, "[getattr(student, name) for name in 'xyzfw']") == [6, 7, 42, 4, 4]
    answer = run(session, "\n%time 1 / 0")
    assert answer == Raised("ZeroDivisionError", "division by zero", ("<cell 1>", 2))


def test_a_statement_that_fails_stops_no_other(session: Session) -> None:
    cell = "import nowhere\nfrom google.colab import drive\ndrive.mount('/drive')\nx = input()\n"
    cell += "def f():\n    return 1\nexit()\nreturn 2\nclass Odd(Exception):\n"
    cell += "    def __bool__(self): return 1 / 0\nraise Odd\ny = f()"
    answer = run(session, cell)
    assert answer == Raised("ModuleNotFoundError", "No module named 'nowhere'", ("<cell 1>", 1))
    assert value(session, "student.y") == 1


def test_imports_from_the_future_hold_in_later_cells(session: Session) -> None:
    assert run(session, "from __future__ import annotations\ndef f() -> Nothing: pass") is None
    assert run(session, "def g() -> Nothing: pass") is None
    assert value(session, "student.g.__annotations__") == {"return": "Nothing"}


def test_a_module_that_a_cell_wrote_can_be_imported(session: Session) -> None:
    run(session, "%%writefile mine.py\ndef f(): return 2\nif __name__ == '__main__': f = None")
    assert run(session, "from mine import f\nx = f()") is None
    run(session, "%%writefile -a mine.py\ndef g(): return 3")
    assert run(session, "import importlib, mine\ny = importlib.reload(mine).g()") is None
    assert value(session, "[student.x, student.y]") == [2, 3]
    assert session.request("defined", names=["f"]) == [("f", "<cell 1>", 2)]
    run(session, "%%writefile mine.py\nx = 5 / 0")
    assert run(session, "importlib.reload(mine)").where == ("<cell 1>", 2)
    assert "data.csv is none" in run(session, "%%writefile data.csv\n1").message


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("import functools\n@functools.cache\ndef f(): pass", ("<cell 1>", 2)),
        ("import functools\ndef g(x): pass\nf = functools.partial(g, 1)", ("<cell 1>", 2)),
        ("class C:\n    def __call__(self): pass\nf = C()", ("<cell 1>", 2)),
        ("f = len", ("", 0)),
        ("class C:\n    __wrapped__ = property(lambda s: C())\nf = C()", ("", 0)),
    ],
)
def test_a_place_is_that_of_the_code(session: Session, source: str, place: tuple[str, int]) -> None:
    assert run(session, source) is None
    assert session.request("defined", names=["f"]) == [("f", *place)]


def test_a_percent_sign_in_an_expression_stays(session: Session) -> None:
    assert run(session, "x = (7\n% 4)\ns = '''\n!keep\n'''") is None
    assert value(session, "[student.x, student.s]") == [3, "\n!keep\n"]


def test_it_sees_libraries_and_nothing_else(session: Session, box: Sandbox) -> None:
    cell = """
import os
seen = []
for folder, folders, files in os.walk("/"):
    if folder in PATHS:
        folders.clear()
    else:
        seen += [os.path.join(folder, name) for name in files]
"""
    run(session, f"PATHS = {[str(path) for path in box.visible]!r}")
    run(session, cell)
    files = [str(path) for path in box.visible if not path.is_dir()]
    assert sorted(value(session, "student.seen")) == sorted(files)
    assert not any(
        Path(ROOT / name).is_relative_to(p) for p in box.visible for name in ("chapters",)
    )
    assert not any(Path.home().is_relative_to(path) for path in box.visible)


@pytest.mark.parametrize("path", ["/proc/1/environ", "/sys", "/etc/passwd", str(ROOT / "chapters")])
def test_it_does_not_see(session: Session, path: str) -> None:
    assert raised(session, f"import os; os.stat({path!r})") == "FileNotFoundError"


def test_it_inherits_no_environment_and_no_open_file(session: Session, monkeypatch: Any) -> None:
    assert not os.environ.keys() <= host.ENVIRONMENT.keys()
    run(session, "import os; env = dict(os.environ); files = []")
    run(
        session,
        "for n in range(3, 64):\n    try: os.fstat(n); files.append(n)\n    except OSError: 0",
    )
    assert value(session, "student.env") == host.ENVIRONMENT
    assert value(session, "student.files") == [3]


def test_it_is_alone_and_nobody(session: Session) -> None:
    run(session, "import os; who = [os.getpid(), os.getppid(), os.getuid(), os.getgid()]")
    assert value(session, "student.who") == [1, 0, jail.NOBODY, jail.NOBODY]


@pytest.mark.skipif(os.geteuid() != 0, reason="the kernel shows them to root alone")
def test_it_has_namespaces_of_its_own(session: Session) -> None:
    own, its = (Path(f"/proc/{pid}/ns") for pid in ("self", ~(session._clock >> 3)))
    for kind in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts"):
        assert os.readlink(own / kind) != os.readlink(its / kind), kind


def test_it_has_no_capability_and_can_get_none(session: Session) -> None:
    pid = ~(session._clock >> 3)
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines if "\t" in line)
    sets = [int(status[f"Cap{name}"], 16) for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")]
    assert sets == [0] * 5
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


@pytest.mark.parametrize(
    "path", ["/x", "/etc/x", str(ROOT / "x"), str(Path(np.__file__).with_name("x")), np.__file__]
)
def test_it_cannot_write(session: Session, path: str) -> None:
    answer = run(session, f"open({path!r}, 'w').write('x')")
    assert isinstance(answer, Raised) or path.startswith(jail.SCRATCH)  # a scratch of its own
    assert not Path(path).exists() or Path(path).read_text() != "x"


def test_its_scratch_space_is_small_and_new(box: Sandbox) -> None:
    for _ in range(2):
        with box.session() as session:
            assert raised(session, "import os; assert os.listdir('/tmp') == []; 1 / 0") in (
                "ZeroDivisionError",
                "AssertionError",
            )
            cell = "for i in range(40):\n    open(f'/tmp/{i}', 'wb').write(bytes(2**20))"
            assert raised(session, cell) == "OSError"
            assert raised(session, "open('/tmp/big', 'wb').truncate(2**30)") == "OSError"


ESCAPES = {
    "fork": "import os; os.fork()",
    "program": "import subprocess; subprocess.run(['/bin/true'])",
    "internet": "import socket; socket.socket().connect(('127.0.0.1', 80))",
    "peer's name": "import socket as s; c = s.socket(1, 1, 0, 3); c.getpeername()",
    "device's time": "import os; os.utime('/dev/null', (1, 1))",
    "unix": "import socket; socket.socket(socket.AF_UNIX)",
    "url": "import urllib.request; urllib.request.urlopen('http://example.org')",
    "more memory": "import resource as r; r.setrlimit(r.RLIMIT_AS, (-1, -1))",
    "more processor": "import resource as r; r.setrlimit(r.RLIMIT_CPU, (-1, -1))",
    "memfd": "import os; os.memfd_create('x')",
    "descriptor": "import os, socket as s; s.send_fds(s.socket(fileno=os.dup(3)), [b'x'], [0])",
}


@pytest.mark.parametrize("source", ESCAPES.values(), ids=ESCAPES)
def test_it_is_refused(session: Session, source: str) -> None:
    assert raised(session, source) in ("PermissionError", "URLError", "ValueError", "OSError")


@pytest.mark.parametrize("target", ["-1, 9", "0, 9", "1, 9", "TESTS, 9", "os.getppid(), 9"])
def test_it_can_signal_nobody_else(box: Sandbox, target: str) -> None:
    with box.session() as session, contextlib.suppress(SessionLostError):
        run(session, f"import os; os.kill({target.replace('TESTS', str(os.getpid()))})")
    with box.session() as session:
        assert value(session, "1") == 1


def test_it_may_have_threads_but_not_many(session: Session) -> None:
    run(session, "import threading, time\nout = []")
    assert (
        run(session, "t = threading.Thread(target=out.append, args=[1]); t.start(); t.join()")
        is None
    )
    assert value(session, "student.out") == [1]
    bomb = "while True: threading.Thread(target=time.sleep, args=[99], daemon=True).start()"
    assert raised(session, bomb) == "RuntimeError"


def test_memory_is_limited(session: Session) -> None:
    assert (
        raised(session, "import numpy as np\nx = [np.empty(2**25) for _ in range(99)]")
        == "MemoryError"
    )
    assert value(session, "1") == 1


def test_a_loop_is_ended(box: Sandbox) -> None:
    with box.session() as session, pytest.raises(SessionLostError, match="did not finish"):
        run(session, "while True:\n    try:\n        while True: pass\n    except BaseException: 0")


@pytest.mark.walk
@pytest.mark.usefixtures("isolated")
def test_a_sleeper_is_ended() -> None:
    with (
        Sandbox(Limits(cpu=1, wall=3)) as box,
        box.session() as session,
        pytest.raises(SessionLostError, match="did not finish"),
    ):
        run(session, "import time; time.sleep(99)")


@pytest.mark.walk
@pytest.mark.usefixtures("isolated")
def test_an_answer_in_drops_is_ended() -> None:
    drops = """
import os, sys, time
os.write(3, sys.modules['coursework.sandbox.wire'].PREFIX.pack(2**13, 0))
for _ in range(2000):
    os.write(3, b' ')
    time.sleep(0.01)"""
    with Sandbox(Limits(cpu=9, wall=3)) as box, box.session() as session:
        began = time.monotonic()
        with pytest.raises(SessionLostError, match="did not finish"):
            run(session, drops)
    assert time.monotonic() - began < 15  # the drops alone last 20 s


def test_many_short_sleeps_are_ended(box: Sandbox) -> None:
    with (
        box.session(1) as session,
        pytest.raises(SessionLostError, match="the submission took more than"),
    ):
        _ = [run(session, "import time; time.sleep(0.2)") for _ in range(99)]


def test_a_busy_machine_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long by the clock the computing takes, it is computing."""
    monkeypatch.setattr(host, "CROWD", 1000)
    with Sandbox(Limits(cpu=9, wall=0.5), isolate=False) as box, box.session(1) as session:
        run(session, "import time\nwhile time.process_time() < 1: pass")


def test_a_halted_machine_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock goes on where the grader does not, as between Ctrl-Z and `fg`."""
    with Sandbox(Limits(wall=600), isolate=False) as box, box.session() as session:
        monkeypatch.setattr(time, "monotonic", itertools.count(0, 1000).__next__)
        run(session, "pass")
        monkeypatch.undo()


def test_starting_does_not_count_against_its_life(box: Sandbox) -> None:
    with box.session(0.0) as session, pytest.raises(SessionLostError, match="took more than"):
        run(session, "import time; time.sleep(1)")
    assert 0.0 <= box.ending.clock < 5.0


def test_a_closed_channel_is_told_from_an_end(box: Sandbox) -> None:
    with box.session() as session, pytest.raises(SessionLostError, match="is gone"):
        run(session, "import os, time; os.close(3); time.sleep(9)")
    assert box.ending.forced
    with box.session() as session, pytest.raises(SessionLostError, match="is gone"):
        run(session, "import os; os._exit(3)")
    assert (box.ending.forced, box.ending.status) == (False, 3)


@pytest.mark.usefixtures("isolated")
def test_its_whole_life_is_limited() -> None:
    work = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: 0"
    with Sandbox(replace(LIMITS, total=1)) as box, box.session() as session:
        done = list(itertools.takewhile(bool, (_survives(session, work) for _ in range(40))))
    assert len(done) < 20
    assert box.ending.status == -signal.SIGKILL


def _survives(session: Session, source: str) -> bool:
    try:
        run(session, source)
    except SessionLostError:
        return False
    return True


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("import os; os._exit(7)", 7),
        ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
        ("x = iter([1])\nfor _ in range(150_000): x = map(int, x)\nnext(x)", -signal.SIGSEGV),
    ],
    ids=["exit", "segfault", "stack"],
)
def test_its_end_is_noticed(box: Sandbox, source: str, status: int) -> None:
    with box.session() as session, pytest.raises(SessionLostError, match="is gone"):
        run(session, source)
    assert box.ending.status == status


@pytest.mark.parametrize("source", ["raise SystemExit", "raise KeyboardInterrupt", "exit()"])
def test_leaving_is_an_error_like_any_other(session: Session, source: str) -> None:
    raised(session, source)
    assert value(session, "1") == 1


def test_recursion_is_an_error(session: Session) -> None:
    assert raised(session, "f = lambda: f()\nf()") == "RecursionError"


def test_printing_a_gigabyte_goes_nowhere(session: Session) -> None:
    assert run(session, "import os\nfor _ in range(1024): os.write(1, bytes(2**20))") is None
    assert run(session, "for _ in range(16): print('x' * 2**20)") is None


FORGERIES = {
    "noise": "b'noise' * 100",
    "flood": "(2**32 - 1).to_bytes(4, 'big') + (2**63).to_bytes(8, 'big') + bytes(2**16)",
    "no number": "wire.encode({'value': 1})",
    "not a dict": "wire.encode([1])",
    "another's number": "wire.encode({'value': 1, 'nonce': '0' * 16})",
    "not plain": "wire.PREFIX.pack(5, 0) + b'[[1]]'",
    "number of arrays": "wire.encode({'nonce': __import__('numpy').zeros(2)})",
}


@pytest.mark.parametrize("forged", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_answer_is_refused(session: Session, forged: str) -> None:
    run(session, "import os, sys; wire = sys.modules['coursework.sandbox.wire']")
    assert not (_survives(session, f"os.write(3, {forged})") and _survives(session, "pass"))


def test_an_error_that_lies_is_only_words(session: Session) -> None:
    cell = "class E(Exception):\n    def __str__(self): raise self\nraise E"
    assert run(session, cell) == Raised("E", "", ("<cell 1>", 3))
    assert run(session, "raise ValueError('x' * 10**6)").message == "x" * 500


@pytest.mark.parametrize("expression", ["(i for i in range(3))", "object()", "'x' * 10**8"])
def test_a_result_that_cannot_cross_is_an_error(session: Session, expression: str) -> None:
    answer = value(session, expression)
    assert answer.type in ("WireError", "NotPlainError")
    assert value(session, "1") == 1


def test_a_session_knows_nothing_of_the_last_one(box: Sandbox) -> None:
    with box.session() as session:
        run(session, "import numpy as np, builtins, chaingrad; np.mine = builtins.mine = 1")
        run(session, "import atexit, sys; atexit.register(print); sys.settrace(lambda *a: None)")
    with box.session() as session:
        assert raised(session, "mine") == "NameError"
        assert raised(session, "import numpy as np; np.mine") == "AttributeError"


def test_random_numbers_repeat(box: Sandbox) -> None:
    cell = "import random, numpy as np\nx = [random.random(), np.random.rand(), hash('a')]"
    draws = []
    for _ in range(2):
        with box.session() as session:
            run(session, cell)
            draws.append(value(session, "student.x"))
    assert draws[0] == draws[1]


@pytest.mark.usefixtures("isolated")
def test_nothing_outlives_the_grader() -> None:
    program = """
import sys
from coursework.sandbox.host import *
box = Sandbox(Limits())
with box.session() as session:
    pid = ~(session._clock >> 3)
    print(pid, flush=True)
    session.request("run", cell=1, source="import time; time.sleep(99)")
"""
    grader = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert grader.stdout is not None
    with grader.stdout as lines:
        pid = int(lines.readline())
    assert Path(f"/proc/{pid}").exists()
    grader.kill()
    grader.wait()
    for _ in range(400):
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.05)
    pytest.fail("the submission's process is still there 20 s after its grader was killed")


def test_an_ordinary_user_can_isolate_too() -> None:
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user: the other tests say it")
    code = "from coursework.sandbox.host import why_not_isolated as w; print(w())"
    command = [sys.executable, "-B", "-c", code]
    try:
        done = subprocess.run(
            command,
            user=12345,
            group=12345,
            extra_groups=[],
            capture_output=True,
            text=True,
            cwd="/",
            env={"PYTHONPATH": str(host.SOURCE)},
        )
    except PermissionError:
        pytest.skip(f"an ordinary user cannot run {sys.executable}")
    if "No module named" in done.stderr:
        pytest.skip(f"an ordinary user cannot read {host.SOURCE}, or what it needs")
    assert done.stdout == "None\n", done.stderr


def test_an_environment_behind_a_link_is_seen_whole(box: Sandbox, tmp_path: Path) -> None:
    link = tmp_path / "environment"
    link.symlink_to(sys.prefix)
    code = """
import sys
from coursework.sandbox.host import *
with Sandbox(Limits()) as box, box.session() as session:
    print(sys.prefix, session.request("run", cell=1, source="import wave, numpy.ma, pytest"))
"""
    python = link / Path(sys.executable).relative_to(sys.prefix)
    path = os.pathsep.join(map(str, sys.path))
    done = subprocess.run(
        [python, "-c", code], env={"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.stdout == f"{link} None\n", done.stderr


def test_without_isolation_the_same_answers_come() -> None:
    with Sandbox(LIMITS, isolate=False) as box, box.session() as session:
        run(session, "def double(x):\n    return 2 * x")
        assert value(session, "student.double(2)") == 4
        assert raised(session, "1 / 0") == "ZeroDivisionError"


@pytest.mark.parametrize(("platform", "machine"), [("darwin", "arm64"), ("linux", "riscv64")])
def test_a_platform_that_cannot_isolate_says_so(
    monkeypatch: pytest.MonkeyPatch, platform: str, machine: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("platform.machine", lambda: machine)
    with pytest.raises(IsolationError, match="isolation"):
        Sandbox(LIMITS)


def test_a_refusal_of_the_kernel_is_passed_on() -> None:
    """A machine with user namespaces switched off, played by switching them off in a new one."""
    if shutil.which("unshare") is None or host.why_not_isolated():
        pytest.skip("playing it needs the command unshare, and user namespaces")
    code = "from coursework.sandbox import host; print(host.why_not_isolated())"
    inside = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" -c "$1"'
    shell = ["sh", "-c", inside, sys.executable, code]
    command = ["unshare", "-rpf", "--mount-proc", *shell]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "user.max_user_namespaces" in done.stdout, done.stderr


def _pair(names: Iterable[str], *, isolate: bool) -> dict[str, set[str]]:
    """What the second of two submissions hears by each channel while the first tells it bits."""
    source = Path(channels.__file__).read_text(encoding="utf-8")
    with ExitStack() as stack:
        boxes = [stack.enter_context(Sandbox(Limits(), isolate=isolate)) for _ in range(2)]
        for box in boxes:  # both together could wait with more than their user may
            most = min(300, *resource.prlimit(box._server.pid, resource.RLIMIT_SIGPENDING))
            resource.prlimit(box._server.pid, resource.RLIMIT_SIGPENDING, (most, most))
        first, second = (stack.enter_context(box.session()) for box in boxes)
        assert [run(each, source) for each in (first, second)] == [None, None]
        heard: dict[str, set[str]] = {}
        for name in names:
            value(second, f"student.hear({name!r})")  # it may have to begin to listen
            heard[name] = set()
            for bit in (0, 1):
                value(first, f"student.tell({name!r}, {bit})")
                heard[name].add(value(second, f"student.hear({name!r})"))
    return heard


@pytest.mark.usefixtures("isolated")
def test_two_submissions_side_by_side_cannot_talk() -> None:
    heard = _pair(channels.PROBES, isolate=True)
    assert {name: words for name, words in heard.items() if len(words) > 1} == {}


@pytest.mark.skipif(sys.platform != "linux", reason="the channels are those of Linux")
def test_two_processes_that_are_not_shut_in_can_talk() -> None:
    """Those attempts that leave nothing behind carry a bit where no wall is."""
    names = {"record_lock", "file_lock", "waiters", "abstract_socket"}
    heard = _pair(names, isolate=False)
    assert {name for name, words in heard.items() if len(words) > 1} == names
