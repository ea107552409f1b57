"""What a student is told: what was asked, what came, and the first thing that is wrong with it.

Nothing of a check's source, of other students, or of the seed is in it. Of a check's results it
shows the first that is wrong, as expected and as it came.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape

from coursework import layout
from coursework.batch import Graded
from coursework.marks import PartMark, ProblemMark
from coursework.problems import Assignment, Problem

WORDS = {
    "right": '<span class="good">✓ right</span>',
    "wrong": '<span class="bad">✗ wrong</span>',
    "failed": '<span class="bad">✗ failed</span>',
    "missing": '<span class="bad">✗ missing</span>',
}


def feedback(
    student: str, submissions: Sequence[Graded], assignments: Mapping[str, Assignment]
) -> str:
    """The page of one student, with all that they have handed in."""
    body = [f"<h1>Feedback for {escape(student)}</h1>"]
    body += [_assignment(graded, assignments) for graded in submissions]
    return layout.page(f"Feedback for {student}", "\n".join(body))


def _assignment(graded: Graded, assignments: Mapping[str, Assignment]) -> str:
    submission, mark = graded.submission, graded.mark
    assignment = assignments[submission.assignment]
    problems = {problem.id: problem for problem in assignment.problems}
    body = [f"<h2>{escape(assignment.title)}</h2>"]
    body.append(f"<p><strong>{layout.points(mark.points, mark.max_points)} points</strong></p>")
    notes = list(mark.remarks)
    if submission.older:
        count = len(submission.older)
        older = ", ".join(submission.older)
        notes.insert(0, f"You handed in {count + 1} files: the newest counts, not {older}.")
    if notes:
        items = "\n".join(f"<li>{escape(note)}</li>" for note in notes)
        body.append(f"<ul>\n{items}\n</ul>")
    body += [_problem(problem, problems[problem.id]) for problem in mark.problems]
    return "\n".join(body)


def _problem(mark: ProblemMark, problem: Problem) -> str:
    parts = "\n".join(f"<li>{_part(part)}</li>" for part in mark.parts)
    asked = "\n".join(
        layout.markdown(text) if kind == "markdown" else layout.code(text)
        for kind, text in problem.statement
    )
    came = layout.code(mark.code) if mark.code else "<p>No cell defines what was asked for.</p>"
    return f"""<section class="card">
<div class="top"><h3>{escape(f"{problem.level} {mark.title}".strip())}</h3>
<span class="points">{layout.points(mark.points, mark.max_points)}</span></div>
<ul class="parts">
{parts}
</ul>
{layout.folded("What was asked", asked)}
{layout.folded("What came", came)}
</section>"""


def _part(mark: PartMark) -> str:
    head = (
        f'<div class="top"><span>{WORDS[mark.verdict]}: {escape(mark.name)}</span>'
        f'<span class="points">{layout.points(mark.points, mark.max_points)}</span></div>'
    )
    if mark.verdict == "right":
        return head
    if mark.verdict != "wrong":
        return f"{head}<p>{escape(_sentence(mark.problem))}</p>"
    first = f"The first result that is wrong is <code>{escape(mark.result)}</code>"
    rows = [("expected", mark.expected, ""), ("got", mark.got, "")]
    rows.append(("hint", mark.hint, ' class="words"'))
    terms = "".join(
        f"<dt>{term}</dt><dd{style}>{escape(text)}</dd>" for term, text, style in rows if text
    )
    return f"{head}<p>{first}: {escape(mark.problem)}.</p><dl>{terms}</dl>"


def _sentence(text: str) -> str:
    """A reason as a sentence; the names that some start with stay as they are."""
    return re.sub(r"^(it|the|there)\b", lambda word: word[0].capitalize(), text) + "."
