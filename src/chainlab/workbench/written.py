"""The view *written out*: the graph and its gradients as NumPy and as equations."""

import html
import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import numpy as np

from chaingrad import program
from chaingrad.node import Node
from chaingrad.program.source import Trace, TracedLine
from chainlab.workbench.recompute import Replay, require_open
from chainlab.workbench.subject import Subject
from chainlab.workbench.tables import SHEETS
from chainlab.workbench.views import MOST_DRAWN, View
from chainview import draw_graph
from chainview.draw.svg import scrolling
from chainview.piece import piece
from chainview.read.reading import read

SCRIPT = files(__package__) / "written.bundle.js"
MOST = 120  # nodes
BESIDE = 70  # characters of an equation that find room beside the graph, else below it

Typeset = Callable[[str], str]


def as_code(tex: str) -> str:
    """Return a formula's LaTeX source as HTML."""
    return f"<code>{html.escape(tex)}</code>"


def require_written(subject: Subject) -> None:
    """Refuse a graph too long to read as a program, or with parts that it hides."""
    subject.require_scalar("written out")
    subject.require_at_most(MOST, "written out")
    require_open(subject)


def written(subject: Subject, typeset: Typeset = as_code) -> View:
    """Return the program of the gradients, line by line, beside the drawing."""
    root, replay = subject.root, Replay.read(subject)
    count = len(replay.leaves)
    argnums = 0 if count == 1 else range(count)
    trace = program(replay.function, argnums).trace(*replay.values)
    drawing = draw_graph(root, direction="TB", max_nodes=MOST_DRAWN)
    drawn = scrolling(drawing.svg())
    ids = {item.node: item.id for item in read(root, "written out", MOST_DRAWN)}
    # a constant exponent has no box of its own
    nodes = {new: ids[old] for new, old in replay.made.items() if old in ids}
    rows = "".join(_rows(trace, nodes, typeset))
    table = (
        '<table class="cg-lines" role="table" aria-label="NumPy and equations">'
        f'<tbody role="rowgroup">{rows}</tbody></table>'
    )
    beside = "cg-pair" if _longest(trace) <= BESIDE else "cg-stack"
    inside = (
        f'<div class="{beside}"><div class="cg-graph">{drawn}</div>'
        f'<div class="cg-scroll">{table}</div></div>'
    )
    alt = f"{drawing.alt} As a program of {len(trace.lines)} lines."
    view = piece("moving", alt, inside, None, SCRIPT, SHEETS, "written")
    return View(view, alt, standalone_code(trace, replay))


def _longest(trace: Trace) -> int:
    """Return how many characters the longest equation has, about, once it is set."""
    equations = (re.sub(r"\\[A-Za-z]+|[{}\s]", "", line.equation) for line in trace.lines)
    return max(map(len, equations), default=0)


def _rows(trace: Trace, nodes: dict[Node, str], typeset: Typeset) -> Iterator[str]:
    """Yield a table row for each line; a line that computes also names its nodes."""
    about: dict[str, TracedLine] = {}
    for line in trace.lines:
        for part in line.source.splitlines():
            about.setdefault(part.strip(), line)
    seen: set[int] = set()
    for text in trace.source.rstrip().splitlines():
        found = about.get(text.strip())
        equation = found.equation if found and id(found) not in seen else ""
        seen.add(id(found))
        ids = " ".join(_ids(found, nodes)) if found else ""
        reach = f' data-nodes="{ids}" tabindex="0"' if ids else ""
        shown = typeset(equation) if equation else ""
        code = html.escape(text) or "&nbsp;"
        cells = f'<td role="cell"><code>{code}</code></td><td role="cell">{shown}</td>'
        yield f'<tr role="row"{reach}>{cells}</tr>'


def _ids(line: TracedLine, nodes: dict[Node, str]) -> list[str]:
    told = [nodes[node] for node in (*line.computes, *line.differentiates) if node in nodes]
    return list(dict.fromkeys(told))


def standalone_code(trace: Trace, replay: Replay) -> str:
    """Return the program and a call of it: code that runs by itself."""
    given = [*replay.values, *trace.constants.values()]
    call = f"print(program({', '.join(map(_literal, given))}))"
    missing = "import numpy as np\n\n\n" if "np." in call and "np." not in trace.source else ""
    return f"{missing}{trace.source}\n\n{call}\n"


def _literal(x: Any) -> str:
    """Return Python source that reproduces a number or an array to the bit."""
    text = re.sub(r"\b(nan|inf)\b", r"np.\1", repr(np.asarray(x).tolist()))
    if not isinstance(x, np.ndarray):
        return text
    is_plain = x.dtype in (np.float64, np.int64, bool)
    return f"np.array({text})" if is_plain else f"np.array({text}, dtype=np.{x.dtype.name})"
