"""The doctor's reports on the engines of its tests, at every milestone that they reach."""

import contextlib
import io
import sys
from collections import Counter
from collections.abc import Iterator

from micrograd.engine import Value as Micrograd

from chaingrad import Node
from chainlab.doctor import examine
from chainlab.doctor.number_probes import SLOW
from tests.chainlab.doctor import patients, sound
from tests.chainlab.doctor.test_doctor import museum
from tests.golden.record import Entry

MILESTONES = range(1, 7)
EVER = 1e6  # seconds: what is left out must not depend on the machine


def engines() -> Iterator[tuple[str, type]]:
    yield "chaingrad", Node
    yield "micrograd", Micrograd
    for name, engine in museum().items():
        if hasattr(engine, "backward"):
            yield f"museum: {name}", engine
    for engine in patients.STUDENTS:
        yield f"student: {engine.__name__}", engine
    for name, source in {
        "closures": patients.CLOSURES,
        "arrays": patients.ARRAYS,
        **sound.DESIGNS,
    }.items():
        yield f"sound: {name}", patients.changed(source)["Value"]
    for of, source, faults in (
        ("closures", patients.CLOSURES, patients.FAULTS),
        ("arrays", patients.ARRAYS, patients.ARRAY_FAULTS),
    ):
        for old, new, _ in faults:
            yield (
                f"{of}: {old.strip()} → {new.strip()}",
                patients.changed(source, old, new)["Value"],
            )


def entries() -> Iterator[Entry]:
    limit = sys.getrecursionlimit()
    yield from _reports()
    sys.setrecursionlimit(limit)  # which engines of the museum set for themselves


def _reports() -> Iterator[Entry]:
    for name, engine in engines():
        for milestone in (None, *MILESTONES):
            if milestone and not name.startswith(("student", "sound", "micrograd")):
                continue
            with contextlib.redirect_stdout(io.StringIO()):
                report = examine(engine, milestone=milestone, total=EVER)
            slow = {finding.bug for finding in report.findings} & {SLOW}
            about = f"{name}, milestone {milestone}" if milestone else name
            yield (
                about,
                {
                    "report": str(report).splitlines() if not slow else "it is slow: times decide",
                    "bugs": [finding.bug for finding in report.findings if finding.bug != SLOW],
                    "counts": dict(Counter(x.verdict for x in report.outcomes)),
                    "outcomes": [
                        [x.probe, x.verdict, x.what]
                        for x in report.outcomes
                        if x.verdict not in ("sound", "missing")
                    ],
                },
            )
