"""Examine an engine in a process of its own: ``python -m chainlab.doctor my_engine.py:Value``.

The process may crash, hang or end: the probe it was at is a finding, and another goes on.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chainlab.doctor.conventions import Conventions
from chainlab.doctor.examination import TOTAL, Patient, outcomes
from chainlab.doctor.probe import ENDLESS
from chainlab.doctor.probes import MILESTONES, probes_up_to
from chainlab.doctor.report import Outcome, Report

_START = 60.0  # seconds of processor time in which the engine's module must be imported
_LOOK = 0.02  # seconds between looks at the process
_IDLE = 30.0  # seconds of looks; a process that computes uses a hundredth of a processor in them
_REFUSED = 3


def examine_here(
    target: str, results: Path, seconds: float, total: float, milestone: int | None
) -> int:
    """Examine in this process, after the outcomes in a file; add a line for each new outcome."""
    before = _outcomes(results)
    with results.open("a", encoding="utf-8") as file:
        try:
            patient = Patient(target, seconds)
        except BaseException as error:
            print(json.dumps({"refused": f"{type(error).__name__}: {error}"}), file=file)
            return _REFUSED
        read = patient.conventions
        head = {"name": patient.name, "conventions": asdict(read) if read else None}
        print(json.dumps(head), file=file, flush=True)
        left = total - time.process_time()
        for outcome in outcomes(patient, probes_up_to(milestone), seconds, left, before):
            print(json.dumps(asdict(outcome)), file=file, flush=True)
    return 0


def examine_apart(
    target: str, seconds: float, total: float, milestone: int | None = None
) -> Report:
    """Examine in other processes, and start a new process after each one that does not finish.

    Raises:
        ValueError: the engine cannot be loaded.
    """
    probes = probes_up_to(milestone)
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results")
        results.touch()
        found: list[Outcome] = []
        while len(found) < len(probes):
            end, spent = _process(target, results, seconds, total, milestone)
            total -= spent
            (name, read), found = _engine(results, target, end), _outcomes(results)
            rest = probes[len(found) :]
            if rest and total > 0:
                verdict = "unfinished" if end == ENDLESS else "wrong"
                found.append(Outcome(rest[0].text, verdict, "", end, rest[0].right()))
                _write(results, found)
            elif rest:
                found += [Outcome(p.text, "left out", "", ENDLESS, p.right()) for p in rest]
    return Report(name, found, milestone, read)


def _process(
    target: str, results: Path, seconds: float, total: float, milestone: int | None
) -> tuple[str, float]:
    """Run one process; return how it ended, and the time it took."""
    options = [f"--results={results}", f"--seconds={seconds}", f"--total={total}"]
    options += [f"--milestone={milestone}"] if milestone else []
    process = subprocess.Popen(
        [sys.executable, "-m", "chainlab.doctor", target, *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return _wait_for_end(process, results, seconds, total)
    finally:
        process.kill()
        process.wait()


def _wait_for_end(
    process: "subprocess.Popen[bytes]", results: Path, seconds: float, total: float
) -> tuple[str, float]:
    """Wait until the process ends, or until it computes or waits too long and writes nothing.

    A busy machine must not make an engine wrong. So we count the time in which the process
    computes. We count the time in which it waits only if it computes next to nothing, and we
    measure that in looks, because looks are late when everything else is late. The time for which
    a process only waited before we ended it counts as time that it has taken.
    """
    idle = 0.0
    size = first = results.stat().st_size
    start = used = began = moved = _cpu_seconds(process.pid)
    while process.poll() is None:
        time.sleep(_LOOK)
        grown, used = results.stat().st_size, _cpu_seconds(process.pid)
        idle += _LOOK
        if grown > size:
            size, began = grown, used
        if used - moved > _IDLE / 100:
            moved, idle = used, 0.0
        bound = min(2 * seconds + 1, start + total + 1 - began) if size > first else _START
        if (used - began > bound or idle > _IDLE) and process.poll() is None:
            return ENDLESS, used - start + idle  # nothing is known of a process that is gone
    return f"the process ended with status {process.returncode}", used - start


def _cpu_seconds(pid: int) -> float:
    """Return the seconds of processor time a process has used, or the clock's where none counts."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except (AttributeError, OSError):
        return time.monotonic()


def _lines(results: Path) -> Iterator[dict[str, Any]]:
    for line in results.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:  # cut short when the process ended
            return


def _outcomes(results: Path) -> list[Outcome]:
    return [Outcome(**line) for line in _lines(results) if "probe" in line]


def _engine(results: Path, target: str, end: str) -> tuple[str, Conventions | None]:
    """Return the engine's name and conventions, which the last process wrote first.

    Raises:
        ValueError: the process wrote why it cannot load the engine, or wrote nothing.
    """
    for line in _lines(results):
        if "refused" in line:
            raise ValueError(f"{target} cannot be examined: {line['refused']}")
        if "name" in line:
            read = line["conventions"]
            return line["name"], Conventions(**read) if read else None
    raise ValueError(f"{target} cannot be examined: {end} while it was imported")


def _write(results: Path, found: Iterable[Outcome]) -> None:
    lines = (json.dumps(asdict(outcome)) + "\n" for outcome in found)
    results.write_text("".join(lines), encoding="utf-8")


def main() -> int:
    """Examine and print; return the exit status.

    0: nothing is wrong in what was examined, and what had to be examined was. 1: there is a
    finding. 2: the engine can't be examined, or there is no such file. 3: no finding, but the time
    was up, or the engine lacks what the milestone asks for.
    """
    parser = argparse.ArgumentParser(prog="python -m chainlab.doctor", description=__doc__)
    parser.add_argument("engine", help="my_engine.py:Value, a module's name for the file, or an "
                        "Adapter's name for the class")  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="the processor time that each probe may take"
    )
    parser.add_argument(
        "--total", type=float, default=TOTAL,
        help="the processor time that all probes together may take"
    )  # fmt: skip
    parser.add_argument(
        "--milestone", type=int, choices=MILESTONES, help="of the project Your own engine, "
        "chapters/practice/own-engine.md: only what an engine that has come so far needs is tried, "
        "and what it lacks of this counts"
    )  # fmt: skip
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    target, bounds = options.engine, (options.seconds, options.total)
    if options.results:
        return examine_here(target, options.results, *bounds, options.milestone)
    try:
        report = examine_apart(target, *bounds, options.milestone)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if report.obstacle:
        print(f"{options.engine} cannot be examined: {report.why_not}", file=sys.stderr)
        return 2
    try:
        print(report, flush=True)
    except BrokenPipeError:  # as in `| head`, and the interpreter flushes once more at its end
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    return 0 if report.is_sound else 1 if report.findings else 3


if __name__ == "__main__":
    sys.exit(main())
