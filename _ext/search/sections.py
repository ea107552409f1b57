"""What a page's sections say: titles, prose and code apart, formulas as plain characters."""

import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx_exercise.nodes import is_solution_node

from common.cells import is_part
from formulas import FormulaError, typeset
from look.folds import is_about_checks, predict_answer

MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
ACCENTS = {"ˉ": "\u0304", "¯": "\u0304", "ˆ": "\u0302", "^": "\u0302", "˙": "\u0307", "~": "\u0303"}
MARKS = "⊤′″∗"  # these need no ^ before them
RELATIONS = set("=≠<>≤≥≈→←∈")
SKIPPED = (nodes.raw, nodes.image, nodes.comment, nodes.target, addnodes.toctree)
ABOUT = {"at-a-glance", "run-with"}  # boxes that say something of the page, and not of its subject
ASKED = "asked:"  # how a comment begins that says in what words readers ask for its section


@dataclass
class Section:
    """One place that a search can lead to."""

    id: str
    title: str
    within: str = ""  # the section around it, below the page's own title
    text: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)  # found, and never shown; without their code
    asked: list[str] = field(default_factory=list)  # found, and never shown

    def entry(self) -> dict[str, Any]:
        return asdict(self) | {
            "text": collapse_spaces(" ".join(self.text)),
            "code": "\n".join(self.code),
            "answers": collapse_spaces(" ".join(self.answers)),
            "asked": collapse_spaces(" ".join(self.asked)),
        }


def collapse_spaces(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def superscript(sign: str, text: str) -> str:
    """Write an index or a power, in brackets if it needs them; a prime has no sign."""
    if text in MARKS:
        return text
    bare = len(text) == 1 or sign == "_" or text.startswith("(")
    return sign + (text if bare else f"({text})")


def linear(element: ET.Element) -> str:
    """Write a MathML element as one line: fractions with a slash, powers with a ^."""
    tag = element.tag.rpartition("}")[2]
    if tag == "annotation":
        return ""
    parts = [linear(child) for child in element]
    if tag == "mfrac":
        return "/".join(f"({part})" if len(part) > 3 else part for part in parts)
    if tag == "msqrt":
        return f"√({''.join(parts)})"
    if tag == "mover" and parts[1] in ACCENTS:
        return unicodedata.normalize("NFC", parts[0] + ACCENTS[parts[1]])
    if tag in ("msub", "msup", "msubsup"):
        signs = "^" if tag == "msup" else "_^"
        return parts[0] + "".join(map(superscript, signs, parts[1:]))
    if tag == "mo" and element.text in RELATIONS:
        return f" {element.text} "
    if tag == "mtr":
        return f"{''.join(parts)} "
    return (element.text or "").strip() + "".join(parts)


def characters(tex: str) -> str:
    """Write a formula as characters that can be read and searched for."""
    try:
        found = MATHML.search(typeset(tex))
    except FormulaError:
        return ""
    text = linear(ET.fromstring(found[0])) if found else ""
    return collapse_spaces(unicodedata.normalize("NFKC", text).replace("\u2061", " "))


def plain(node: nodes.Node) -> str:
    """Return the text of a paragraph or title, as a reader sees it."""
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.math):
        return characters(node.astext())
    if isinstance(node, SKIPPED):
        return ""
    return "".join(map(plain, node.children))


def has_title(node: nodes.Node) -> bool:
    """Return whether a node is a section with a title: exercise boxes are sections without one."""
    is_section = isinstance(node, nodes.section)
    return is_section and any(isinstance(child, nodes.title) for child in node.children)


def classes(node: nodes.Node) -> set[str]:
    return set(node["classes"]) if isinstance(node, nodes.Element) else set()


def leaves(node: nodes.Element, answers: bool = False) -> Iterator[tuple[nodes.Element, bool]]:
    """Yield the paragraphs, titles, terms and code in a node, but not in its sections.

    Each comes with whether it is part of an answer: of a prediction's, or of a solution.
    """
    answers = answers or isinstance(node, predict_answer) or is_solution_node(node)
    for child in node.children:
        if isinstance(child, (nodes.math_block, *SKIPPED)) or has_title(child):
            continue
        if is_part(child, "cell_code_output") or ABOUT & classes(child):
            continue
        if isinstance(child, nodes.TextElement):
            yield child, answers
        elif isinstance(child, nodes.Element):
            yield from leaves(child, answers)


def filled(section: Section, node: nodes.Element) -> Section:
    """Fill a section with the text of its node, and return it."""
    for leaf, answers in leaves(node):
        if answers:
            if not isinstance(leaf, nodes.literal_block):
                section.answers.append(plain(leaf))
        elif isinstance(leaf, (nodes.literal_block, addnodes.desc_signature)):
            section.code.append(leaf.astext())
        elif leaf.parent is not node or not isinstance(leaf, nodes.title):
            section.text.append(plain(leaf))
    for comment in node.children:
        if isinstance(comment, nodes.comment) and comment.astext().startswith(ASKED):
            section.asked.append(comment.astext().removeprefix(ASKED))
    return section


def title_of(node: nodes.Element) -> str:
    return collapse_spaces(
        next(plain(child) for child in node.children if isinstance(child, nodes.title))
    )


def sections(document: nodes.document) -> Iterator[Section]:
    """Yield the sections of a resolved document in order, then the entries of a glossary.

    The section of checks is left out: nobody looks for it.
    """
    for node in filter(has_title, document.findall(nodes.section)):
        if is_about_checks(node):
            continue
        outer = node.parent
        within = title_of(outer) if has_title(outer) and has_title(outer.parent) else ""
        section = Section(node["ids"][0], title_of(node), within)
        yield section if list(node.findall(addnodes.glossary)) else filled(section, node)
    for entry in document.findall(nodes.definition_list_item):
        for term in entry.findall(nodes.term):
            if term["ids"] and isinstance(entry.parent.parent, addnodes.glossary):
                yield filled(Section(term["ids"][0], plain(term)), entry)
