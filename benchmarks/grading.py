"""Grade classes of growing size: ``python -m benchmarks.grading``, in the folder of the book.

A class is made of an assignment's own notebook and answers, some of them spoiled. Shown are the
time by the clock and the processor time, of the grader and its sandboxes, for each submission.
"""

import argparse
import json
import os
import platform
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from coursework.collect.roster import Roster
from coursework.collect.submissions import collect
from coursework.exercise.assignments import Assignment, load
from coursework.mark.batch import grade_all
from coursework.release import student_notebook
from coursework.report.results import results
from coursework.report.summary import write_reports

SPOILERS = (
    lambda answer: answer.replace("return ", "return -", 1),
    lambda answer: answer.replace("return ", "return nothing + ", 1),
    lambda answer: answer.replace("return ", "return return ", 1),
)


def write_class(folder: Path, assignment: Assignment, book: Path, size: int) -> None:
    """Write submissions in nbgrader's layout; about half have one spoiled or missing answer."""
    chance = random.Random(1)
    answers = {problem.id: problem.answer for problem in assignment.problems}
    for i in range(size):
        notebook = student_notebook(assignment, book)
        spoiled = chance.choice([*answers, *[None] * len(answers)])
        for cell in notebook["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id")
            if name == spoiled:
                if (kind := chance.randrange(len(SPOILERS) + 1)) < len(SPOILERS):
                    cell["source"] = SPOILERS[kind](answers[name])
            elif name in answers:
                cell["source"] = answers[name]
        path = folder / f"student{i:04}" / assignment.name / f"{assignment.name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook), encoding="utf-8")


def processor_seconds() -> float:
    """Return the processor seconds of this process and of the children it has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))


def measure(assignment: Assignment, book: Path, size: int, jobs: int) -> Iterator[float]:
    """Yield the seconds by the clock, then the processor seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_class(folder / "in", assignment, book, size)
        clock, processor = time.perf_counter(), processor_seconds()
        assignments = {assignment.name: assignment}
        found = collect(folder / "in", list(assignments))
        graded = grade_all(
            found.submissions, folder / "out", assignments, "benchmark", jobs=jobs, progress=False
        )
        rows = results(graded, found.strays, assignments, Roster())
        write_reports(folder / "out", rows, found.strays, submissions=folder / "in")
        yield from (time.perf_counter() - clock, processor_seconds() - processor)


def main() -> None:
    """Measure every size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--book", type=Path, default=Path())
    parser.add_argument("--assignment", default="layers")
    parser.add_argument("--sizes", type=int, nargs="+", default=[25, 50, 100, 200])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    assignments = load(options.book / "assignments.toml", options.book / "chapters")
    assignment = assignments[options.assignment]
    cores = os.cpu_count()
    print(f"{assignment.title}, {options.jobs} at a time on {cores} cores, {platform.machine()}")
    print(f"{'submissions':>12}{'clock':>10}{'each':>12}{'processor':>12}{'each':>12}")
    for size in options.sizes:
        clock, processor = measure(assignment, options.book, size, options.jobs)
        each, cost = (f"{1000 * total / size:.1f} ms" for total in (clock, processor))
        print(f"{size:>12}{clock:>8.2f} s{each:>12}{processor:>10.2f} s{cost:>12}")


if __name__ == "__main__":
    main()
