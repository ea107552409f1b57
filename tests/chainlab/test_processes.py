"""Scripts as several processes: errors are clear, nothing is left."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from chainlab.processes import environment, root_cause, torchrun

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes")]

SUM = """
import torch
import torch.distributed as dist
from chainlab.processes import bytes_written, hand_in, run

def main(rank, world):
    array = torch.full((1000,), rank + 1.0)
    dist.barrier()
    before = bytes_written()
    dist.all_reduce(array)
    hand_in(rank=rank, sums=array[:2], sent=bytes_written() - before)

run(main)
"""
SILENT = """
import time
from chainlab.processes import run

def main(rank, world):
    time.sleep(600)

run(main)
"""
WRONG = """
from chainlab.processes import run

def main(rank, world):
    if rank == 1:
        raise ValueError("the shapes do not fit")

run(main)
"""


def at_work(folder: Path) -> list[psutil.Process]:
    """The processes that work in a folder, other than this one."""
    return [
        process
        for process in psutil.process_iter(["cwd", "ppid"])
        if process.info["cwd"] == str(folder) and process.pid != os.getpid()
    ]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a script of each kind, in which no process is left at the end."""
    monkeypatch.chdir(tmp_path)
    scripts = {"sum": SUM, "silent": SILENT, "wrong": WRONG}
    for name, script in scripts.items():
        Path(f"{name}.py").write_text(script)
    yield tmp_path
    assert at_work(tmp_path) == []


def test_ranks_hand_in_in_their_order() -> None:
    ranks = torchrun(3, "sum.py")
    assert [result["rank"] for result in ranks] == [0, 1, 2]
    assert [result["sums"] for result in ranks] == [[6.0, 6.0]] * 3


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the system does not count")
def test_the_bytes_are_those_of_the_ring() -> None:
    for result in torchrun(2, "sum.py"):
        assert 0 <= result["sent"] - 4 * 1000 < 2000


def test_results_of_an_earlier_run_are_not_taken_for_new_ones() -> None:
    Path("rank7.json").write_text("{}")
    assert len(torchrun(1, "sum.py")) == 1


def test_the_callers_environment_and_folder_stay() -> None:
    before = dict(os.environ), os.getcwd()
    torchrun(1, "sum.py", EXTRA="1")
    assert (dict(os.environ), os.getcwd()) == before
    assert environment()["CUDA_VISIBLE_DEVICES"] == ""


def test_a_used_port_is_named() -> None:
    with socket.create_server(("", 0)) as busy:
        port = busy.getsockname()[1]
        meet = ("--master-addr=127.0.0.1", f"--master-port={port}")
        with pytest.raises(RuntimeError, match=rf"{port}.*address already in use"):
            torchrun(2, "sum.py", meet=meet)


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
def test_the_echo_of_a_failure_is_not_taken_for_its_cause(case: str) -> None:
    blocks = [
        FAILURE.format(index=i, rank=rank, exitcode=exitcode, traceback=traceback)
        for i, (rank, exitcode, traceback) in enumerate(CAUSES[case])
    ]
    cause = "ValueError: wrong" if "error" in case else "Signal 9 (SIGKILL) received"
    assert root_cause(REPORT.format(*blocks)) == f"rank 1: {cause}"


def test_a_report_of_the_launcher_alone_is_relayed() -> None:
    report = "Traceback (most recent call last):\n  OSError: address already in use\n"
    found = root_cause(report)
    assert found == "before the script began: OSError: address already in use"


def test_a_process_killed_from_outside_ends_the_run(folder: Path) -> None:
    def kill_one_worker() -> None:
        while True:
            processes = at_work(folder)
            launches = {process.pid for process in processes}
            for process in processes:
                if process.info["ppid"] in launches:
                    time.sleep(1)
                    return process.kill()
            time.sleep(0.1)

    killer = threading.Thread(target=kill_one_worker, daemon=True)
    killer.start()
    with pytest.raises(RuntimeError, match=r"rank \d: Signal 9"):
        torchrun(2, "silent.py", timeout=60)
    killer.join()


def test_an_error_in_one_process_is_relayed() -> None:
    with pytest.raises(RuntimeError, match="rank 1: ValueError: the shapes do not fit"):
        torchrun(2, "wrong.py")


def test_a_missing_backend_is_named() -> None:
    with pytest.raises(RuntimeError, match="MPI"):
        torchrun(1, "sum.py", BACKEND="mpi")


@pytest.mark.walk
def test_silence_ends_with_the_timeout() -> None:
    with pytest.raises(TimeoutError, match=r"silent\.py did not finish within 4 s"):
        torchrun(2, "silent.py", timeout=4)
