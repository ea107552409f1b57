"""The command that grades: its arguments, what it says, and what it leaves behind.

OUTPUT holds `grades.csv` (a row for each student and assignment, a column for each exercise),
`grades-nbgrader.csv` (the columns of `nbgrader export`), `summary.html` for the teacher,
`feedback/STUDENT.html` for each student, and `marks/`, from which a later run takes what it need
not grade again.
"""

import argparse
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

from coursework.batch import grade_folder
from coursework.jail import IsolationError
from coursework.problems import Assignment
from coursework.report import write_reports
from coursework.sandbox import Limits
from coursework.submissions import left_out

MIB = 2**20
REFUSAL = """\
Submissions cannot be isolated here: {reason}.
A submission that is not isolated may read, change and send whatever you may yourself.
Grade on Linux with user namespaces; WSL and virtual machines have them. Most containers and some
distributions keep them from programs: on Ubuntu, an administrator gives them back with
    sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
Where you trust every submission, or the machine holds nothing of worth, --no-isolation goes on
without."""
LAYOUT = """\
SUBMISSIONS holds STUDENT/ASSIGNMENT.ipynb, STUDENT/ASSIGNMENT/ANY.ipynb (as nbgrader collects),
ASSIGNMENT/STUDENT.ipynb or STUDENT_ASSIGNMENT.ipynb; a notebook of another name is known by what is
written in it. Of several by one student the newest counts. What is not graded is named, with the
reason. A run that was stopped goes on where it was; what has changed since is graded anew, nothing
else is.

A class too large for one machine: start n runs with --shard 1/n … n/n on machines that share
SUBMISSIONS and OUTPUT, for example as a job array, each with
    --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
and then one without --shard, which collects their marks and writes the reports."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command, for a parser that also has those that choose assignments."""
    limits = Limits()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = LAYOUT
    add = parser.add_argument
    add("submissions", type=Path, help="the folder that holds the submissions")
    add("--output", type=Path, default=Path("grades"), help="where marks go (default: grades)")
    add("--jobs", type=_positive, help="how many to grade at a time (default: one a core)")
    add("--shard", type=_shard, default=(1, 1), metavar="I/N", help="grade every N-th alone")
    add("--no-isolation", action="store_true", help="run submissions with your own rights")
    add(
        "--memory",
        type=_positive,
        default=limits.memory // MIB,
        metavar="MIB",
        help="address space of a submission (default: %(default)s)",
    )
    for name, what in (
        ("cpu", "processor time of a cell or a check"),
        ("wall", "time by the clock of a cell or a check"),
        ("total", "processor time of a whole submission"),
        ("life", "time by the clock of a whole submission"),
    ):
        add(
            f"--{name}",
            type=_seconds,
            default=getattr(limits, name),
            metavar="SECONDS",
            help=f"{what} (default: %(default)g)",
        )


def run(options: argparse.Namespace, assignments: Mapping[str, Assignment], secret: str) -> int:
    """Grade as the options say; returns the exit status."""
    limits = Limits(options.memory * MIB, options.cpu, options.wall, options.total, options.life)
    # What NumPy has to say of values that students return is none of the teacher's concern.
    warnings.simplefilter("ignore", RuntimeWarning)
    try:
        graded = grade_folder(
            options.submissions,
            options.output,
            assignments,
            secret,
            limits=limits,
            jobs=options.jobs,
            isolate=not options.no_isolation,
            shard=options.shard,
        )
    except IsolationError as error:
        print(REFUSAL.format(reason=error), file=sys.stderr)
        return 2
    except (FileNotFoundError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"Stopped. What was finished is in {options.output}; run it again to go on.")
        return 130
    stray = left_out(options.submissions, list(assignments))
    for line in stray:
        print(f"Not graded, {line}")
    if options.shard != (1, 1):
        print(f"{len(graded)} marks are in {options.output}; a run without --shard collects them.")
        return 0
    write_reports(options.output, graded, assignments, stray)
    print(f"{len(graded)} submissions are graded: see {options.output / 'summary.html'}")
    return 0


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError
    return number


def _seconds(text: str) -> float:
    if not 0 < (number := float(text)) < 1e6:
        raise ValueError
    return number


def _shard(text: str) -> tuple[int, int]:
    first, _, count = text.partition("/")
    if not 1 <= int(first) <= int(count):
        raise ValueError
    return int(first), int(count)
