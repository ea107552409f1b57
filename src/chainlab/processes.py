"""Scripts that run as several processes, started from a notebook as `torchrun` starts them.

In the notebook `torchrun` runs a script and brings back what each process handed in; in the
script `run` joins the other processes. One process that has imported PyTorch is kept, and the
processes of a launch are copies of its copies, for an import takes longer than a launch.
"""

import json
import multiprocessing
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

ALONE = ("--standalone", "--local-addr=127.0.0.1")  # on this host, at any free port
COPIES = ("--start-method=fork", "--run-path")
PRELOADED = ["torch._dynamo", "torch.nn.parallel", "torch.distributed.run"]


# --- in a script --------------------------------------------------------------------------------


def run(main: Callable[[int, int], None]) -> None:
    """Call ``main(rank, world)`` between joining the other processes and leaving them.

    The variable ``BACKEND`` names the backend. Without it, the backend is NCCL where there is a
    GPU for each process of this host, and gloo elsewhere.
    """
    import torch
    import torch.distributed as dist
    from torch.distributed.elastic.multiprocessing.errors import record

    @record  # type: ignore[untyped-decorator, unused-ignore]  # errors go into torchrun's report
    def between() -> None:
        asked = os.environ.get("BACKEND")
        gpus = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
        if gpus := gpus and asked in (None, "nccl"):  # one for each process
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
            torch.set_default_device("cuda")
        backend = asked or ("nccl" if gpus else "gloo")
        dist.init_process_group(backend, timeout=timedelta(seconds=60))
        main(dist.get_rank(), dist.get_world_size())
        dist.destroy_process_group()

    between()


def bytes_written() -> int:
    """Return how many bytes this process has written to files and sockets.

    The system counts them, for ``write`` and similar calls; 0 where the system keeps no count.
    """
    io = Path("/proc/self/io")
    return int(io.read_text().split()[3]) if io.exists() else 0


def hand_in(**results: Any) -> None:
    """Hand results to the notebook: what JSON knows, and arrays as lists."""
    text = json.dumps(results, default=lambda array: array.tolist())
    Path(f"rank{os.environ['RANK']}.json").write_text(text)


# --- in the notebook ----------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """Return the variables that a launch on this host alone adds to the environment."""
    interfaces = [name for _, name in socket.if_nameindex()]
    loopback = [name for name in interfaces if re.fullmatch(r"lo\d*", name)]
    gloo = {"GLOO_SOCKET_IFNAME": loopback[0]} if loopback else {}
    # The processes meet at the first process. If they met in their launcher, the launcher would
    # copy itself for the next process while it answers the others. The copy might then wait
    # forever for a lock that was held at that moment.
    apart = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    return {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **gloo, **apart}


def torchrun(
    processes: int,
    script: str,
    *options: str,
    meet: Sequence[str] = ALONE,
    start: Sequence[str] = COPIES,
    timeout: float = 120,
    **env: str,
) -> list[dict[str, Any]]:
    """Run a script of this folder as several processes on the CPU.

    Args:
        processes: how many.
        script: its file, to which ``options`` are passed.
        meet: torchrun's options that say where the processes meet.
        start: torchrun's options that say how they start; ``()`` starts each anew, which takes
            longer.
        timeout: seconds after which all of them are ended.
        env: variables of their environment.

    Returns:
        What each rank gave to `hand_in`, in the order of the ranks.

    Raises:
        RuntimeError: a process failed; the message says which one and why.
        TimeoutError: they were not done in time.
    """
    for old in Path().glob("rank*.json"):
        old.unlink()
    command = [*meet, *start, "--log-dir=logs", f"--nproc-per-node={processes}"]
    command += [os.path.abspath(script), *options]
    log = Path("torchrun.log").absolute()
    log.write_text("")
    launch = _fork_context().Process(target=_launch, args=(command, log, environment() | env))
    launch.start()
    try:
        launch.join(timeout)
        if launch.is_alive():
            raise TimeoutError(f"{script} did not finish within {timeout} s")
    finally:
        launch.terminate()  # torchrun then ends its processes
        launch.join()
    if launch.exitcode:
        raise RuntimeError(f"{script} failed: {root_cause(log.read_text())}")
    files = [Path(f"rank{rank}.json") for rank in range(processes)]
    return [json.loads(file.read_text()) for file in files]


def root_cause(report: str) -> str:
    """Return which process failed first and why, from torchrun's report.

    torchrun decides by the clock, in whole seconds. When one process is killed and another
    complains at once that its connection was closed, it may take the complaint for the cause. So
    look first for a process that a signal has ended, other than SIGTERM, by which torchrun itself
    ends the rest.
    """
    failures = re.split(r"^\[\d+\]:$", report, flags=re.MULTILINE)
    signal = re.compile(r"traceback : Signal (?!15\b)")
    killed = [text for text in failures if signal.search(text)]
    first = (killed or failures)[-1].partition("\nRoot Cause")[0]
    rank = re.search(r"rank +: (\d+)", first)
    who = f"rank {rank[1]}" if rank else "before the script began"
    lines = [line.strip() for line in first.splitlines() if line.strip(" =-")]
    last = lines[-1] if lines else "the launcher was killed, without a report"
    return f"{who}: {last.removeprefix('traceback : ')}"


def _fork_context() -> Any:
    """Return a context that copies a process with PyTorch imported; it ends with this process."""
    forkserver.set_forkserver_preload(PRELOADED)
    with _launch_environment():
        forkserver.ensure_running()
    return multiprocessing.get_context("forkserver")


@contextmanager
def _launch_environment() -> Iterator[None]:
    """Work in the root folder, to keep no folder in use, and in the environment of a launch."""
    folder, variables = os.getcwd(), dict(os.environ)
    os.chdir("/")
    os.environ.update(environment())
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(variables)
        os.chdir(folder)


def _launch(command: list[str], log: Path, env: dict[str, str]) -> None:
    """Run torchrun as a shell would, and send its output to a log."""
    from torch.distributed.run import main

    os.chdir(log.parent)
    sys.path.insert(0, str(log.parent))  # where scripts find each other
    os.environ.update(env)
    file = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    main(command)
