"""Examine an engine in a process of its own: ``python -m chaingrad.doctor my_engine.py:Value``.

The process may crash, hang or end: the probe it was at is a finding, and another goes on.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chaingrad.doctor.examination import Patient, outcomes
from chaingrad.doctor.probe import ENDLESS
from chaingrad.doctor.probes import MILESTONES, chosen
from chaingrad.doctor.report import Outcome, Report

_START = 60.0  # seconds of processor time for the engine's module to be imported
_LOOK = 0.02  # seconds between looks at the process
_IDLE = 30.0  # seconds of looks in which a process that computes uses a hundredth of a processor
_REFUSED = 3


def within(
    target: str, results: str, first: int, seconds: float, milestone: int | None = None
) -> int:
    """Examine in this process, from probe ``first`` on; write a line for each outcome."""
    with open(results, "a", encoding="utf-8") as file:
        try:
            patient = Patient(target)
        except BaseException as error:
            print(json.dumps({"refused": f"{type(error).__name__}: {error}"}), file=file)
            return _REFUSED
        print(json.dumps({"name": patient.name}), file=file, flush=True)
        for outcome in outcomes(patient, chosen(milestone)[first:], seconds):
            print(json.dumps(asdict(outcome)), file=file, flush=True)
    return 0


def apart(target: str, seconds: float, milestone: int | None = None) -> Report:
    """Examine in other processes, a new one after each that does not come to its end.

    Raises:
        ValueError: the engine cannot be loaded.
    """
    probes = chosen(milestone)
    found: list[Outcome] = []
    name = target
    while len(found) < len(probes):
        lines, end = _process(target, len(found), seconds, milestone)
        for line in lines:
            if "refused" in line:
                raise ValueError(f"{target} cannot be examined: {line['refused']}")
            if "name" in line:
                name = line["name"]
            else:
                found.append(Outcome(**line))
        if not lines:
            raise ValueError(f"{target} cannot be examined: {end} while it was imported")
        if len(found) < len(probes):
            probe = probes[len(found)]
            verdict = "unfinished" if end == ENDLESS else "wrong"
            found.append(Outcome(probe.text, verdict, "", end, probe.right()))
    return Report(name, found, milestone)


def _process(
    target: str, first: int, seconds: float, milestone: int | None = None
) -> tuple[list[dict[str, Any]], str]:
    """What one process wrote, and how it came to its end."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results")
        results.touch()
        options = [f"--results={results}", f"--first={first}", f"--seconds={seconds}"]
        options += [f"--milestone={milestone}"] if milestone else []
        process = subprocess.Popen(
            [sys.executable, "-m", "chaingrad.doctor", target, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            end = _awaited(process, results, seconds)
        finally:
            process.kill()
            process.wait()
        return list(_lines(results)), end


def _awaited(process: "subprocess.Popen[bytes]", results: Path, seconds: float) -> str:
    """Wait until the process ends, or has written nothing for too much computing or waiting.

    A busy machine must make no engine wrong: so what it computes counts, and how long it takes only
    where it computes next to nothing; and that in looks, which are late when all else is.
    """
    size, idle = 0, 0.0
    began = moved = _used(process.pid)
    while process.poll() is None:
        time.sleep(_LOOK)
        grown, used = results.stat().st_size, _used(process.pid)
        idle += _LOOK
        if grown > size:
            size, began = grown, used
        if used - moved > _IDLE / 100:
            moved, idle = used, 0.0
        over = used - began > (2 * seconds + 1 if size else _START) or idle > _IDLE
        if over and process.poll() is None:  # of one that is gone, nothing is known
            return ENDLESS
    return f"the process ended with status {process.returncode}"


def _used(pid: int) -> float:
    """Seconds of processor time that a process has used; by the clock, where none counts them."""
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


def main() -> int:
    """Examine, print the report; 0 if the engine is sound, 1 if not, 2 if it cannot be examined."""
    parser = argparse.ArgumentParser(prog="python -m chaingrad.doctor", description=__doc__)
    parser.add_argument("engine", help="my_engine.py:Value, a module's name for the file, or an "
                        "Adapter's name for the class")  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="the processor time that each probe may take"
    )
    parser.add_argument(
        "--milestone", type=int, choices=MILESTONES, help="of the project Your own engine, "
        "chapters/practice/own-engine.md: only what an engine that has come so far needs is tried, "
        "and what it lacks of this counts"
    )  # fmt: skip
    parser.add_argument("--results", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.results:
        return within(
            options.engine, options.results, options.first, options.seconds, options.milestone
        )
    try:
        report = apart(options.engine, options.seconds, options.milestone)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if report.obstacle:
        print(f"{options.engine} cannot be examined: {report.obstacle}", file=sys.stderr)
        return 2
    print(report)
    return 0 if report.is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
