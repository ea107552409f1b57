"""A text of the reader's own, run, and shown as a graph, a player, figures, programs and tables.

`respond` takes what somebody has typed and the name of a view, and gives that view's HTML or what
went wrong, line by line. The page that asks is a page of the book; nothing here knows a browser.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from chainlab.workbench import views
from chainlab.workbench.checked import checked, require_check
from chainlab.workbench.costs import costs, require_costs
from chainlab.workbench.finite import not_finite
from chainlab.workbench.running import Diagnostic, let_go, run
from chainlab.workbench.subject import Subject
from chainlab.workbench.views import View
from chainlab.workbench.written import Typeset, as_code, require_written, written


class _Way(NamedTuple):
    """A way to look at a graph, and what refuses a graph that it isn't for."""

    show: Callable[[Subject], View]
    require: Callable[[Subject], None]


VIEWS: dict[str, _Way] = {
    "graph": _Way(views.graph, views.require_drawing),
    "play": _Way(views.played, views.require_player),
    "nudge": _Way(views.nudged, views.require_sliders),
    "order": _Way(views.clickable, views.require_clicks),
    "written out": _Way(written, require_written),
    "costs": _Way(costs, require_costs),
    "check": _Way(checked, require_check),
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
        svg: a picture that stands alone, where the view is one.
        refused: the views that this graph isn't for, each with the reason.
    """

    html: str = ""
    alt: str = ""
    printed: str = ""
    problems: list[Diagnostic] = field(default_factory=list)
    code: str = ""
    svg: str = ""
    refused: dict[str, str] = field(default_factory=dict)

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
    show = partial(written, typeset=typeset) if view == "written out" else VIEWS[view].show
    ran = run(text)
    try:
        if ran.root is None:
            return Answer(printed=ran.printed, problems=ran.problems)
        with np.errstate(all="ignore"):
            subject = Subject(ran.root, text)
            refused, problems = refusals(subject), ran.problems + not_finite(subject)
            if view in refused:
                shown = View("", refused[view])
            else:
                shown = _shown(show, subject, view)
        return Answer(shown.html, shown.alt, ran.printed, problems, shown.code, shown.svg, refused)
    finally:
        let_go(ran.names)


def refusals(subject: Subject) -> dict[str, str]:
    """Return the views that a graph isn't for, each with the reason."""
    found = {}
    for name, way in VIEWS.items():
        try:
            way.require(subject)
        except (TypeError, ValueError) as error:
            found[name] = str(error)
    return found


def _shown(show: Callable[[Subject], View], subject: Subject, view: str) -> View:
    """Return the view; without HTML, and with the reason in words, if it can't be made."""
    try:
        return show(subject)
    except (TypeError, ValueError, ArithmeticError) as error:
        return View("", str(error).removeprefix(f"{view}: "))
