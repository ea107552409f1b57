"""Text in, picture out: writing the DOT language, and having Graphviz lay it out.

Two ways to Graphviz: the ``dot`` program where it is on PATH, and otherwise `pygraphviz`, whose
wheels carry Graphviz as a library. Both are imported only when a drawing is laid out.

Text is measured in a font that comes with matplotlib, so that a drawing is the same wherever it is
made. It is as wide as any in common use: in what a reader's system shows, the text fits.
"""

import html
import importlib.util
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from chainview.read.words import printable

MEASURED = "DejaVu Sans"
SHOWN = "Helvetica,Arial,Liberation Sans,Arimo,sans-serif"  # one set of widths, many systems


class GraphvizMissingError(RuntimeError):
    """Neither ``dot`` nor ``pygraphviz`` is there to lay a drawing out."""


class Markup(str):
    """Graphviz's HTML-like text, to be written between angle brackets rather than quotes."""


def escape(text: str) -> str:
    """Make any text safe inside an HTML-like label.

    >>> escape('a<b & "c"')
    'a&lt;b &amp; "c"'
    """
    escaped = html.escape(printable(text), quote=False)
    return escaped.replace("\\", "\\\\")  # otherwise Graphviz replaces \N by the node's name


def row(markup: str, ground: str = "") -> str:
    """Return one table row, aligned to the left."""
    color = f' BGCOLOR="{ground}"' if ground else ""
    return f'<TR><TD ALIGN="LEFT" BALIGN="LEFT"{color}>{markup}</TD></TR>'


def font(markup: str, color: str, size: int | None = None) -> str:
    """Colour a piece of markup, and set its size in points."""
    points = f' POINT-SIZE="{size}"' if size else ""
    return f'<FONT COLOR="{color}"{points}>{markup}</FONT>'


class Digraph:
    """A directed graph in the DOT language, written statement by statement.

    >>> graph = Digraph(rankdir="LR")
    >>> graph.node("n0", label='say "x"')
    >>> graph.edge("n0", "n0", color="red")
    >>> print(graph.source)
    digraph {
      graph [rankdir="LR"]
      "n0" [label="say \\"x\\""]
      "n0" -> "n0" [color="red"]
    }
    <BLANKLINE>
    """

    def __init__(self, **attributes: str) -> None:
        """Start a graph with these graph attributes."""
        self._lines = ["digraph {"]
        self.defaults("graph", **attributes)

    def defaults(self, kind: str, **attributes: str) -> None:
        """Set attributes of the ``graph``, or of every ``node`` or ``edge`` that follows."""
        self._lines.append(f"  {kind}{_attributes(attributes)}")

    def node(self, name: str, **attributes: str) -> None:
        """Add a node."""
        self._lines.append(f"  {_quote(name)}{_attributes(attributes)}")

    def edge(self, tail: str, head: str, **attributes: str) -> None:
        """Add an edge; two edges between the same nodes stay two."""
        self._lines.append(f"  {_quote(tail)} -> {_quote(head)}{_attributes(attributes)}")

    @property
    def source(self) -> str:
        """The whole graph as text."""
        return "\n".join([*self._lines, "}", ""])


def _attributes(attributes: dict[str, str]) -> str:
    return " [" + " ".join(f"{k}={_quote(v)}" for k, v in attributes.items()) + "]"


def _quote(text: str) -> str:
    if isinstance(text, Markup):
        return f"<{text}>"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def layout(source: str, format: str) -> bytes:
    """Lay a DOT source out as ``svg``, ``pdf`` or ``png``.

    Raises:
        GraphvizMissingError: there is no Graphviz of either kind.
    """
    with _one_at_a_time, _own_font():
        for backend in (_dot_program, _dot_library):
            picture = backend(source, format)
            if picture is not None:
                return picture
    raise GraphvizMissingError(
        "a drawing needs Graphviz to lay it out, and found neither the `dot` program on PATH "
        "(with the Python package `graphviz`) nor the Python package `pygraphviz`, which carries "
        'Graphviz inside. Install them with: pip install "chaingrad[figures]"'
    )


# Graphviz keeps its state in global variables, and reads from the environment where fonts are.
_one_at_a_time = threading.Lock()


def _dot_program(source: str, format: str) -> bytes | None:
    if shutil.which("dot") is None:
        return None
    try:
        import graphviz
    except ImportError:
        return None
    return cast(bytes, graphviz.pipe("dot", format, source.encode(), quiet=True))


def _dot_library(source: str, format: str) -> bytes | None:
    try:
        import pygraphviz
    except ImportError:
        return None
    with _without_font_warnings():
        graph = pygraphviz.AGraph(string=source)
        try:
            return cast(bytes, graph.draw(format=format, prog="dot"))
        finally:
            graph.close()


@contextmanager
def _own_font() -> Iterator[None]:
    """Let Graphviz find the font that matplotlib carries, whatever the system has."""
    matplotlib = importlib.util.find_spec("matplotlib")
    if matplotlib is None or matplotlib.origin is None:
        yield
        return
    before = os.environ.get("FONTCONFIG_FILE")
    fonts = Path(matplotlib.origin).parent / "mpl-data" / "fonts" / "ttf"
    system = before or "/etc/fonts/fonts.conf"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "fonts.conf")
        file.write_text(_CONFIG.format(*map(html.escape, (str(fonts), system))), encoding="utf-8")
        os.environ["FONTCONFIG_FILE"] = str(file)
        try:
            yield
        finally:
            os.environ.pop("FONTCONFIG_FILE") if before is None else os.environ.update(
                FONTCONFIG_FILE=before
            )


_CONFIG = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><dir>{}</dir><include ignore_missing="yes">{}</include></fontconfig>
"""


@contextmanager
def _without_font_warnings() -> Iterator[None]:
    """Keep the C library fontconfig, which warns about newer systems' files, off the page.

    Everything else that is written to file descriptor 2 meanwhile is passed on.
    """
    with tempfile.TemporaryFile() as caught:
        stderr = os.dup(2)
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            caught.seek(0)
            kept = [line for line in caught if not line.startswith(b"Fontconfig ")]
            os.write(stderr, b"".join(kept))
            os.close(stderr)
