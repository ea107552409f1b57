"""A page as Markdown that plain Jupyter and Colab render, and as code cells.

What the reader of the page sees is resolved in its document tree already: the numbers of
equations and exercises, references, citations, results glued into the text. Here that tree is
written down without directives or roles.
"""

import base64
import mimetypes
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinxcontrib.bibtex.domain import BibtexDomain

from common.cells import is_code, source_of

logger = logging.getLogger(__name__)

ANCHORED_HEADING = re.compile(r"(<a id=.*\n\n)?#+ ")
SELF_NUMBERING = re.compile(r"\\(begin|end)\{(align|gather|alignat)\*?\}")
SINGLE = re.compile(r"\\(begin|end)\{(equation|multline)\*?\}")


@dataclass
class CodeCell:
    """A code cell of the page; `folded` where its source is hidden at first."""

    source: str
    tags: list[str] = field(default_factory=list)
    folded: bool = False


Block = str | CodeCell


def escape(text: str) -> str:
    """Return Markdown that shows the text as it is."""
    text = re.sub(r"([\\`*<$]|\](?=[(\[:]))", r"\\\1", text)
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)


def indent(text: str, first: str, rest: str) -> str:
    """Put one prefix before the first line of the text and another before each other line."""
    head, *tail = text.split("\n")
    return "\n".join([first + head, *((rest + line).rstrip() for line in tail)])


def block_quote(text: str) -> str:
    """Quote the text; formulas go on one line each, or Jupyter would read `>` into them."""
    formula = re.compile(r"^\$\$\n(.*?)\n\$\$$", re.DOTALL | re.MULTILINE)
    return indent(formula.sub(lambda m: f"$$ {' '.join(m[1].split())} $$", text), "> ", "> ")


def details(title: str, body: str) -> str:
    return f"<details>\n<summary><b>{title}</b></summary>\n\n{body}\n\n</details>"


def fence(text: str, least: int) -> str:
    """Return more backticks in a row than occur anywhere in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def anchor(names: Iterable[str]) -> str:
    return "".join(f'<a id="{name}" name="{name}"></a>' for name in names)


def own_title(node: nodes.Element) -> nodes.Element | None:
    first = node.children[0] if node.children else None
    return first if isinstance(first, nodes.title) else None


class Markdown:
    """The resolved document tree of one page, written as Markdown and cells.

    Methods are named after the classes of nodes: `block_…` yields what stands in blocks of its
    own, `inline_…` returns what stands in a line.
    """

    def __init__(self, app: Sphinx, document: nodes.document, name: str) -> None:
        self.app, self.name = app, name
        self.site = str(app.config.html_baseurl or "").removesuffix("/")
        self.numbers = app.env.toc_fignumbers.get(name, {})
        self.bibtex = cast(BibtexDomain, app.env.get_domain("cite"))
        self.citations = {c.citation_id: c for c in self.bibtex.citations}
        self.cited: dict[str, Any] = {}
        self.images: dict[str, Path] = {}
        self.in_table = False
        self.linked = {self.target(node) for node in document.findall(nodes.reference)}
        self.items = list(self.blocks(document, 0))
        if self.cited:
            self.items.append(self.bibliography())

    def cells(self) -> Iterator[Block]:
        """Yield code cells and the Markdown between; a heading or an answer starts a new cell."""
        pieces: list[str] = []
        for item in [*self.items, None]:
            alone = isinstance(item, str) and item.startswith("<details>")
            new = not isinstance(item, str) or alone or ANCHORED_HEADING.match(item)
            if pieces and (new or pieces[-1].startswith("<details>")):
                yield "\n\n".join(pieces)
                pieces = []
            if isinstance(item, str):
                pieces.append(item)
            elif item is not None:
                yield item

    def attachments(self) -> dict[str, dict[str, str]]:
        """Return the images of the page by name, as a notebook stores them."""
        found = {}
        for name, path in self.images.items():
            kind = mimetypes.guess_type(name)[0] or "image/png"
            found[name] = {kind: base64.b64encode(path.read_bytes()).decode()}
        return found

    def method(self, prefix: str, node: nodes.Node) -> Callable[..., Any] | None:
        """Return the method for a node's class, or for its nearest base class that has one."""
        names = (f"{prefix}_{cls.__name__}" for cls in type(node).__mro__)
        return next((getattr(self, name) for name in names if hasattr(self, name)), None)

    # Blocks

    def blocks(self, node: nodes.Node, level: int) -> Iterator[Block]:
        for child in node.children:
            yield from self.block(child, level)

    def block(self, node: nodes.Node, level: int) -> Iterator[Block]:
        if isinstance(node, nodes.title | nodes.Invisible | addnodes.toctree):
            return
        if is_code(node):
            yield self.cell(node)
            return
        method = self.method("block", node)
        if method is None or not isinstance(node, nodes.Element):
            name = type(node).__name__
            logger.warning("no Markdown for <%s> in a notebook", name, location=node)
            return
        items = method(node, level)
        wanted = [name for name in node["ids"] if name in self.linked]
        if wanted:
            first = next(items, "")
            yield f"{anchor(wanted)}\n\n{first}" if isinstance(first, str) else anchor(wanted)
            if not isinstance(first, str):
                yield first
        yield from items

    def text(self, node: nodes.Node) -> str:
        """Return the blocks of a node that holds no cells."""
        items = list(self.blocks(node, 5))
        if any(isinstance(item, CodeCell) for item in items):
            name = type(node).__name__
            logger.warning("a notebook cannot have a cell inside of a <%s>", name, location=node)
        return "\n\n".join(item for item in items if isinstance(item, str))

    def cell(self, node: nodes.Element) -> CodeCell:
        tags = node["cell_metadata"].get("tags", [])
        shown = [tag for tag in tags if tag != "hide-input"]
        return CodeCell(source_of(node), shown, "hide-input" in tags)

    def block_section(self, node: nodes.Element, level: int) -> Iterator[Block]:
        title = own_title(node)
        if title is not None:
            level += 1
            yield f"{'#' * level} {self.inline(title)}"
        yield from self.blocks(node, level)

    def block_container(self, node: nodes.Element, level: int) -> Iterator[Block]:
        if node.get("design_component") == "card":
            yield indent(self.text(node), "- ", "  ")
        else:
            yield from self.blocks(node, level)

    block_compound = block_figure = block_legend = block_glossary = block_container

    def block_TextElement(self, node: nodes.Element, level: int) -> Iterator[Block]:  # noqa: N802
        text = self.inline(node).strip()
        if text:
            yield re.sub(r"^([#+-]|\d+[.)])(?=\s)", r"\\\1", text)

    def block_rubric(self, node: nodes.Element, level: int) -> Iterator[Block]:
        yield f"**{self.inline(node)}**"

    def block_caption(self, node: nodes.Element, level: int) -> Iterator[Block]:
        yield self.numbered("figure", node)

    def numbered(self, kind: str, caption: nodes.Element) -> str:
        """Return the caption of a figure or table after its number."""
        ids = caption.parent["ids"] or [""]
        number = ".".join(map(str, self.numbers.get(kind, {}).get(ids[0], ())))
        name = f"**{self.app.config.numfig_format[kind] % number}** " if number else ""
        return name + self.inline(caption)

    def block_math_block(self, node: nodes.math_block, level: int) -> Iterator[Block]:
        text = node.astext().strip()
        if not node.get("nowrap") and r"\\" in text and r"\begin" not in text:
            text = f"\\begin{{split}}\n{text}\n\\end{{split}}"
        if node.get("number"):
            text = SINGLE.sub("", SELF_NUMBERING.sub(r"\\\1{\2ed}", text)).strip()
            text += f"\n\\tag{{{self.equation_number(node)}}}"
        yield f"$$\n{text}\n$$"

    def equation_number(self, node: nodes.math_block) -> str:
        """Return the number that the page shows beside the equation."""
        builder = SimpleNamespace(
            config=self.app.config, name=self.app.builder.name, fignumbers=self.numbers
        )
        writer: Any = SimpleNamespace(builder=builder)
        return get_node_equation_number(writer, node)

    def block_literal_block(self, node: nodes.Element, level: int) -> Iterator[Block]:
        text, language = node.astext().rstrip(), node.get("language", "")
        marks = fence(text, 3)
        yield f"{marks}{'' if language in ('default', 'none') else language}\n{text}\n{marks}"

    block_doctest_block = block_literal_block

    def block_raw(self, node: nodes.Element, level: int) -> Iterator[Block]:
        text = self.inline_raw(node).strip()
        if text and not text.startswith("<script"):
            yield text

    def block_image(self, node: nodes.Element, level: int) -> Iterator[Block]:
        yield self.inline_image(node)

    def block_transition(self, node: nodes.Element, level: int) -> Iterator[Block]:
        yield "---"

    def block_bullet_list(self, node: nodes.Element, level: int) -> Iterator[Block]:
        yield "\n".join(indent(self.text(item), "- ", "  ") for item in node.children)

    def block_enumerated_list(self, node: nodes.Element, level: int) -> Iterator[Block]:
        marks = [f"{node.get('start', 1) + i}. " for i in range(len(node.children))]
        yield "\n".join(
            indent(self.text(item), mark, " " * len(mark))
            for mark, item in zip(marks, node.children, strict=True)
        )

    def block_definition_list(self, node: nodes.Element, level: int) -> Iterator[Block]:
        items = []
        for item in node.children:
            terms = ", ".join(map(self.inline, item.findall(nodes.term)))
            meaning = "\n\n".join(map(self.text, item.findall(nodes.definition)))
            items.append(indent(f"**{terms}**\n\n{meaning}", "- ", "  "))
        yield "\n".join(items)

    def block_block_quote(self, node: nodes.Element, level: int) -> Iterator[Block]:
        yield block_quote(self.text(node))

    def block_table(self, node: nodes.Element, level: int) -> Iterator[Block]:
        title = own_title(node)
        if title is not None:
            yield self.numbered("table", title)
        self.in_table = True
        rows = [list(map(self.entry, row.children)) for row in node.findall(nodes.row)]
        self.in_table = False
        if not list(node.findall(nodes.thead)):
            rows.insert(0, [""] * len(rows[0]))
        rows.insert(1, ["---"] * len(rows[0]))
        yield "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def entry(self, node: nodes.Node) -> str:
        return "<br>".join(map(self.inline, node.children)).replace("\n", " ")

    # Boxes

    def block_Admonition(self, node: nodes.Element, level: int) -> Iterator[Block]:  # noqa: N802
        """Write a note as a quotation with a title."""
        title, body = self.box_title(node), self.text(node)
        if "dropdown" in node["classes"]:
            yield details(title, body)
        else:
            yield block_quote(f"**{title}**\n\n{body}")

    def box_title(self, node: nodes.Element) -> str:
        """Return a note's title; for a numbered box, kind, number and title: Exercise 2 (★ …)."""
        title = own_title(node)
        own = self.inline(title).strip() if title is not None else ""
        kind = node.get("type")
        if not kind:
            return own or node.tagname.capitalize()
        counted = self.numbers.get(kind, {})
        number = ".".join(map(str, counted.get(node["ids"][0], ())))
        own = re.sub(rf"^{kind}\s*(%s)?\s*", "", own, flags=re.IGNORECASE)
        return " ".join(filter(None, (kind.capitalize(), number, own)))

    def block_exercise_node(self, node: nodes.Element, level: int) -> Iterator[Block]:
        yield f"{'#' * (level + 1)} {self.box_title(node)}"
        yield from self.blocks(node, level + 1)

    block_exercise_enumerable_node = block_exercise_node

    def block_solution_node(self, node: nodes.Element, level: int) -> Iterator[Block]:
        """Fold a box with cells piece by piece: no HTML element can span several cells."""
        title, pieces = node.children[0].astext().strip(), []
        items = [*self.blocks(node, level + 1), None]
        if isinstance(items[0], CodeCell):
            yield f"**{title}**"
            title += ", continued"
        for item in items:
            if isinstance(item, str):
                pieces.append(item)
                continue
            if pieces:
                yield details(title, "\n\n".join(pieces))
                title, pieces = f"{title.removesuffix(', continued')}, continued", []
            if item is not None:
                item.folded = True
                yield item

    block_deeper = block_solution_node

    # In a line

    def inline(self, node: nodes.Node) -> str:
        if isinstance(node, nodes.Text):
            return self.cell_safe(escape(node.astext()))
        method = self.method("inline", node) or self.children
        return str(method(node))

    def children(self, node: nodes.Node) -> str:
        return "".join(map(self.inline, node.children))

    def cell_safe(self, text: str) -> str:
        return text.replace("|", r"\|") if self.in_table else text

    def inline_emphasis(self, node: nodes.Element) -> str:
        return f"*{self.children(node)}*"

    def inline_strong(self, node: nodes.Element) -> str:
        return f"**{self.children(node)}**"

    def inline_subscript(self, node: nodes.Element) -> str:
        return f"<sub>{self.children(node)}</sub>"

    def inline_superscript(self, node: nodes.Element) -> str:
        return f"<sup>{self.children(node)}</sup>"

    def inline_literal(self, node: nodes.Element) -> str:
        text = self.cell_safe(node.astext())
        marks, pad = fence(text, 1), " " if "`" in (text[:1], text[-1:]) else ""
        return f"{marks}{pad}{text}{pad}{marks}"

    def inline_math(self, node: nodes.Element) -> str:
        text = " ".join(node.astext().split())
        if self.in_table:
            text = text.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
        return f"${text}$"

    def inline_raw(self, node: nodes.Element) -> str:
        return node.astext() if "html" in node["format"].split() else ""

    def inline_image(self, node: nodes.Element) -> str:
        address = node["uri"]
        if not urlsplit(address).scheme:
            path = Path(self.app.srcdir) / address
            self.images[path.name] = path
            address = f"attachment:{path.name}"
        return f"![{escape(node.get('alt', ''))}]({address})"

    def inline_reference(self, node: nodes.Element) -> str:
        text, address = self.children(node), self.address(node)
        return f"[{text}]({address})" if text and address else text

    # Where references lead

    def path(self, address: str) -> str:
        """Return the path in the site for an address relative to this page."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.name), address))

    def target(self, node: nodes.Element) -> str:
        """Return the anchor of this page that a reference leads to; "" if it leads elsewhere."""
        if "refid" in node:
            return str(node["refid"])
        document, _, fragment = str(node.get("refuri", "")).partition("#")
        here = not document or self.path(document) == f"{self.name}.html"
        return fragment if here else ""

    def address(self, node: nodes.Element) -> str:
        """Return a link's address in the notebook, in the published site, or anywhere else."""
        uri, target = str(node.get("refuri", "")), self.target(node)
        if target:
            return f"#{target}"
        if not uri or urlsplit(uri).scheme:
            return uri
        document, mark, fragment = uri.partition("#")
        citation = self.citations.get(fragment)
        if citation and self.path(document) == f"{citation.bibliography_key.docname}.html":
            self.cited[citation.key] = citation
            return f"#ref-{citation.key}"
        return f"{self.site}/{self.path(document)}{mark}{fragment}" if self.site else ""

    def bibliography(self) -> str:
        """List the works that this page cites."""
        entries = []
        for key, citation in self.cited.items():
            parts = citation.formatted_entry.text.render(self.bibtex.backend)
            entries.append(("".join(map(self.inline, parts)), key))
        lines = [f"- {anchor([f'ref-{key}'])}{text}" for text, key in sorted(entries)]
        return "## References\n\n" + "\n".join(lines)
