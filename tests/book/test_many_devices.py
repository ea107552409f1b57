"""The launcher and the scripts of the page on many devices: errors are clear, nothing is left."""

import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from support import ROOT
from tools.build import code_cells

PAGE = ROOT / "chapters" / "cost" / "many-devices.md"
SCRIPT = re.compile(r"%%writefile (\S+)\n(.*)", re.DOTALL)
MULTI_HOST = re.compile(r"^torchrun --nnodes=4.*?data_parallel\.py", re.MULTILINE | re.DOTALL)
HELPERS = ("def torchrun", "def root_cause")
SILENT = """
import time
from join import run

def main(rank, world):
    time.sleep(600)

run(main)
"""
WRONG = """
from join import run

def main(rank, world):
    if rank == 1:
        raise ValueError("the shapes do not fit")

run(main)
"""


def still_there(folder: Path) -> list[str]:
    """The processes that work in a folder, other than this one."""
    return [
        " ".join(process.info["cmdline"] or ())
        for process in psutil.process_iter(["cwd", "cmdline"])
        if process.info["cwd"] == str(folder) and process.pid != os.getpid()
    ]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The launcher as the page defines it, in a folder with the page's scripts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, Any] = {"os": os}
    for cell in code_cells(PAGE):
        if script := SCRIPT.match(cell):
            Path(script[1]).write_text(script[2])
        elif any(helper in cell for helper in HELPERS):
            exec(cell, names)
    yield names
    assert still_there(tmp_path) == []


def test_ranks_hand_in_in_their_order(page: dict[str, Any]) -> None:
    ranks = page["torchrun"](3, "data_parallel.py")
    assert [result["rows"] for result in ranks] == [28, 85, 143]
    assert sum(result["rows"] for result in ranks) == 256


def test_any_number_of_processes_gives_the_same_gradient(page: dict[str, Any]) -> None:
    alone = page["torchrun"](1, "data_parallel.py")[0]["summed"]
    three = page["torchrun"](3, "tensor_parallel.py")
    joined = [row for result in three for row in result["gradients"][0]]
    assert len(joined) == len(alone[0])
    for ours, theirs in zip(joined, alone[0], strict=True):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)


def test_results_of_an_earlier_run_are_not_taken_for_new_ones(page: dict[str, Any]) -> None:
    Path("rank7.json").write_text("{}")
    assert len(page["torchrun"](1, "data_parallel.py")) == 1


def test_a_used_port_is_named(page: dict[str, Any]) -> None:
    with socket.create_server(("", 0)) as busy:
        port = busy.getsockname()[1]
        meet = ("--master-addr=127.0.0.1", f"--master-port={port}")
        with pytest.raises(RuntimeError, match=rf"{port}.*address already in use"):
            page["torchrun"](2, "ring.py", meet=meet)


def test_a_killed_process_is_the_cause(page: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="rank 1: Signal 9"):
        page["torchrun"](2, "unlucky.py")


FAILURE = """[{index}]:
  time      : 2025-01-01_00:00:00
  host      : localhost
  rank      : {rank} (local_rank: {rank})
  exitcode  : {exitcode} (pid: 1)
  error_file: <N/A>
  traceback : {traceback}
"""
REPORT = """unlucky.py FAILED
------------------------------------------------------------
Failures:
{}------------------------------------------------------------
Root Cause (first observed failure):
{}============================================================
"""
CLOSED = "Traceback (most recent call last):\n  RuntimeError: Connection closed by peer"
CAUSES = {
    "a signal after the complaint": ((1, -9, "Signal 9 (SIGKILL) received"), (0, 1, CLOSED)),
    "a signal before the complaint": ((0, 1, CLOSED), (1, -9, "Signal 9 (SIGKILL) received")),
    "an error, the rest terminated": (
        (0, -15, "Signal 15 (SIGTERM) received"),
        (1, 1, "Traceback (most recent call last):\n  ValueError: wrong"),
    ),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_echo_of_a_failure_is_not_taken_for_its_cause(page: dict[str, Any], case: str) -> None:
    blocks = [
        FAILURE.format(index=i, rank=rank, exitcode=exitcode, traceback=traceback)
        for i, (rank, exitcode, traceback) in enumerate(CAUSES[case])
    ]
    cause = "ValueError: wrong" if "error" in case else "Signal 9 (SIGKILL) received"
    assert page["root_cause"](REPORT.format(*blocks)) == f"rank 1: {cause}"


def test_a_report_of_the_launcher_alone_is_relayed(page: dict[str, Any]) -> None:
    report = "Traceback (most recent call last):\n  OSError: address already in use\n"
    found = page["root_cause"](report)
    assert found == "before the script began: OSError: address already in use"


def test_a_process_killed_from_outside_ends_the_run(page: dict[str, Any], tmp_path: Path) -> None:
    Path("silent.py").write_text(SILENT)

    def kill_one_worker() -> None:
        while True:
            for process in psutil.process_iter(["cwd", "cmdline"]):
                words = process.info["cmdline"] or []
                is_worker = "silent.py" in words and "torch.distributed.run" not in words
                if process.info["cwd"] == str(tmp_path) and is_worker:
                    time.sleep(1)
                    return process.send_signal(signal.SIGKILL)
            time.sleep(0.1)

    killer = threading.Thread(target=kill_one_worker, daemon=True)
    killer.start()
    with pytest.raises(RuntimeError, match=r"rank \d: Signal 9"):
        page["torchrun"](2, "silent.py", timeout=60)
    killer.join()


def test_an_error_in_one_process_is_relayed(page: dict[str, Any]) -> None:
    Path("wrong.py").write_text(WRONG)
    with pytest.raises(RuntimeError, match="rank 1: ValueError: the shapes do not fit"):
        page["torchrun"](2, "wrong.py")


def test_too_many_stages_are_refused(page: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="2 layers are for 2 processes, not 1"):
        page["torchrun"](1, "pipeline.py")


def test_a_missing_backend_is_named(page: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="MPI"):
        page["torchrun"](1, "ring.py", BACKEND="mpi")


def test_silence_ends_with_the_timeout(page: dict[str, Any], tmp_path: Path) -> None:
    Path("silent.py").write_text(SILENT)
    with pytest.raises(TimeoutError, match=r"silent\.py was not done after 4 s"):
        page["torchrun"](2, "silent.py", timeout=4)


def test_two_hosts_meet_by_the_command_on_the_page(page: dict[str, Any]) -> None:
    """Two agents stand for two hosts."""
    (command,) = MULTI_HOST.findall(PAGE.read_text())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = command.replace("\\\n", " ").split()[1:]
    changed = {
        "--nnodes=4": "--nnodes=2",
        "--nproc-per-node=8": "--nproc-per-node=1",
        "--rdzv-endpoint=host0:29500": f"--rdzv-endpoint=127.0.0.1:{port}",
    }
    assert changed.keys() <= set(words)
    words = [changed.get(word, word) for word in words]
    agent = [sys.executable, "-m", "torch.distributed.run", "--local-addr=127.0.0.1", *words]
    with open("hosts.log", "w") as log:
        environment = os.environ | page["DEFAULTS"]
        hosts = [subprocess.Popen(agent, env=environment, stdout=log, stderr=log) for _ in range(2)]
        try:
            assert [host.wait(120) for host in hosts] == [0, 0], Path("hosts.log").read_text()
        finally:
            for host in hosts:
                host.terminate()
                host.wait()
    rows = [json.loads(Path(f"rank{rank}.json").read_text())["rows"] for rank in range(2)]
    assert rows == [64, 192]


@pytest.mark.parametrize("kind", ["GPipe", "1F1B"])
@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("m", [1, 2, 3, 8])
def test_a_schedule_does_everything_once_and_backward_last(
    page: dict[str, Any], kind: str, stages: int, m: int
) -> None:
    order = runpy.run_path("schedule.py")["order"]
    for stage in range(stages):
        steps = order(kind, stage, m, stages)
        assert sorted(steps) == sorted((what, i) for what in "FB" for i in range(m))
        assert all(steps.index(("F", i)) < steps.index(("B", i)) for i in range(m))
