"""One thing that the doctor tries: an expression, or a small program, and the bug that it shows."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaingrad.functional import grad

Observation = tuple[
    str, Any, Any
]  # what was read, the number or array that came, and what is right
Experiment = Callable[[Any], Iterator[Observation]]
RTOL = 1e-5
OF_ARRAYS = 5  # the milestone
NO_ARRAYS = "it has no operator @"
ENDLESS = "no end in time"
# Seconds of processor time. The process's clock is coarse while a timer runs, as around each probe,
# so we take the thread's outside the browser.
clock = time.process_time if sys.platform == "emscripten" else time.thread_time


class NotThereError(Exception):
    """The engine has no such operation."""


class TimeIsUpError(BaseException):
    """A probe takes too long; no Exception, so that engines which catch those let it pass."""


@dataclass(frozen=True)
class Formula:
    """A function of leaves and the point at which it is tried.

    Attributes:
        f: the function.
        names: of the leaves.
        at: their values.
        is_named: whether it has a function that another engine may define otherwise, as a relu.
    """

    f: Callable[..., Any]
    names: Sequence[str]
    at: tuple[Any, ...]
    is_named: bool = False


@dataclass(frozen=True)
class Probe:
    """One trial of an engine.

    Attributes:
        text: the expression and where it is evaluated.
        bug: what it has that fails here, if nothing in ``needs`` failed.
        look: what to look at.
        subject: what of an engine it is about, as a rule or the order.
        trial: takes an `Adapter` and yields what was read beside what is right.
        needs: texts of smaller probes; if one of them fails, it is the reason why this does.
        instead: the bug and what to look at, by what came, where that tells another one.
        only_remark: whether failing is a choice that others have made, too.
        refused: what an error is called that an engine may raise here on purpose.
        demanded: whether the project asks for it, so that at a milestone neither is a choice.
        graded: whether the project's grader has points for it, too.
        corner: whether it tries a corner that comes after all else.
        milestone: of the project "Your own engine", from which on it is tried.
        required: whether that milestone is not reached without the operation.
        rtol: the relative error that is allowed.
        right: says what is right, for a probe that came to no number.
        formula: of an expression.
    """

    text: str
    bug: str
    look: str
    subject: str
    trial: Experiment
    needs: tuple[str, ...] = ()
    instead: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    only_remark: bool = False
    refused: str = ""
    demanded: bool = False
    graded: bool = False
    corner: bool = False
    milestone: int = 1
    required: bool = False
    rtol: float = RTOL
    right: Callable[[], str] = lambda: "an answer"
    formula: Formula | None = None


class Probes(list[Probe]):
    """Probes in the order in which they are tried, small ones first.

    Attributes:
        milestone: of those that are added next.
        subject: of those that are added next, where they don't say another.
    """

    milestone = 1
    subject = ""

    def program(
        self, text: str, bug: str, look: str, trial: Experiment, *needs: str, **more: Any
    ) -> None:
        """Add a small program; the probes it needs have to be there, and can be named in short."""
        known = {p.text.partition(" at ")[0]: p.text for p in reversed(self)}
        known |= {p.text: p.text for p in self}
        found = tuple(known[need] for need in needs)
        about = more.pop("subject", self.subject)
        self.append(Probe(text, bug, look, about, trial, found, milestone=self.milestone, **more))

    def expression(
        self,
        text: str,
        names: str,
        at: tuple[Any, ...],
        bug: str,
        look: str,
        *needs: str,
        f: Callable[..., Any] | None = None,
        whole: bool = False,
        named: bool = False,
        **more: Any,
    ) -> None:
        """Add an expression of leaves: its value, its gradients, and the leaves after the pass.

        Args:
            text: in it ``array`` stands for one of NumPy's.
            names: of the leaves.
            at: their values.
            bug, look, needs, more: as of `Probe`.
            f: the same as a function of the leaves, where the text is no Python.
            whole: to keep integers as they are.
            named: as `is_named` of `Formula`.
        """
        words = names.split()

        def written(*leaves: Any) -> Any:
            known = {"np": np, "array": np.array([2.0, 3.0, 4.0])}
            return eval(text, known | dict(zip(words, leaves, strict=True)))

        function = f or written
        at = at if whole else tuple(x if np.shape(x) else float(x) for x in at)
        shapes = [np.shape(x) for x in at]
        if any(shapes):
            where = ", ".join(f"{n} of shape {s}" for n, s in zip(words, shapes, strict=True))
        else:
            where = ", ".join(f"{n} = {x:g}" for n, x in zip(words, at, strict=True))
        self.program(
            f"whole numbers: {text} at {where}" if whole else f"{text} at {where}",
            bug,
            look,
            lambda engine: engine.observations(function, words, at),
            *needs,
            right=partial(slopes, function, names, at),
            formula=None if whole else Formula(function, words, at, named),
            **more,
        )


def as_numbers(found: Any) -> NDArray[np.float64] | None:
    """Return an engine's result as an array of numbers; None if it is not numbers."""
    try:
        return np.asarray(found.tolist() if hasattr(found, "tolist") else found, float)
    except (TypeError, ValueError):
        return None


def short_error(error: BaseException) -> str:
    """Return an error in one line, and cut it short where it is long."""
    return f"{type(error).__name__}: {error!s:.80}".removesuffix(": ")


def gradients(f: Callable[..., Any], at: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the gradients by this package's engine, which tests compare to central differences."""
    points = [np.asarray(x, float) if np.shape(x) else float(x) for x in at]
    return tuple(grad(f, argnums=range(len(at)))(*points))


def slopes(f: Callable[..., Any], names: str, at: tuple[Any, ...]) -> str:
    """Return the right gradients of a function, in words."""
    pairs = zip(names.split(), gradients(f, at), strict=True)
    shown = (f"{g:.6g}" if not np.shape(g) else f"of shape {np.shape(g)}" for _, g in pairs)
    return ", ".join(f"dy/d{name} = {g}" for name, g in zip(names.split(), shown, strict=True))
