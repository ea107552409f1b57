"""The scripts of the pages on processes, ZeRO and pipelines."""

import itertools
import json
import os
import re
import runpy
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from chainlab.processes import environment, torchrun
from tests.support import ROOT, each
from tools.build import code_cells

PAGES = {
    page: ROOT / "chapters" / "atlas" / f"{page}.md"
    for page in ("several-processes", "zero-and-meshes", "pipeline-in-two-processes")
}
SCRIPT = re.compile(r"%%writefile (\S+)\n(.*)", re.DOTALL)
MULTI_HOST = re.compile(r"^torchrun --nnodes=4.*?data_parallel\.py", re.MULTILINE | re.DOTALL)


@pytest.fixture
def scripts(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with the scripts of the page that the test is about."""
    monkeypatch.chdir(tmp_path)
    for cell in code_cells(PAGES[request.param]):
        if script := SCRIPT.match(cell):
            Path(script[1]).write_text(script[2])


devices = pytest.mark.parametrize("scripts", ["several-processes"], indirect=True)
zero = pytest.mark.parametrize("scripts", ["zero-and-meshes"], indirect=True)
pipelines = pytest.mark.parametrize("scripts", ["pipeline-in-two-processes"], indirect=True)


@pytest.mark.walk
@devices
def test_shares_are_unequal_and_whole(scripts: None) -> None:
    ranks = torchrun(3, "data_parallel.py")
    assert [result["rows"] for result in ranks] == [28, 85, 143]
    assert sum(result["rows"] for result in ranks) == 256


@devices
def test_any_number_of_processes_gives_the_same_gradient(scripts: None) -> None:
    alone = torchrun(1, "data_parallel.py")[0]["summed"]
    three = torchrun(3, "tensor_parallel.py")
    joined = [row for result in three for row in result["gradients"][0]]
    assert len(joined) == len(alone[0])
    for ours, theirs in zip(joined, alone[0], strict=True):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)


@pytest.mark.walk
@zero
@pytest.mark.parametrize("processes", [2, 5])
def test_pieces_of_the_optimizer_make_the_step_of_the_whole(scripts: None, processes: int) -> None:
    """17,408 parameters do not divide into five."""
    (alone,) = torchrun(1, "zero.py")
    for result in torchrun(processes, "zero.py"):
        assert result["weights"] == pytest.approx(alone["weights"], rel=1e-8)
        assert abs(processes * result["state"] - alone["state"]) < 16 * processes


@pytest.mark.walk
@pipelines
def test_too_many_stages_are_refused(scripts: None) -> None:
    with pytest.raises(RuntimeError, match="2 layers are for 2 processes, not 1"):
        torchrun(1, "pipeline.py")


@pytest.mark.walk
@devices
def test_two_hosts_meet_by_the_command_on_the_page(scripts: None) -> None:
    """Two agents stand for two hosts."""
    (command,) = MULTI_HOST.findall(PAGES["several-processes"].read_text())
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
        env = os.environ | environment()
        hosts = [subprocess.Popen(agent, env=env, stdout=log, stderr=log) for _ in range(2)]
        try:
            assert [host.wait(120) for host in hosts] == [0, 0], Path("hosts.log").read_text()
        finally:
            for host in hosts:
                host.terminate()
                host.wait()
    rows = [json.loads(Path(f"rank{rank}.json").read_text())["rows"] for rank in range(2)]
    assert rows == [64, 192]


@pipelines
@each(
    ("kind", "stages", "m"),
    itertools.product(["GPipe", "1F1B", "eager 1F1B"], [1, 2, 4], [1, 2, 3, 8]),
)
def test_a_schedule_does_everything_once_and_backward_last(
    scripts: None, kind: str, stages: int, m: int
) -> None:
    order = runpy.run_path("schedule.py")["order"]
    for stage in range(stages):
        steps = order(kind, stage, m, stages)
        assert sorted(steps) == sorted((what, i) for what in "FB" for i in range(m))
        assert all(steps.index(("F", i)) < steps.index(("B", i)) for i in range(m))
