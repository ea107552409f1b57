"""A text of the reader's own, run, and shown as a graph, a player, figures, programs and tables.

`respond` takes what somebody has typed and the name of a view, and gives that view's HTML or what
went wrong, line by line. The page that asks is a page of the book; nothing here knows a browser.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from chaingrad.node import Node
from chainlab.workbench import views
from chainlab.workbench.checked import checked
from chainlab.workbench.costs import costs
from chainlab.workbench.running import Diagnostic, run
from chainlab.workbench.views import View
from chainlab.workbench.written import Typeset, as_code, written
from chainview.figures.nudge import nudge
from chainview.player.passes import play

VIEWS: dict[str, Callable[[Node], View]] = {
    "graph": views.graph,
    "play": partial(views.interactive_figure, "play", play),
    "nudge": partial(views.interactive_figure, "nudge", nudge),
    "order": partial(views.interactive_figure, "order", views.clickable),
    "written out": written,
    "costs": costs,
    "check": checked,
}


@dataclass(frozen=True)
class Answer:
    """The result of a text.

    Attributes:
        html: the view; empty where there is none.
        alt: the same in words, or why there is none, and what to do.
        printed: what the text printed.
        problems: errors and warnings, each with its line.
        code: a program that runs alone, where the view is one.
    """

    html: str = ""
    alt: str = ""
    printed: str = ""
    problems: list[Diagnostic] = field(default_factory=list)
    code: str = ""

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, Any]:
        return {"text/html": self.html, "text/plain": self.alt, "application/json": asdict(self)}


def respond(text: str, view: str, typeset: Typeset = as_code) -> Answer:
    """Run a text and show its root.

    Args:
        text: Python, with the names of chaingrad and ``np`` at hand; its last expression, or what
            its last line assigns, is the root. Names at its top become labels.
        view: a name in ``VIEWS``.
        typeset: makes HTML of a formula in LaTeX, for *written out*.

    Raises:
        KeyError: there is no such view.

    >>> answer = respond("x = Node(3.0)\\ny = x * x", "play")
    >>> answer.alt
    'Step by step from x to y = 9.0 and back: 8 steps.'
    >>> respond("x = Node(3.0)\\nx * z", "play").problems[0].line
    2
    """
    show = partial(written, typeset=typeset) if view == "written out" else VIEWS[view]
    ran = run(text)
    if ran.root is None:
        return Answer(printed=ran.printed, problems=ran.problems)
    try:
        with np.errstate(all="ignore"):
            shown = show(ran.root)
    except (TypeError, ValueError, ArithmeticError) as error:
        why = str(error).removeprefix(f"{view}: ")
        return Answer(alt=why, printed=ran.printed, problems=ran.problems)
    return Answer(shown.html, shown.alt, ran.printed, ran.problems, shown.code)
