"""Every student with every assignment: what was graded, what was not, what was given by hand."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from coursework.assignments import Assignment
from coursework.batch import Graded
from coursework.marks import Mark, zero_mark
from coursework.roster import Change, Roster, Student
from coursework.submissions import Stray, Submission, modified

NOT_LISTED = "Not on the roster."


@dataclass(frozen=True)
class ResultRow:
    """A student and an assignment; in `remarks` all that the teacher should know beside points."""

    student: Student
    assignment: Assignment
    mark: Mark
    graded: Graded | None
    remarks: tuple[str, ...]
    listed: bool  # on the roster

    @property
    def submission(self) -> Submission | None:
        return self.graded.submission if self.graded else None

    @property
    def asked(self) -> Assignment:
        """Return the assignment with this student's problems."""
        return self.graded.asked if self.graded else self.assignment

    @property
    def counts(self) -> bool:
        """Return whether there are points to show: something was handed in, or given by hand."""
        return self.submission is not None or any(p.given is not None for p in self.mark.problems)


def rows(
    graded: Sequence[Graded],
    strays: Sequence[Stray],
    assignments: Mapping[str, Assignment],
    roster: Roster,
    changes: Sequence[Change] = (),
) -> list[ResultRow]:
    """Return a row for each student (on the roster, in the folder or in changes) and assignment.

    Assignments without submissions, strays or changes are left out.
    """
    done = {
        (roster.find(student), g.submission.assignment): g  # the last attempt, where there are more
        for g in sorted(graded, key=lambda g: g.submission.attempt)
        for student in (g.submission.student, *g.submission.partners)
    }
    done |= _shared(done, assignments, roster)
    stray: defaultdict[tuple[Student, str], list[Stray]] = defaultdict(list)
    for item in strays:
        for name in filter(None, item.students):
            stray[roster.find(name), item.assignment].append(item)
    by_hand: defaultdict[tuple[Student, str], dict[str, Change]] = defaultdict(dict)
    for change in changes:
        by_hand[roster.find(change.student), change.assignment][change.exercise] = change
    places = [*done, *stray, *by_hand]
    students = sorted({*roster.students.values(), *(s for s, _ in places)}, key=lambda s: s.id)
    touched = {name for _, name in places}
    found = []
    for assignment in (a for name, a in assignments.items() if name in touched):
        for student in students:
            place = (student, assignment.name)
            lost = stray[place] + stray[student, ""]
            found.append(_row(student, assignment, done.get(place), lost, by_hand[place], roster))
    return found


def _row(
    student: Student,
    assignment: Assignment,
    item: Graded | None,
    strays: Iterable[Stray],
    changes: Mapping[str, Change],
    roster: Roster,
) -> ResultRow:
    mark = changed(item.mark if item else zero_mark(assignment, "nothing was handed in"), changes)
    remarks = list(mark.remarks) if item else ["Nothing handed in."]
    if item:
        remarks += _with_whom(student, item.submission, roster)
        remarks += item.submission.notes
        remarks += [f"Not graded beside it: {name}." for name in item.submission.others]
    remarks += [f"Not graded, {stray}." for stray in strays]
    remarks += [
        f"{p.id}: points given by hand. {p.why}" for p in mark.problems if p.given is not None
    ]
    if mark.fault:
        remarks.append(f"The grader failed here: {mark.fault}")
    listed = student.id in roster.students
    if roster.students and not listed:
        several = roster.is_shared(student.id)
        remarks.append("Several on the roster have this name." if several else NOT_LISTED)
    return ResultRow(student, assignment, mark, item, tuple(remarks), listed)


def _shared(
    done: Mapping[tuple[Student, str], Graded],
    assignments: Mapping[str, Assignment],
    roster: Roster,
) -> dict[tuple[Student, str], Graded]:
    """Return what others in a group handed in for those who handed in nothing of their own.

    Of several the latest counts. Problems that were drawn for each are nobody else's.
    """
    found = {}
    for name in (name for name, assignment in assignments.items() if not assignment.is_drawn):
        for student in roster.students.values():
            theirs = [done[m, name] for m in roster.mates(student) if (m, name) in done]
            if theirs and (student, name) not in done:
                newest = max(
                    theirs, key=lambda g: (g.submission.attempt, modified(g.submission.path))
                )
                found[student, name] = newest
    return found


def _with_whom(student: Student, submission: Submission, roster: Roster) -> list[str]:
    """Return a sentence that names those who handed in the same file, if any."""
    everybody = map(roster.find, (submission.student, *submission.partners))
    others = [partner.shown for partner in everybody if partner != student]
    return [f"Handed in with {', '.join(others)}."] if others else []


def changed(mark: Mark, changes: Mapping[str, Change]) -> Mark:
    """Return the mark with the points given by hand, {exercise: change}."""
    problems = (
        replace(p, given=changes[p.id].points, why=changes[p.id].why) if p.id in changes else p
        for p in mark.problems
    )
    return replace(mark, problems=tuple(problems))
