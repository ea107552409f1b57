"""Every attempt of every student: what was graded, what was not, what was written by hand."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from coursework.collect.roster import Roster, Student
from coursework.collect.submissions import Stray, Submission, modified
from coursework.exercise.assignments import Assignment, Paper
from coursework.exercise.lateness import read_time
from coursework.exercise.problems import Judged
from coursework.mark.batch import Graded
from coursework.mark.by_hand import ByHand, Change, Dates, Judgement, PaperMark
from coursework.mark.marks import Mark, PartMark, ProblemMark, Verdict, rounded, zero_mark

NOT_LISTED = "Not on the roster."
NOTHING = "nothing was handed in"
NONE = ByHand()


@dataclass(frozen=True)
class ResultRow:
    """A student's attempt at an assignment, or a sheet of paper.

    `remarks` hold all that the teacher should know beside points. Of a student's attempts one is
    `chosen`: it counts.
    """

    student: Student
    assignment: Assignment
    mark: Mark
    graded: Graded | None
    remarks: tuple[str, ...]
    listed: bool  # on the roster
    attempt: int = 1
    days_late: int = 0
    is_owner: bool = True  # of the file; the others handed it in with its owner
    handed_in: datetime | None = None
    told: tuple[str, ...] = ()  # remarks that are for the student, too
    chosen: bool = True

    @property
    def submission(self) -> Submission | None:
        return self.graded.submission if self.graded else None

    @property
    def asked(self) -> Assignment:
        """Return the assignment with this student's problems."""
        return self.graded.asked if self.graded else self.assignment

    @property
    def counts(self) -> bool:
        """Return whether there are points to show: something was handed in, or marked by hand."""
        by_hand = any(problem.given is not None for problem in self.mark.problems)
        return self.submission is not None or self.is_paper or by_hand

    @property
    def is_paper(self) -> bool:
        """Return whether this is a sheet of paper that somebody handed in."""
        return any(part.kind == "paper" for p in self.mark.problems for part in p.parts)

    @property
    def taken(self) -> float:
        """Return the points that being late takes; from points given by hand it takes none."""
        earned = (problem.points for problem in self.mark.problems if problem.given is None)
        return rounded(self.assignment.terms.taken(sum(earned), self.days_late))

    @property
    def points(self) -> float:
        """Return the points that count."""
        return rounded(self.mark.points - self.taken)


@dataclass(frozen=True)
class _Hand:
    """What was written by hand of one student and one assignment."""

    changes: Mapping[str, Change]
    judgements: Sequence[Judgement]
    dates: Sequence[Dates]

    def date_of(self, attempt: int) -> Dates | None:
        """Return what was written of an attempt; else of every attempt."""
        own = {each.attempt: each for each in self.dates}
        return own.get(attempt) or own.get(None)


def results(
    graded: Sequence[Graded],
    strays: Sequence[Stray],
    assignments: Mapping[str, Assignment],
    roster: Roster,
    by_hand: ByHand = NONE,
    papers: Mapping[str, Paper] = {},
) -> list[ResultRow]:
    """Return a row for each attempt, or one if there is none, of each student and assignment.

    A student is whoever is on the roster, in the folder, or in a table written by hand. Assignments
    without submissions, strays or changes are left out, and so are papers that nobody has.
    """
    done = _attempts(graded, roster)
    done |= _shared(done, assignments, roster)
    stray: defaultdict[tuple[Student, str], list[Stray]] = defaultdict(list)
    for item in strays:
        for name in filter(None, item.students):
            stray[roster.find(name), item.assignment].append(item)
    hands = _hands(by_hand, roster)
    touched = {*done, *stray, *(place for place, hand in hands.items() if hand.changes)}
    sheets = {(roster.find(sheet.student), sheet.paper): sheet for sheet in by_hand.papers}
    students = sorted(
        {*roster.students.values(), *(s for s, _ in (*touched, *sheets))}, key=lambda s: s.id
    )
    names = {name for _, name in touched}
    found: list[ResultRow] = []
    for assignment in (a for name, a in assignments.items() if name in names):
        for student in students:
            place = (student, assignment.name)
            lost = stray[place] + stray[student, ""]
            hand = hands.get(place, _Hand({}, (), ()))
            items: Sequence[Graded | None] = done.get(place) or [None]
            attempts = [_row(student, assignment, item, lost, hand, roster) for item in items]
            found += _with_choice(attempts, best=assignment.terms.best)
    for paper in (p for name, p in papers.items() if any(place[1] == name for place in sheets)):
        found += [
            _of_paper(student, paper, sheets.get((student, paper.name)), roster)
            for student in students
        ]
    return found


def _attempts(graded: Sequence[Graded], roster: Roster) -> dict[tuple[Student, str], list[Graded]]:
    """Return the attempts of each student at each assignment, the first attempt first."""
    found: defaultdict[tuple[Student, str], dict[int, Graded]] = defaultdict(dict)
    for item in sorted(graded, key=lambda g: (g.submission.attempt, modified(g.submission.path))):
        submission = item.submission
        for name in (submission.student, *submission.partners):
            found[roster.find(name), submission.assignment][submission.attempt] = item
    return {place: list(items.values()) for place, items in found.items()}


def _hands(by_hand: ByHand, roster: Roster) -> dict[tuple[Student, str], _Hand]:
    changes: defaultdict[tuple[Student, str], dict[str, Change]] = defaultdict(dict)
    for change in by_hand.changes:
        changes[roster.find(change.student), change.assignment][change.exercise] = change
    judgements: defaultdict[tuple[Student, str], list[Judgement]] = defaultdict(list)
    for said in by_hand.judgements:
        judgements[roster.find(said.student), said.assignment].append(said)
    dates: defaultdict[tuple[Student, str], list[Dates]] = defaultdict(list)
    for each in by_hand.dates:
        dates[roster.find(each.student), each.assignment].append(each)
    places = {*changes, *judgements, *dates}
    return {
        place: _Hand(changes.get(place, {}), judgements.get(place, ()), dates.get(place, ()))
        for place in places
    }


def _with_choice(attempts: Sequence[ResultRow], *, best: bool) -> Iterator[ResultRow]:
    """Yield the attempts; the one that counts says so, where there are several."""
    counts = max(attempts, key=lambda row: (row.points if best else 0, row.attempt))
    for row in attempts:
        if row is counts and len(attempts) > 1:
            others = (f"attempt {r.attempt}: {r.points:g}" for r in attempts if r is not counts)
            said = f"Attempt {row.attempt} counts ({', '.join(others)})."
            yield replace(row, told=(said, *row.told), remarks=(said, *row.remarks))
        else:
            yield replace(row, chosen=row is counts)


def _row(
    student: Student,
    assignment: Assignment,
    item: Graded | None,
    strays: Iterable[Stray],
    hand: _Hand,
    roster: Roster,
) -> ResultRow:
    attempt = item.submission.attempt if item else 1
    mark = item.mark if item else zero_mark(assignment, NOTHING)
    if item:
        mark = judged(mark, assignment, hand.judgements, attempt)
    mark = changed(mark, hand.changes)
    remarks = list(mark.remarks) if item else ["Nothing handed in."]
    if item:
        remarks += _with_whom(student, item.submission, roster)
        remarks += item.submission.notes
        remarks += [f"Not graded beside it: {name}." for name in item.submission.others]
    remarks += [f"Not graded, {stray}." for stray in strays]
    remarks += [
        f"{p.id}: points given by hand. {p.why}" for p in mark.problems if p.given is not None
    ]
    open_parts = sum(part.verdict == "open" for p in mark.problems for part in p.parts)
    if open_parts:
        remarks.append(f"Parts that nobody has judged yet: {open_parts}.")
    if mark.fault:
        remarks.append(f"The grader failed here: {mark.fault}")
    remarks += _of_roster(student, roster)
    dates, terms = hand.date_of(attempt), assignment.terms
    handed_in = _handed_in(item, dates)
    days = terms.days_late(handed_in, (dates and dates.due) or terms.due_of(attempt))
    row = ResultRow(
        student,
        assignment,
        mark,
        item,
        (),
        student.id in roster.students,
        attempt,
        days,
        item is not None and roster.find(item.submission.student) == student,
        handed_in,
    )
    late = [*_lateness(row), *([dates.why] if dates and dates.why else [])]
    return replace(row, told=tuple(late), remarks=(*late, *remarks))


def _handed_in(item: Graded | None, dates: Dates | None) -> datetime | None:
    if dates and dates.handed_in:
        return dates.handed_in
    return read_time(item.submission.timestamp) if item else None


def _lateness(row: ResultRow) -> Iterator[str]:
    if row.days_late:
        days = "1 day" if row.days_late == 1 else f"{row.days_late} days"
        took = f", which takes {row.taken:g} of {row.mark.points:g} points" if row.taken else ""
        yield f"Handed in {days} late{took}."
    elif row.submission and row.submission.marked_late and row.handed_in is None:
        yield "Canvas marks this as late, and doesn't say when it came: write that into dates.csv."


def _of_roster(student: Student, roster: Roster) -> list[str]:
    if not roster.students or student.id in roster.students:
        return []
    several = roster.is_shared(student.id)
    return ["Several on the roster have this name." if several else NOT_LISTED]


def _of_paper(student: Student, paper: Paper, sheet: PaperMark | None, roster: Roster) -> ResultRow:
    """Return the row of a student's sheet of paper."""
    assignment = paper.assignment
    problems = (
        ProblemMark(problem.id, problem.title, (_paper_part(problem.parts[0].points, points),))
        for problem, points in zip(assignment.problems, sheet.points if sheet else (), strict=False)
    )
    mark = Mark(tuple(problems)) if sheet else zero_mark(assignment, NOTHING)
    unmarked = sum(points is None for points in sheet.points) if sheet else 0
    remarks = [] if sheet else ["Nothing handed in."]
    remarks += [f"Problems on paper that nobody has marked yet: {unmarked}."] * (unmarked > 0)
    listed = student.id in roster.students
    remarks += _of_roster(student, roster)
    return ResultRow(student, assignment, mark, None, tuple(remarks), listed)


def _paper_part(most: float, points: float | None) -> PartMark:
    verdict: Verdict = "open" if points is None else "judged"
    return PartMark("on paper", points or 0.0, most, verdict, kind="paper")


def _shared(
    done: Mapping[tuple[Student, str], list[Graded]],
    assignments: Mapping[str, Assignment],
    roster: Roster,
) -> dict[tuple[Student, str], list[Graded]]:
    """Return what others in a group handed in for those who handed in nothing of their own.

    Of several the latest counts. Problems that were drawn for each are nobody else's.
    """
    found = {}
    for name in (name for name, assignment in assignments.items() if not assignment.is_drawn):
        for student in roster.students.values():
            theirs = [g for m in roster.mates(student) for g in done.get((m, name), ())]
            if theirs and (student, name) not in done:
                theirs.sort(key=lambda g: (g.submission.attempt, modified(g.submission.path)))
                last = {g.submission.attempt: g for g in theirs}
                found[student, name] = list(last.values())
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


def judged(
    mark: Mark, assignment: Assignment, judgements: Sequence[Judgement], attempt: int
) -> Mark:
    """Return the mark with the parts that a person judges, and what was said of them.

    A judgement of this attempt comes before one of every attempt.
    """
    said = {
        (each.exercise, each.part): each
        for each in sorted(judgements, key=lambda each: each.attempt is not None)
        if each.attempt in (None, attempt)
    }
    asked = {problem.id: problem.judged for problem in assignment.problems}
    problems = []
    for problem in mark.problems:
        more = (_judged_part(part, said.get((problem.id, part.name))) for part in asked[problem.id])
        whole = said.get((problem.id, ""))
        comment = whole.comment if whole else ""
        problems.append(replace(problem, parts=(*problem.parts, *more), comment=comment))
    return replace(mark, problems=tuple(problems))


def _judged_part(part: Judged, said: Judgement | None) -> PartMark:
    points, comment = (said.points, said.comment) if said else (None, "")
    verdict: Verdict = "open" if points is None else "judged"
    return PartMark(part.name, points or 0.0, part.points, verdict, kind="judged", comment=comment)
