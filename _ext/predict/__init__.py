"""Predict first: a question that stands before the cell that shows the result.

````md
```{predict} graph-wrong-order
:value: wrong-adjoint
What does `a.grad` hold if the nodes are handled in this order?

4
: That is the derivative. To get it, `b` would have to wait for all its children.

6
: `b` passes its gradient on twice, the first time too early.
```
````

The list gives the choices, and what is said of each; exactly one is right. It ends in a ✓, and the
next cell has to show it, or the page isn't built:

````md
6 ✓
: `b` passes its gradient on twice, the first time too early.
````

Without a ✓ the right one is what the page glues under the name in ``value``. With ``:number:`` the
reader types a number, and the list, which may then be missing, tells of usual wrong ones, and of
the right one.
Numbers agree within half of the last shown digit, so whole numbers and fractions are exact; where a
question asks for an estimate, ``:tolerance:`` says by what part of itself a number may be off.
``predict.js`` asks; without scripts, and in notebooks, the box is a question whose answer unfolds:
in the words of the right choice, if there is one.

The output that answers a question of the main line is veiled until the reader is right, has missed
twice or has skipped it, and so are the caption below it and a paragraph right behind that cell
which quotes the answer. The build marks what is veiled, and ``veil.js`` hides it.
With a ✓ it is the output of the next cell. Without one, it is the first output before the next
question or heading that shows the answer, or the first of all if none of them does.

If more of what follows gives the answer away, ``:giveaways:`` has words from each such part, with
semicolons between them: those of a paragraph, or those of a cell, whose output is veiled then.
Code, tables and boxes stay visible, as does what stands below the next question or heading:

````md
:giveaways: two arrows leave; draw_neuron()
````
"""

import ast
import re
from collections.abc import Iterable
from itertools import dropwhile, takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from myst_nb.ext.glue.utils import retrieve_glue_data
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import exercise_node

from common.cells import is_code, output_of, source_of, visible_output
from common.files import serve
from common.numbers import as_number, half_digit, numbers_in
from look.folds import depart_box, predict_answer, visit_box
from search.sections import collapse_spaces
from search.sections import plain as in_words

PARTS = Path(__file__).parent
ANSWER = "Answer"
COMPUTED = "What the page computes: "
MARK = "✓"
LOG = logging.getLogger(__name__)


class predict(nodes.Admonition, nodes.Element):  # noqa: N801
    """A question, its choices, and the box of its answer."""


def agree(text: str, value: str, tolerance: float | None = None) -> bool:
    """Return whether a choice is what the page computed, as far as the digits of both are shown."""
    number, wanted = as_number(text), as_number(value)
    if number is None or wanted is None:
        return text.strip() == value.strip()
    least = 1e-9 * max(1.0, abs(wanted))  # rounding
    if tolerance is None:
        return abs(number - wanted) <= max(half_digit(text), half_digit(readable(value))) + least
    return abs(number - wanted) <= tolerance * (abs(wanted) or 1.0)


def shows(output: str, claim: str) -> bool:
    """Return whether an output has what a question calls right, a number to its last digit.

    >>> shows("grad 5.50149", "5.501"), shows("grad 5.5", "5.501"), shows("It grows.", "grows")
    (True, False, True)
    """
    number = as_number(claim)
    if number is None:
        return collapse_spaces(claim) in collapse_spaces(output)
    least = 1e-9 * max(1.0, abs(number))
    return any(
        abs(value - number) <= half_digit(written if "/" in claim else claim) + least
        for written, value in numbers_in(output).items()
    )


def plain(shown: str) -> str:
    """Return the text of a glued object; a string comes without its quotes."""
    try:
        value = ast.literal_eval(shown)
    except (SyntaxError, ValueError):
        value = shown
    scalar = re.fullmatch(r"np\.\w+\((.*)\)", shown)
    return scalar[1] if scalar else str(value)


def readable(value: str) -> str:
    """Write a float as pages do, with four digits; leave what a page has formatted as it is.

    >>> readable("6.0"), readable("-0.3333333333333333"), readable("0.50"), readable("grows")
    ('6', '−0.3333', '0.50', 'grows')
    """
    number = as_number(value)
    if number is not None and value == repr(number):
        whole = number.is_integer() and abs(number) < 1e15
        value = f"{number:.0f}" if whole else f"{number:.4g}"
    return value if number is None else re.sub("^-", "−", value)


class Predict(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec = {  # noqa: RUF012
        "value": directives.unchanged_required,
        "number": directives.flag,
        "tolerance": float,
        "giveaways": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        name, tolerance = self.arguments[0], self.options.get("tolerance")
        content = self.parse_content_to_nodes()
        known = [item for node in content for item in node.findall(nodes.definition_list_item)]
        asked = [node for node in content if not isinstance(node, nodes.definition_list)]
        right = [i for i, item in enumerate(known) if unmark(item.children[0])]
        if len(right) > 1:
            raise self.error(f"{name}: {len(right)} choices are marked {MARK}: one should be")
        is_marked = bool(right)
        if is_marked:
            value = known[right[0]][0].astext()
        else:
            value = plain(self.glued(self.options.get("value", name)))
            right = [i for i, item in enumerate(known) if agree(item[0].astext(), value, tolerance)]
        asks_number = "number" in self.options
        if asks_number and as_number(value) is None:
            raise self.error(f"{name}: asks for a number, but the page computes {value!r}")
        if not asks_number and len(right) != 1:
            raise self.error(
                f"{name}: {len(right)} choices match what the page computes, {value}: one should"
            )
        said = known[right[0]][0].deepcopy().children if right else [nodes.Text(readable(value))]
        claim = "".join(node.astext() for node in said)
        box = predict("", *asked, ids=[f"predict-{name}"], claim=claim, held=is_marked)
        box["giveaways"] = self.options.get("giveaways", "").split(";")
        self.set_source_info(box)
        asks = collapse_spaces(" ".join(map(in_words, asked)))
        box["data"] = {
            "name": name,
            "asked": asks,
            "right": as_number(value) if asks_number else right[0],
        }
        if asks_number:
            box["data"]["within"] = (
                half_digit(readable(value))
                if tolerance is None
                else tolerance * (abs(as_number(value) or 0.0) or 1.0)
            )
        if not asks_number:
            box += choices(known)
        box += answer(said, known)
        return [box]

    def glued(self, key: str) -> str:
        return str(retrieve_glue_data(self.state.document, key).data["text/plain"])


def unmark(term: nodes.Node) -> bool:
    """Take the ✓ from the end of a choice; return whether there was one."""
    last = term.children[-1]
    if not isinstance(last, nodes.Text) or not last.rstrip().endswith(MARK):
        return False
    last.parent.replace(last, nodes.Text(last.rstrip().removesuffix(MARK).rstrip()))
    return True


def hold_to_cells(_: Sphinx, document: nodes.document) -> None:
    """Warn if a result that a question marks as right is not what its next cell shows."""
    for box in filter(itemgetter("held"), document.findall(predict)):
        cell = next_cell(box)
        if cell is None or not shows(output_of(cell), box["claim"]):
            name = box["data"]["name"]
            LOG.warning("%s: the next cell doesn't show %s", name, box["claim"], location=box)


def next_cell(box: predict) -> nodes.container | None:
    later = box.findall(include_self=False, siblings=True, ascend=True)
    return next(filter(is_code, later), None)


def near(box: predict) -> Iterable[nodes.Node]:
    """Return what stands behind a question, or several in a row, to the next one or heading."""
    rest = box.findall(include_self=False, descend=False, siblings=True)
    behind = dropwhile(lambda node: isinstance(node, predict), rest)
    return takewhile(lambda node: not isinstance(node, predict | nodes.section), behind)


def giveaways(box: predict) -> Iterable[nodes.Element]:
    """Yield the parts that have the words of a question's giveaways; warn if none has."""
    for words in filter(None, map(collapse_spaces, box["giveaways"])):
        found = False
        for part in near(box):
            is_cell = is_code(part)
            if not isinstance(part, nodes.Element) or not (
                is_cell or isinstance(part, nodes.paragraph)
            ):
                continue
            text = f"{source_of(part)}\n{output_of(part)}" if is_cell else part.astext()
            veiled = visible_output(part) if is_cell else part
            if veiled and words in collapse_spaces(text):
                found = True
                yield veiled
        if not found:
            LOG.warning("%s: nothing behind it says %r", box["data"]["name"], words, location=box)


def answering_output(box: predict) -> nodes.container | None:
    """Return the output that answers a question; None if none does, or it is folded."""
    if box["held"]:
        cell = next_cell(box)
        return visible_output(cell) if cell else None
    cells = [cell for cell in near(box) if is_code(cell) and "%%writefile" not in source_of(cell)]
    outputs = filter(None, map(visible_output, cells))
    return min(outputs, key=lambda output: not shows(output_of(output), box["claim"]), default=None)


def is_on_main_line(box: predict) -> bool:
    """Return whether only sections are around a question: no exercise, and nothing folded."""
    around = box.parent
    while isinstance(around, nodes.section):
        around = around.parent
    return isinstance(around, nodes.document)


def mark_answers(_: Sphinx, document: nodes.document) -> None:
    """Mark what is veiled until a question is answered; questions with one answer share a veil."""
    asked: dict[nodes.container, list[predict]] = {}
    for box in filter(is_on_main_line, document.findall(predict)):
        if output := answering_output(box):
            asked.setdefault(output, []).append(box)
    for output, boxes in asked.items():
        veiled = [output, *(part for box in boxes for part in giveaways(box))]
        behind = output.parent.next_node(descend=False, siblings=True)
        if isinstance(behind, nodes.paragraph):
            text = behind.astext()
            if any(shows(text, box["claim"]) for box in boxes):
                veiled.append(behind)
        veiled += list(filter(None, map(caption, veiled)))
        name = boxes[0]["data"]["name"]
        for part in veiled:
            part["classes"] = list(dict.fromkeys([*part["classes"], f"answers-{name}"]))
        for box in boxes:
            box["data"]["veil"] = name


def caption(output: nodes.Element) -> nodes.paragraph | None:
    behind = output.parent.next_node(descend=False, siblings=True)
    if not is_code(output.parent) or not isinstance(behind, nodes.paragraph):
        return None
    return behind if "caption" in behind["classes"] else None


def choices(known: list[nodes.definition_list_item]) -> nodes.bullet_list:
    texts = (nodes.paragraph("", "", *item[0].deepcopy().children) for item in known)
    items = (nodes.list_item("", text) for text in texts)
    return nodes.bullet_list("", *items, classes=["predict-choices"])


def answer(said: Iterable[nodes.Node], known: list[nodes.definition_list_item]) -> predict_answer:
    """Build the folded box: its title gives nothing away, its first line says what is right."""
    box = predict_answer("", nodes.title("", ANSWER), classes=["dropdown"])
    box += nodes.paragraph("", COMPUTED, nodes.strong("", "", *said))
    if known:
        box += nodes.definition_list("", *known)
    return box


def visit_predict(self: HTML5Translator, node: predict) -> None:
    data: dict[str, Any] = {f"data-{key}": str(value) for key, value in node["data"].items()}
    self.body.append(self.starttag(node, "div", CLASS="predict", **data))


def depart_predict(self: HTML5Translator, node: predict) -> None:
    self.body.append("</div>\n")


def list_predictions(app: Sphinx, document: nodes.document) -> None:
    """Record what a page asks for the progress page; add the title of the exercise around it."""
    found = app.env.metadata[app.env.docname]["predictions"] = {}
    for box in document.findall(predict):
        around = box.parent
        while not isinstance(around, exercise_node | nodes.document):
            around = around.parent
        title = around.next_node(nodes.title) if around.parent else None
        about = re.sub(r"^Exercise[\s★]*", "", title.astext()) if title else ""
        found[box["data"]["name"]] = ": ".join(filter(None, [about, box["data"]["asked"]]))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(predict, html=(visit_predict, depart_predict))
    app.add_node(predict_answer, html=(visit_box, depart_box))
    app.add_directive("predict", Predict)
    app.connect("doctree-read", list_predictions)
    app.connect("doctree-read", hold_to_cells)
    app.connect("doctree-read", mark_answers)
    serve(app, PARTS / "predict.bundle.js", PARTS / "veil.js", PARTS / "predict.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
