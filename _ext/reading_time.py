"""Whether a page fits a sitting: its reading time, computed, and the bounds that chapters keep to.

Reading goes at 200 words a minute; a visible line of code takes 5 s, a figure 20 s, a displayed
formula 30 s. What a reader has to unfold counts apart, and the code under a bar of its own not at
all. Exercises are done and not read. Both times stand in the box at the top of the page.

A chapter has bounds: of the minutes of its main line, of how much of the height is code, and of
where the first figure begins, which is above any code. On every page, no bar unfolds to nothing.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx_exercise.nodes import is_exercise_enumerable_node, is_exercise_node, is_solution_node

from cells import is_check, is_code, is_part
from folds import is_folded

LOG = logging.getLogger(__name__)

STARS = {1: 5, 2: 15, 3: 30}  # minutes that an exercise takes
MAIN_MINUTES, COURSE_MINUTES, CODE_PERCENT, PICTURE_BY = 45, 600, 40, 3 * 900  # at most
# Pixels of a desktop screen, as measured in Chromium, where 12.5 words fill a line of text; a gap
# lies between two blocks, and a cell has room for its buttons.
WIDTH, GAP, BAR = 912, 25, 26
TEXT_LINE, CODE_LINE, BUTTONS, ROW, FORMULA_ROW, PLAYER, FIGURE = 26, 17.5, 65, 44, 34, 520, 300

SVG = re.compile(r'<svg\b[^>]*\bwidth="([\d.]+)"[^>]*\bheight="([\d.]+)"')
TAG = re.compile(r"<[^>]*>")
IS_EXERCISE = (is_exercise_node, is_exercise_enumerable_node)


@dataclass
class Span:
    """What there is to read in a part of a page; `code` are visible lines."""

    words: int = 0
    code: int = 0
    figures: int = 0
    formulas: int = 0

    @property
    def minutes(self) -> float:
        return self.words / 200 + (5 * self.code + 20 * self.figures + 30 * self.formulas) / 60


@dataclass
class Sitting:
    """A page by its parts, and how its main line lies on the screen."""

    main: Span = field(default_factory=Span)
    deeper: Span = field(default_factory=Span)
    exercises: Span = field(default_factory=Span)
    levels: list[int] = field(default_factory=list)  # of each exercise, its stars
    height: float = 0.0
    code_height: float = 0.0
    picture_at: float | None = None
    code_above_picture: int = 0
    empty_bars: int = 0

    @property
    def code_percent(self) -> float:
        return 100 * self.code_height / self.height if self.height else 0.0

    @property
    def shows_early(self) -> bool:
        at = self.picture_at
        return at is not None and at <= PICTURE_BY and not self.code_above_picture


def word_count(node: nodes.Node) -> int:
    """Words, each formula in the text counted as one."""
    if isinstance(node, nodes.math):
        return 1
    if isinstance(node, nodes.Text):
        return len(node.split())
    return sum(map(word_count, node.children))


def drawn_height(html: str) -> float:
    """The height of the drawings in a piece of HTML, set side by side where there is room."""
    if "chaingrad-player" in html or "chaingrad-moving" in html:
        return PLAYER
    total = left = highest = 0.0
    for width, height in ((float(w), float(h)) for w, h in SVG.findall(html)):
        if left + width > WIDTH:
            total, left, highest = total + highest, 0.0, 0.0
        left, highest = left + width, max(highest, height)
    return total + highest or FIGURE


def shows_nothing(code: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in code.splitlines())


class Reader:
    """Goes through a page once, from top to bottom."""

    def __init__(self, document: nodes.document) -> None:
        self.sitting = Sitting()
        self.span = self.sitting.main
        self.read(document)

    def read(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.comment | nodes.raw | nodes.substitution_definition):
            return
        if any(is_kind(node) for is_kind in IS_EXERCISE):
            self.sitting.levels.append(node.children[0].astext().count("★"))
        part = self.part_of(node)
        if part is not self.span:
            self.apart(node, part)
        elif is_code(node):
            self.cell(node)
        elif isinstance(node, nodes.math_block):
            self.formula(node.astext())
        elif isinstance(node, nodes.image):
            self.figure(FIGURE)
        elif isinstance(node, nodes.literal_block):
            self.code(node.astext())
        elif isinstance(node, nodes.row):
            self.span.words += word_count(node)
            self.down(ROW - GAP)
        elif isinstance(node, nodes.TextElement):
            self.text(word_count(node))
        else:
            for child in node.children:
                self.read(child)

    def part_of(self, node: nodes.Node) -> Span:
        """The part that a node opens; the present one for a node that opens none."""
        if self.span is not self.sitting.main or not isinstance(node, nodes.Element):
            return self.span
        in_exercises = isinstance(node, nodes.section) and node[0].astext() == "Exercises"
        if in_exercises or any(is_kind(node) for is_kind in (*IS_EXERCISE, is_solution_node)):
            return self.sitting.exercises
        return self.sitting.deeper if is_folded(node) else self.span

    def apart(self, node: nodes.Node, part: Span) -> None:
        if is_folded(node):
            self.down(BAR)
            self.sitting.empty_bars += len(node.children) < 2
        outer, self.span = self.span, part
        for child in node.children:
            self.read(child)
        self.span = outer

    def down(self, height: float) -> None:
        if self.span is self.sitting.main:
            self.sitting.height += height + GAP

    def text(self, words: int) -> None:
        self.span.words += words
        self.down(TEXT_LINE * math.ceil(words / 12.5))

    def formula(self, tex: str) -> None:
        self.span.formulas += 1
        self.down(20 + FORMULA_ROW * (1 + tex.count(r"\\")))

    def figure(self, height: float) -> None:
        self.span.figures += 1
        if self.span is self.sitting.main and self.sitting.picture_at is None:
            self.sitting.picture_at = self.sitting.height
            self.sitting.code_above_picture = self.span.code
        self.down(height)

    def code(self, source: str) -> None:
        lines = len(source.strip("\n").splitlines())
        self.span.code += lines
        height = CODE_LINE * lines + BUTTONS
        if self.span is self.sitting.main:
            self.sitting.code_height += height
        self.down(height)

    def cell(self, cell: nodes.container) -> None:
        tags = {name.removeprefix("tag_") for name in cell["classes"]}
        hides_code, hides_output = tags & {"hide-input", "hide-cell"}, tags & {"hide-output"}
        for part in cell.children:
            if is_part(part, "cell_code_source"):
                if hides_code:
                    self.down(BAR)
                    self.sitting.empty_bars += shows_nothing(part.astext())
                else:
                    self.code(part.astext())
            elif hides_output:
                self.down(BAR)
            elif "hide-cell" not in tags and not is_check(cell):
                self.outputs(part)

    def outputs(self, output: nodes.Node) -> None:
        for shown in output.children:
            if is_part(shown, "mime_bundle"):
                forms = (form for form in shown.findall(nodes.container) if "mime_type" in form)
                self.bundle({form["mime_type"]: form.astext() for form in forms})
            elif isinstance(shown, nodes.literal_block):
                self.printed(shown.astext())
            else:
                self.outputs(shown)

    def bundle(self, kinds: dict[str, str]) -> None:
        """One result of a cell, in the form that the site shows."""
        html = kinds.get("text/html", "")
        if SVG.search(html) or "<canvas" in html or "chaingrad-" in html:
            self.figure(drawn_height(html))
        elif html:
            self.span.words += len(TAG.sub(" ", html).split())
            self.down(ROW * max(1, html.count("<tr")))
        elif any(kind.startswith("image/") for kind in kinds):
            self.figure(FIGURE)
        elif "text/latex" in kinds:
            self.formula(kinds["text/latex"])
        else:
            self.printed(kinds.get("text/plain", ""))

    def printed(self, text: str) -> None:
        """What a cell prints is read with its code: it takes room, and no time of its own."""
        if text.strip():
            self.down(CODE_LINE * len(text.strip().splitlines()) + 17)


def rounded(minutes: float) -> int:
    return max(5, 5 * round(minutes / 5))


def reading_time(sitting: Sitting) -> str:
    """In words, to five minutes: ``35 min, deeper parts 15``."""
    deeper = sitting.deeper.minutes
    words = f"{rounded(sitting.main.minutes)} min"
    return f"{words}, deeper parts {rounded(deeper)}" if deeper >= 1 else words


def exercise_time(levels: list[int]) -> str:
    """How many there are of each level, and the minutes of all: ``1 ★, 4 ★★, about 65 min``."""
    each = [f"{levels.count(stars)}\u00a0{'★' * stars}" for stars in STARS if stars in levels]
    return ", ".join([*each, f"about {sum(map(STARS.__getitem__, levels))} min"])


def state_time(document: nodes.document, sitting: Sitting) -> None:
    """Write the reading time into the box at the top, after the level."""
    for box in document.findall(nodes.admonition):
        if "at-a-glance" not in box["classes"]:
            continue
        line = next(box.findall(nodes.paragraph))
        time = [nodes.strong("", "Reading time"), nodes.Text(f" {reading_time(sitting)} · ")]
        named = {part.astext() for part in line.findall(nodes.strong)}
        if sitting.levels and "Exercises" not in named:  # a project says its own
            told = exercise_time(sitting.levels)
            time += [nodes.strong("", "Exercises"), nodes.Text(f" {told} · ")]
        names = (i for i, part in enumerate(line) if isinstance(part, nodes.strong))
        place = next((i for i in names if line[i].astext() == "Prerequisites"), len(line))
        line[place:place] = time


def emptiness(sitting: Sitting) -> Iterator[str]:
    if sitting.empty_bars:
        yield f"{sitting.empty_bars} bars unfold to nothing: take them out, or put them around code"


def misses(sitting: Sitting) -> Iterator[str]:
    """What a chapter misses, and by how much."""
    if sitting.main.minutes > MAIN_MINUTES:
        yield (
            f"the main line takes {sitting.main.minutes:.0f} minutes, the most is {MAIN_MINUTES}: "
            "move parts to their home, or fold what only some need"
        )
    if sitting.code_percent > CODE_PERCENT:
        yield (
            f"code takes {sitting.code_percent:.0f} % of the height, the most is {CODE_PERCENT} %: "
            "fold plumbing (hide-input), and cells that prove a side claim"
        )
    if not sitting.shows_early:
        at, above = sitting.picture_at, sitting.code_above_picture
        where = "there is none"
        if at is not None:
            where = f"it begins at {at:.0f} pixels, below {above} lines of code"
        yield f"the first figure has to begin within {PICTURE_BY} pixels, above any code: {where}"


def read_page(app: Sphinx, document: nodes.document) -> None:
    sitting = Reader(document).sitting
    app.env.metadata[app.env.docname]["sitting"] = sitting
    state_time(document, sitting)


def check(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of every bound that is missed, and write down what was measured."""
    sittings = {page: told["sitting"] for page, told in env.metadata.items() if "sitting" in told}
    chapters = [page for page in sittings if env.toc_secnumbers.get(page)]
    for page, sitting in sittings.items():
        wrong = [*emptiness(sitting)]
        if page in chapters:
            wrong += misses(sitting)
        for miss in wrong:
            LOG.warning(miss, location=page)
    whole = sum(sittings[page].main.minutes for page in chapters)
    if whole > COURSE_MINUTES:
        miss = (
            f"the main lines of all chapters take {whole:.0f} minutes, the most is {COURSE_MINUTES}"
        )
        LOG.warning(miss)
    target = Path(app.doctreedir) / "sittings.json"
    target.write_text(json.dumps({page: asdict(sittings[page]) for page in chapters}))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", read_page)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
