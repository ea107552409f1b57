"""Problems on paper: sheets that print on A4 in black and white, and their key apart.

What is asked is drawn from the teacher's secret, for each student or for all, and what is right
comes from the engine. The page of problems shows the solution of a problem to anybody who knows its
name there, so only the key says these names. A sheet carries a code instead, which nobody can make
without the secret: who enters the marks types it, and a slip is noticed.
"""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

from markupsafe import Markup

from chainlab import drills
from chainlab.drills.draw.small_numbers import exact
from chainlab.drills.kinds.keep import QUOTIENT
from chainlab.drills.kinds.kind import LEVELS
from chainlab.drills.page.bank import pictures
from coursework.collect.roster import Student
from coursework.exercise.drawing import student_seed
from coursework.exercise.tokens import Token
from coursework.exercise.trusted import ProblemError
from coursework.html import render
from coursework.safe_files import write_atomically

TRIES = 10  # for each problem, before a level is said to have no more
LEVEL = 2
WIDEST = 870.0  # of a drawing with boxes, whose labels are the smallest type there is
LAST = 10**9 - 1  # seed of the drills
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Question:
    """A problem on paper."""

    shown: Markup
    key: Sequence[str]  # what is right, in lines
    name: str  # on the page of problems, which shows its solution


@dataclass(frozen=True)
class Sheet:
    """What one student is handed; everybody, where there is no student."""

    questions: Sequence[Question]
    student: Student
    code: str


Printed = tuple[Markup, *tuple[str, ...]]  # a problem on paper, and the lines of its key
Printer = Callable[[drills.Problem], Printed]


@dataclass(frozen=True)
class SheetKind:
    """What a sheet asks."""

    title: str
    asks: Callable[[int], str]  # what is to be done on a level, as HTML
    number: int  # how many problems fill a page
    draw: Printer


def write(
    folder: Path,
    kind: str,
    secret: str,
    seed: int = 1,
    number: int | None = None,
    level: int = LEVEL,
    students: Sequence[Student] = (),
) -> tuple[Path, Path]:
    """Write one sheet of problems, or one for each student, and one key; return both paths.

    Args:
        kind: the kind of problem, a name in `KINDS`.
        secret: the secret that the problems are drawn from.
        seed: another seed gives other problems.
        number: the number of problems on a sheet; None fills a page.
        level: 1, 2 or 3.
        students: students who each get their own sheet; if empty, there is one sheet for all.

    Raises:
        ProblemError: the level has too few problems.
    """
    asked = KINDS[kind]
    name = f"{kind}-{level}-{seed}"
    sheets = []
    for student in students or [Student("")]:
        first = student_seed(secret, student.id, f"sheet {name}")
        questions = _questions(kind, level, first, number or asked.number)
        sheets.append(Sheet(questions, student, code(secret, name, student.id)))
    paths = folder / f"{name}.html", folder / f"{name}-key.html"
    folder.mkdir(parents=True, exist_ok=True)
    for path, template in zip(paths, ("sheet.html", "key.html"), strict=True):
        write_atomically(
            path, render(template, name=name, kind=asked, asks=asked.asks(level), sheets=sheets)
        )
    return paths


def code(secret: str, name: str, student: str = "") -> str:
    """Return the code of a student's sheet with this name, such as ``adjoints-2-1``.

    >>> code("the words of one teacher", "graph-1", "u007")
    'CVBY-XXB5'
    """
    return Token(f"sheet {name}", 1, student, "").code(secret)


def plain_code(secret: str, name: str, student: str = "") -> str:
    """Return the code without its hyphen."""
    return code(secret, name, student).replace("-", "")


def _questions(kind: str, level: int, first: int, number: int) -> Sequence[Question]:
    """Yield the problems from a seed on, no two of them the same."""
    questions = dict[Markup, Question]()
    for seed in islice(count(first), TRIES * number):
        drill = drills.problem(kind, level, 1 + (seed - 1) % LAST)
        shown, *key = KINDS[kind].draw(drill)
        questions.setdefault(shown, Question(shown, key, drill.name))
        if len(questions) == number:
            return list(questions.values())
    raise ProblemError(f"level {level} of {kind} has no {number} different problems")


def _boxes(problem: drills.Problem) -> Printed:
    boxes = problem.entry["boxes"]
    labels = [TAG.sub("", box["label"]) for box in boxes]
    blank: dict[tuple[str, str], list[str]] = {}
    for box, label in zip(boxes, labels, strict=True):
        blank.setdefault((box["node"], box["slot"]), []).append(label)
    key = (f"{label} = {exact(x)}" for label, x in zip(labels, problem.right, strict=True))
    return _drawing(problem, blank=blank), *key


def _order(problem: drills.Problem) -> Printed:
    order = [problem.names[node] for node in problem.entry["order"]]
    blanks = Markup('<p class="blanks">{}</p>').format(Markup("<i></i>") * len(order))
    return _drawing(problem) + blanks, ", ".join(order)


def _kept(problem: drills.Problem) -> Printed:
    says = problem.entry["says"]
    right, also = (
        ", ".join(says[node].partition(",")[0] for node in problem.entry[key])
        for key in ("right", "also")
    )
    blank = Markup('<p class="blanks">Read: <i class="wide"></i></p>')
    return _drawing(problem) + blank, right + f"; or {also}" * (also != right)


def _message(problem: drills.Problem) -> Printed:
    edges = problem.entry["edges"]
    said = {edge["ends"]: edge["number"] for edge in edges}
    wrong = edges[problem.entry["fault"]]
    key = f"{wrong['says']}: {wrong['right']}, and not {wrong['number']}"
    blank = Markup('<p class="blanks">It should be <i></i></p>')
    return _drawing(problem, said=said) + blank, key


def _tiles(problem: drills.Problem) -> Printed:
    entry = problem.entry
    said = Markup("<p><b>{}</b> Given: {}.</p>").format(entry["text"], entry["seed"])
    key = (
        f"{line['label']} {line['shape']} = {' '.join(line['right'])}" for line in entry["lines"]
    )
    return _drawing(problem) + said + _lines(entry["lines"]), *key


def _typed(problem: drills.Problem) -> Printed:
    entry = problem.entry
    given = [f"{name} {is_}" for name, is_ in entry["names"] if is_]
    said = Markup("<p>Names: np, {}.</p>").format(", ".join(given))
    key = (f"{line['label']} = {line['right']}" for line in entry["typed"])
    lines = _lines(entry["typed"])
    return _drawing(problem) + _pre(entry["forward"]) + said + lines, *key


def _lines(lines: Iterable[Mapping[str, Any]]) -> Markup:
    """Return a line to fill in for each adjoint, with its name and shape."""
    blank = Markup('<p class="blanks">{} {} = <i class="wide"></i></p>')
    return Markup().join(blank.format(line["label"], line["shape"]) for line in lines)


def _drawing(
    problem: drills.Problem,
    blank: Mapping[tuple[str, str], Sequence[str]] = {},
    said: Mapping[tuple[str, str, int], str] = {},
) -> Markup:
    """Draw the graph with its numbers, boxes for what is asked, and labels on edges."""
    texts = {(node, slot): text for node, slot, text in problem.entry["written"]}
    drawn = pictures(problem.kind, problem.level, problem.number, bool(said))
    root, tall = map(ET.fromstring, drawn)
    if blank and float(root.attrib["width"]) > WIDEST:
        root = tall
        root.attrib["class"] = "tall"
    del root.attrib["style"]
    _rename(root, problem.names)
    seen = Counter[tuple[str, str]]()
    for group in root.iter("g"):
        node = group.get("data-node", "")
        ends = group.get("data-from", ""), group.get("data-to", "")
        edge = (*ends, seen[ends])  # of two between the same nodes the second is number 1
        seen[ends] += 1
        for text in group.findall("text"):
            slot = node, text.get("data-slot", "")
            if slot in blank:
                _ask(group, text, blank[slot])
            elif any(ends):
                text.text = said.get(edge, "")
            elif slot[1]:
                text.text = texts.get(slot, "")
    return Markup(ET.tostring(root, encoding="unicode"))


def _rename(root: ET.Element, names: Mapping[str, str]) -> None:
    """Call the nodes as the problem does, in the formulas of others, too."""
    called: dict[str | None, str] = {}
    for node, name in names.items():
        title = root.find(f".//g[@data-node='{node}']/text/*[@class='cg-name']")
        assert title is not None
        called[title.text] = name
        title.text = name
    for note in root.iterfind(".//*[@class='cg-note']"):
        note.text = re.sub(r"\b[a-z]\b", lambda m: called.get(m[0], m[0]), note.text or "")


def _ask(group: ET.Element, text: ET.Element, labels: Sequence[str]) -> None:
    """Replace a text by boxes for numbers, with labels in their corners."""
    frame = group.find("rect[@class='cg-box']")
    assert frame is not None
    width = (float(frame.attrib["width"]) - 10) / len(labels)
    y, at = float(text.attrib["y"]), list(group).index(text)
    group.remove(text)
    for i, label in enumerate(labels):
        x = f"{float(text.attrib['x']) + i * width:g}"
        place = {"x": x, "y": f"{y - 11:g}", "width": f"{width - 2:g}", "height": "26"}
        group.insert(at, ET.Element("rect", {"class": "answer", **place}))
        group.append(ET.Element("text", {"class": "asked", "x": x, "y": f"{y:g}"}))
        group[-1].text = label


def _pre(lines: Iterable[str]) -> Markup:
    return Markup("<pre>{}</pre>").format("\n".join(lines))


ORDERS = (
    "Write the operations in an order in which the backward pass can handle them: each passes on "
    "once, when all that it is to receive has come."
)
MESSAGES = (
    "One message of each backward pass was computed wrongly; all others are right for what had "
    "come before. <i>grad</i> is the sum of what came. Circle the wrong one, and write what it "
    "should be."
)
SHAPES = (
    "Write down the adjoint of every operand by the given one, as a formula in matrices: "
    "⊙ multiplies entry by entry, and Σ rows adds up the rows."
)
KEPT = (
    "Write down every value that the backward pass reads, so that it has to be kept, or computed "
    "again. A function such as exp has its slope from its result, and reads that."
)
EQUATIONS = (
    "Write every adjoint as one line of NumPy, <code>dW</code> for that of <code>W</code>. It is "
    "made of the names given, and of the lines before it."
)


def _kept_asks(level: int) -> str:
    grey = " <i>x</i> is an input, and needs no gradient." * (level == len(LEVELS))
    return KEPT + grey + QUOTIENT * (level > 1)


def _drill(
    kind: str, number: int, draw: Printer = _boxes, asks: str | Callable[[int], str] = ""
) -> SheetKind:
    known = drills.KINDS[kind]
    asked = asks if callable(asks) else (lambda _: asks) if asks else known.asks
    return SheetKind(known.title, asked, number, draw)


KINDS = {
    "local": _drill("local", 4),
    "chain": _drill("chain", 3),
    "adjoints": _drill("adjoints", 4),
    "orders": _drill("orders", 4, _order, ORDERS),
    "messages": _drill("messages", 4, _message, MESSAGES),
    "shapes": _drill("shapes", 2, _tiles, SHAPES),
    "mlp": _drill("mlp", 2),
    "keep": _drill("keep", 3, _kept, _kept_asks),
    "costs": _drill("costs", 2),
    "equations": _drill("equations", 2, _typed, EQUATIONS),
}
