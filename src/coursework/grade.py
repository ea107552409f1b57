"""The command that grades: its arguments, what it says, and what it leaves behind.

OUTPUT holds `ledger.sqlite` (a row for each student, attempt and part), `grades.csv` (a row for
each student and assignment, a column for each exercise), the tables that nbgrader, Moodle and
Canvas take, `summary.html` for the teacher, `judge/` with the sentences that a person judges,
`feedback/STUDENT.html` for each student, also as zips, and `marks/`, from which a later run takes
what it need not grade again. The teacher's own tables lie there, too: see `mark/by_hand.py`.
"""

import argparse
import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from coursework import sheet
from coursework.collect.roster import Roster
from coursework.collect.submissions import Collection, Stray, Submission, collect
from coursework.exercise.assignments import Assignment, Paper
from coursework.mark import by_hand
from coursework.mark.batch import Graded, grade_all
from coursework.report.results import ResultRow, results
from coursework.report.summary import write_reports
from coursework.sandbox.host import Limits
from coursework.sandbox.jail import IsolationError

MIB = 2**20
STRAYS = 100  # lines on the terminal
REFUSAL = """\
Submissions cannot be isolated here: {reason}.
A submission that is not isolated may read, change and send whatever you may yourself.
Grade on Linux 5.12 or newer with user namespaces. An administrator allows them so:
    Debian    sudo sysctl -w kernel.unprivileged_userns_clone=1
    Ubuntu    sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
    Fedora    sudo sysctl -w user.max_user_namespaces=15000
In a container, start it with
    podman run --security-opt seccomp=unconfined --security-opt unmask=ALL ...
    docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined \\
        --security-opt systempaths=unconfined ...
On macOS and Windows, grade in such a container, in a virtual machine, or in WSL 2. The page
"Teaching with this course" tells more. Where you trust every submission, or the machine holds
nothing of worth, --no-isolation goes on without."""
LAYOUT = """\
SUBMISSIONS holds STUDENT/ASSIGNMENT.ipynb, STUDENT/ASSIGNMENT/ANY.ipynb (as nbgrader collects),
ASSIGNMENT/STUDENT.ipynb or STUDENT_ASSIGNMENT.ipynb; a notebook of another name is known by what is
written in it. Of several by one student for one attempt the newest counts. What is not graded is
named, with the reason. A run that was stopped goes on where it was. What has changed since is
graded anew; where the grader or the engine has, that is everything."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to a parser that already has the ones that choose assignments."""
    limits = Limits()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = LAYOUT
    add = parser.add_argument
    add("submissions", type=Path, help="the folder that holds the submissions")
    add("--output", type=Path, default=Path("grades"), help="where marks go (default: grades)")
    add(
        "--roster",
        type=Path,
        metavar="FILE",
        help="a table of id, name, mail, group (default: roster.csv in SUBMISSIONS, if there)",
    )
    add("--jobs", type=positive, help="how many to grade at a time (default: one a core)")
    add("--no-isolation", action="store_true", help="run submissions with your own rights")
    add(
        "--memory",
        type=positive,
        default=limits.memory // MIB,
        metavar="MIB",
        help="address space of a submission (default: %(default)s)",
    )
    for name, what in (
        ("cpu", "processor time of a cell or a check"),
        ("wall", "time by the clock of a cell or a check"),
        ("total", "processor time of a whole submission"),
        ("life", "time by the clock of a whole submission, less ten times its processor time"),
    ):
        add(
            f"--{name}",
            type=_seconds,
            default=getattr(limits, name),
            metavar="SECONDS",
            help=f"{what} (default: %(default)g)",
        )


def run(
    options: argparse.Namespace,
    assignments: Mapping[str, Assignment],
    secret: Callable[[Sequence[str]], str],
    known: Mapping[str, Sequence[str]] | None = None,
    hidden: Sequence[Path] = (),
    papers: Mapping[str, Paper] | None = None,
    known_papers: Sequence[str] = (),
) -> int:
    """Grade as the options say and return the exit status.

    `secret` reads the secret; its argument names what can only be graded with the secret of its
    release. `known` is {assignment: the names that its answers define}, also of those not graded
    now. No submission may read the paths `hidden`. `papers` are the tests on paper that
    are marked now, `known_papers` the names of all.
    """
    known = known or {name: assignment.names for name, assignment in assignments.items()}
    limits = Limits(options.memory * MIB, options.cpu, options.wall, options.total, options.life)
    isolate = not options.no_isolation
    try:
        listed = _roster(options)
        roster = Roster(listed)
        if listed:
            print(f"Roster: {listed}, {len(roster.students)} students.")
        read = functools.cache(lambda why: secret([why] if why else []))
        written = by_hand.read(
            options.output,
            assignments,
            papers or {},
            [*known, *known_papers],
            roster.id_of,
            lambda sheet, code: _whose(sheet, code, roster, read("")),
        )
        found = collect(
            options.submissions,
            list(assignments),
            known,
            roster.listed,
            lambda files: read(files[0]),
        )
        _require_roster(listed, found.submissions, assignments)
        drawn = [s for s in found.submissions if assignments[s.assignment].is_drawn]
        words = read(drawn[0].assignment if drawn else "")
        found = _without_others(found, assignments, words)
        graded = grade_all(
            found.submissions,
            options.output,
            assignments,
            words,
            limits=limits,
            jobs=options.jobs,
            isolate=isolate,
            hidden=[options.submissions, *hidden],
        )
    except IsolationError as error:
        print(REFUSAL.format(reason=error), file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"Stopped. Finished marks are in {options.output}; run it again to continue.")
        return 130
    for line in _notes(graded, found):
        print(line)
    attempts = results(graded, found.strays, assignments, roster, written, papers or {})
    for line in (
        *_odd_points(attempts, roster),
        *_of_nobody(written, attempts, roster),
        *_undated(attempts),
    ):
        print(line)
    write_reports(
        options.output,
        attempts,
        found.strays,
        submissions=options.submissions,
        isolated=isolate,
    )
    print(f"Submissions graded: {len(graded)}; see {options.output / 'summary.html'}.")
    return 0


def _require_roster(
    listed: Path | None, found: Sequence[Submission], assignments: Mapping[str, Assignment]
) -> None:
    """Refuse to guess from a file's name which student its problems were drawn for."""
    for submission in found:
        if listed is None and assignments[submission.assignment].is_drawn:
            raise ValueError(
                f"the problems of {submission.assignment} are drawn for each student by id: "
                f"name the roster that its notebooks were written from, --roster FILE"
            )


def _without_others(
    found: Collection, assignments: Mapping[str, Assignment], secret: str
) -> Collection:
    """Leave out notebooks whose problems the course, as it is now, would not draw any more.

    Raises:
        ValueError: these are most of the notebooks of an assignment.
    """
    others = [s for s in found.submissions if not _is_as_released(s, assignments, secret)]
    for name, count in Counter(s.assignment for s in others).items():
        told = sum(bool(s.token) and s.assignment == name for s in found.submissions)
        if 2 * count > told:
            raise ValueError(
                f"{count} of {told} notebooks of {name} were released with other problems than "
                f"this copy of the course has now: grade with the copy that released them"
            )
    why = "released with other problems than this copy of the course has now"
    strays = (Stray(str(s.path.name), why, (s.student, *s.partners), s.assignment) for s in others)
    kept = [s for s in found.submissions if s not in others]
    return replace(found, submissions=kept, strays=[*found.strays, *strays])


def _is_as_released(s: Submission, assignments: Mapping[str, Assignment], secret: str) -> bool:
    if s.token is None:
        return True
    asked = replace(assignments[s.assignment], attempt=s.attempt)
    own = asked.for_student(secret, s.asked)
    return own.token(secret, s.asked).instance == s.token.instance


def _notes(graded: Sequence[Graded], found: Collection) -> Iterator[str]:
    """Yield what the teacher should know at once."""
    strays = found.strays
    for stray in strays:
        if stray.disputed:
            yield f"Not graded, {stray}"
    for item in graded:
        if item.mark.fault:
            who = f"{item.submission.student}, {item.submission.assignment}"
            yield f"The grader failed at {who} and continued with the rest: {item.mark.fault}"
    others = [stray for stray in strays if not stray.disputed]
    yield from (f"Not graded, {stray}" for stray in others[:STRAYS])
    if more := others[STRAYS:]:
        yield f"Not graded: {len(more)} more, which the summary lists."
    if found.untold:
        yield (
            f"No notebook of {', '.join(found.untold)} has a token, so names of files and folders "
            f"decided whose each is."
        )


def _whose(name: str, code: str, roster: Roster, secret: str) -> str | None:
    """Return the student with this code on a sheet; "" if all have it, None if nobody has."""
    owners = (student.id for student in roster.students.values())
    return next((who for who in ("", *owners) if sheet.plain_code(secret, name, who) == code), None)


def _odd_points(rows: Sequence[ResultRow], roster: Roster) -> Iterator[str]:
    """Yield the points given by hand that may be a typing error."""
    for row in rows:
        name = row.student.id
        for problem in row.mark.problems:
            what = f"Given by hand: {name}, {row.assignment.name}, {problem.id}"
            for part in problem.parts:
                if part.verdict == "judged" and not 0 <= part.points <= part.max_points:
                    yield f"{what}, {part.name}: {part.points:g} of {part.max_points:g} points"
            if problem.given is None:
                continue
            if not 0 <= problem.given <= problem.max_points:
                yield f"{what}: {problem.given:g} of {problem.max_points:g} points"
            if not row.submission and name not in roster.students:
                yield f"{what}: {name} has handed in nothing here, and is on no roster"


def _of_nobody(written: by_hand.ByHand, rows: Sequence[ResultRow], roster: Roster) -> Iterator[str]:
    """Yield the rows written by hand that change nothing, because nothing was handed in."""
    came = {(row.student.id, row.assignment.name, row.attempt) for row in rows if row.submission}
    places = {place[:2] for place in came}
    for name, entries in (("judgements", written.judgements), ("dates", written.dates)):
        for each in entries:
            who = roster.id_of(each.student)
            attempt = f", attempt {each.attempt}" if each.attempt else ""
            if (who, each.assignment) not in places or (
                each.attempt and (who, each.assignment, each.attempt) not in came
            ):
                yield (
                    f"{name}.csv: {each.student}, {each.assignment}{attempt}: nothing was handed in"
                )


def _undated(rows: Sequence[ResultRow]) -> Iterator[str]:
    """Yield the assignments that are due at a time, of which nobody says when they came."""
    own = [row for row in rows if row.submission and row.assignment.terms.due_of(row.attempt)]
    without = Counter(row.assignment.name for row in own if row.handed_in is None)
    for name, count in without.items():
        yield (
            f"{name} has a due date, and of {count} submissions nobody says when they came, so "
            f"they count as in time: write the time of those that were late into dates.csv."
        )


def _roster(options: argparse.Namespace) -> Path | None:
    """Return the roster that the options name, or else the one in the folder of submissions."""
    beside: Path = options.submissions / "roster.csv"
    named: Path | None = options.roster
    return named or (beside if beside.exists() else None)


def positive(text: str) -> int:
    """Convert an argument to a whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return number
