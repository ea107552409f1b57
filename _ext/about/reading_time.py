"""State how long each page takes to read, and hold chapters to what fits a sitting.

Reading goes at 200 words a minute; a visible line of code takes 5 s, a figure 20 s, a displayed
formula 30 s. What a reader has to unfold counts apart, and the code under a bar of its own not at
all. Exercises are done and not read. Both times stand in the box at the top of the page.

A chapter's main line takes at most 45 minutes, and no bar on any page unfolds to nothing. A chapter
keeps to `BOUNDS`; one that needs more says so in its front matter, and says why:

    bounds: {words: 2600, screens: 15, because: it walks through all numbers by hand}

What depends on the screen, `tests/site` measures in a browser.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx_exercise.nodes import is_exercise_enumerable_node, is_exercise_node, is_solution_node

from common.cells import TAG, is_check, is_code, is_figure, is_part, results
from look.folds import is_about_checks, is_folded
from predict import predict

LOG = logging.getLogger(__name__)

STARS = {1: 5, 2: 15, 3: 30}  # minutes that an exercise takes
MAIN_MINUTES, COURSE_MINUTES = 45, 600  # at most

# What the main line of a chapter may have. Writers aim at 2,100 words; those above are for what a
# later correction adds, so that a better sentence never has to wait for a shorter page.
BOUNDS: dict[str, Any] = {
    "words": 2400,
    "visible": 60,  # percent of its lines of code, at least
    "folded": 6,  # cells
    "predictions": (3, 5),
    "screens": 13,  # in the site's own face, in which a page is a twentieth longer
}

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
class Measures:
    """A page by its parts."""

    main: Span = field(default_factory=Span)
    deeper: Span = field(default_factory=Span)
    exercises: Span = field(default_factory=Span)
    levels: list[int] = field(default_factory=list)  # the stars of each exercise
    folded_code: int = 0  # lines of the main line's cells that show only a bar
    folded_cells: int = 0
    predictions: int = 0  # before the exercises
    empty_bars: int = 0
    stated: dict[str, Any] = field(default_factory=dict)  # the page's own bounds

    @property
    def visible(self) -> float:
        """How much of the main line's code is visible, in percent."""
        lines = self.main.code + self.folded_code
        return 100 * self.main.code / lines if lines else 100.0

    @property
    def bounds(self) -> dict[str, Any]:
        return BOUNDS | self.stated


def word_count(node: nodes.Node) -> int:
    """Count the words; a formula within the text counts as one word."""
    if isinstance(node, nodes.math):
        return 1
    if isinstance(node, nodes.Text):
        return len(node.split())
    return sum(map(word_count, node.children))


def line_count(code: str) -> int:
    return len(code.strip("\n").splitlines())


def shows_nothing(code: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in code.splitlines())


class Reader:
    """Goes through a page once, from top to bottom."""

    def __init__(self, document: nodes.document) -> None:
        self.measures = Measures()
        self.span = self.measures.main
        self.uncounted = Span()
        self.prose: list[nodes.Element] = []  # of the main line: its texts and displayed formulas
        self.read(document)

    def read(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.comment | nodes.raw | nodes.substitution_definition):
            return
        if isinstance(node, predict) and self.span is self.measures.main:
            self.measures.predictions += 1
        if any(is_kind(node) for is_kind in IS_EXERCISE):
            self.measures.levels.append(node.children[0].astext().count("★"))
        part = self.part_of(node)
        if part is not self.span:
            self.read_separately(node, part)
        elif is_code(node):
            self.cell(node)
        elif isinstance(node, nodes.math_block):
            self.span.formulas += 1
            self.note(node)
        elif isinstance(node, nodes.image):
            self.figure()
        elif isinstance(node, nodes.literal_block):
            self.code(node.astext())
        elif isinstance(node, nodes.row | nodes.TextElement):
            self.span.words += word_count(node)
            self.note(node)
        else:
            for child in node.children:
                self.read(child)

    def part_of(self, node: nodes.Node) -> Span:
        """Return the part of the page that a node opens, or the current part if it opens none."""
        if self.span is not self.measures.main or not isinstance(node, nodes.Element):
            return self.span
        in_exercises = isinstance(node, nodes.section) and node[0].astext() == "Exercises"
        if is_about_checks(node):
            return self.uncounted
        if in_exercises or any(is_kind(node) for is_kind in (*IS_EXERCISE, is_solution_node)):
            return self.measures.exercises
        return self.measures.deeper if is_folded(node) else self.span

    def read_separately(self, node: nodes.Node, part: Span) -> None:
        if is_folded(node):
            self.measures.empty_bars += len(node.children) < 2
        outer, self.span = self.span, part
        for child in node.children:
            self.read(child)
        self.span = outer

    def note(self, node: nodes.Element) -> None:
        if self.span is self.measures.main:
            self.prose.append(node)

    def figure(self) -> None:
        self.span.figures += 1

    def code(self, source: str) -> None:
        self.span.code += line_count(source)

    def folded(self, source: str) -> None:
        self.measures.empty_bars += shows_nothing(source)
        if self.span is self.measures.main:
            self.measures.folded_code += line_count(source)
            self.measures.folded_cells += 1

    def cell(self, cell: nodes.container) -> None:
        tags = {name.removeprefix("tag_") for name in cell["classes"]}
        hides_code, hides_output = tags & {"hide-input", "hide-cell"}, tags & {"hide-output"}
        for part in cell.children:
            if is_part(part, "cell_code_source"):
                if hides_code:
                    self.folded(part.astext())
                else:
                    self.code(part.astext())
            elif not hides_output and "hide-cell" not in tags and not is_check(cell):
                self.outputs(part)

    def outputs(self, output: nodes.Node) -> None:
        """Read what a cell shows; printed text is read with the code and takes no extra time."""
        for forms in results(output):
            if is_figure(forms):
                self.figure()
            elif html := forms.get("text/html", ""):
                self.span.words += len(TAG.sub(" ", html).split())
            elif "text/latex" in forms:
                self.span.formulas += 1


def rounded(minutes: float) -> int:
    return max(5, 5 * round(minutes / 5))


def reading_time(measures: Measures) -> str:
    """Write the reading time in words, to five minutes: ``35 min, deeper parts 15``."""
    deeper = measures.deeper.minutes
    words = f"{rounded(measures.main.minutes)} min"
    return f"{words}, deeper parts {rounded(deeper)}" if deeper >= 2.5 else words


def exercise_time(levels: list[int]) -> str:
    """Count the exercises of each level and sum their minutes: ``1 ★, 4 ★★, about 65 min``."""
    each = [f"{levels.count(stars)}\u00a0{'★' * stars}" for stars in STARS if stars in levels]
    return ", ".join([*each, f"about {sum(map(STARS.__getitem__, levels))} min"])


def state_time(document: nodes.document, measures: Measures) -> None:
    """Write the reading time into the box at the top, after the level."""
    for box in document.findall(nodes.admonition):
        if "at-a-glance" not in box["classes"]:
            continue
        line = next(box.findall(nodes.paragraph))
        time = [nodes.strong("", "Reading time"), nodes.Text(f" {reading_time(measures)} · ")]
        named = {part.astext() for part in line.findall(nodes.strong)}
        if measures.levels and "Exercises" not in named:  # a project states its own time
            told = exercise_time(measures.levels)
            time += [nodes.strong("", "Exercises"), nodes.Text(f" {told} · ")]
        names = (i for i, part in enumerate(line) if isinstance(part, nodes.strong))
        place = next((i for i in names if line[i].astext() == "Prerequisites"), len(line))
        line[place:place] = time


def emptiness(measures: Measures) -> Iterator[str]:
    if measures.empty_bars:
        count = measures.empty_bars
        yield f"{count} bars unfold to nothing: take them out, or put them around code"


def missed_time(measures: Measures) -> Iterator[str]:
    if measures.main.minutes > MAIN_MINUTES:
        yield (
            f"the main line takes {measures.main.minutes:.0f} minutes, the most is {MAIN_MINUTES}: "
            "move parts to their home, or fold what only some need"
        )


def missed_bounds(measures: Measures) -> Iterator[str]:
    """Yield each bound that a told page misses, and by how much."""
    unknown = measures.stated.keys() - BOUNDS.keys() - {"because"}
    if unknown or (measures.stated and "because" not in measures.stated):
        yield f"bounds: name some of {', '.join(BOUNDS)}, and the reason as `because`"
    bounds, words = measures.bounds, measures.main.words
    if words > bounds["words"]:
        yield (
            f"the main line has {words:,} words, the most is {bounds['words']:,}: "
            "move asides and second examples to the atlas"
        )
    if measures.visible < bounds["visible"]:
        yield (
            f"{int(measures.visible)} % of the main line's code is visible, the least is "
            f"{bounds['visible']} %: move what draws figures into chainlab.lessons"
        )
    if measures.folded_cells > bounds["folded"]:
        yield (
            f"the main line has {measures.folded_cells} folded cells, the most is "
            f"{bounds['folded']}: move checks to the section that ends the page"
        )
    least, most = bounds["predictions"]
    if not least <= measures.predictions <= most:
        yield (
            f"{measures.predictions} predictions stand before the exercises: "
            f"{least} to {most} should"
        )


def read_page(app: Sphinx, document: nodes.document) -> None:
    measures = Reader(document).measures
    about = app.env.metadata[app.env.docname]
    measures.stated = json.loads(about.get("bounds", "{}"))  # as MyST keeps what isn't a text
    about["reading"] = measures
    state_time(document, measures)


def told_pages(env: BuildEnvironment) -> list[str]:
    """Return the chapters: the pages that have a number."""
    return [page for page in env.metadata if env.toc_secnumbers.get(page)]


def check(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn about each bound that a page misses, and write down what was measured."""
    pages = {page: told["reading"] for page, told in env.metadata.items() if "reading" in told}
    chapters = [page for page in pages if env.toc_secnumbers.get(page)]
    for page, measures in pages.items():
        wrong = [*emptiness(measures)]
        if page in chapters:
            wrong += [*missed_time(measures), *missed_bounds(measures)]
        for miss in wrong:
            LOG.warning(miss, location=page)
    whole = sum(pages[page].main.minutes for page in chapters)
    if whole > COURSE_MINUTES:
        miss = (
            f"the main lines of all chapters take {whole:.0f} minutes, the most is {COURSE_MINUTES}"
        )
        LOG.warning(miss)
    target = Path(app.doctreedir) / "reading.json"
    target.write_text(json.dumps({page: asdict(pages[page]) for page in chapters}))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", read_page)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
