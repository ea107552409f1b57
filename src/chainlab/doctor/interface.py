"""What an engine has to have before it can be examined: leaves, + or *, backward() and grad.

An error here says what is still to write, or that the engine has other names. It is no bug.
"""

import contextlib
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from chainlab.doctor.probe import (
    ENDLESS,
    NotThereError,
    Observation,
    Probes,
    TimeIsUpError,
    as_numbers,
    short_error,
)
from chainview.read.words import joined

_LEAF, _PLUS, _TIMES = "a = Value(3.0), a.data", "y = a + b, y.data", "y = a * b, y.data"
_PASS, _GRAD = "y.backward()", "y.backward(), a.grad"
NAMES = {
    _LEAF: "Value(3.0).data", _PLUS: "a + b", _TIMES: "a * b", _PASS: "backward()", _GRAD: "a.grad",
}  # fmt: skip
_NOT_SET = "cannot be set to 0"
_NOT_CLEARED = (
    "is not cleared between passes: give {} a method clear(self, leaf) that sets the gradient of "
    "the leaf to 0, or does nothing if no gradient is kept"
)
OTHER_NAMES = (
    "an engine with other names needs an Adapter (one that differentiates functions, as jax.grad "
    "does, needs Functional)"
)


class _OddError(Exception):
    """The reading is there, but it is not a number."""


@contextlib.contextmanager
def _not_there() -> Iterator[None]:
    """Turn whatever an engine raises into `NotThereError`."""
    try:
        yield
    except (TimeIsUpError, KeyboardInterrupt):
        raise
    except _OddError as error:
        raise NotThereError(str(error)) from None
    except NotThereError as error:
        raise NotThereError(f"raises {error}") from None
    except BaseException as error:
        raise NotThereError(f"raises {short_error(error)}") from None


def _read(found: Any) -> None:
    if as_numbers(found) is None:
        raise _OddError(f"is of type {type(found).__name__}, not a number")


def _computed(engine: Any, f: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    a, b = engine.leaf(3.0), engine.leaf(5.0)
    with engine.forward():
        return a, f(a, b)


def _leaf(engine: Any) -> None:
    for x in (3.0, 5.0):
        _read(engine.value(engine.leaf(x)))


def _plus(engine: Any) -> None:
    _read(engine.value(_computed(engine, operator.add)[1]))


def _times(engine: Any) -> None:
    _read(engine.value(_computed(engine, operator.mul)[1]))


def _pass(engine: Any) -> Any:
    """Run a pass from a sum or a product, or from a leaf if there are none; return the leaf."""
    pairs = []
    for f in (operator.add, operator.mul):
        with contextlib.suppress(Exception):
            pairs.append(_computed(engine, f))
    if not pairs:
        a = engine.leaf(3.0)
        pairs.append((a, a))
    with contextlib.suppress(Exception):
        engine.backward(pairs[0][1])
        return pairs[0][0]
    engine.backward(pairs[-1][1])
    return pairs[-1][0]


def _grad(engine: Any) -> None:
    a = engine.leaf(3.0)
    with contextlib.suppress(Exception):
        a = _pass(engine)
    if (found := engine.gradient(a)) is not None:
        _read(found)
    try:
        engine.clear(a)
    except AttributeError:  # a property without a setter, or a frozen dataclass
        is_own = engine.engine is None  # an adapter that the reader wrote
        raise _OddError(_NOT_CLEARED.format(engine.name) if is_own else _NOT_SET) from None


def _observe(step: Callable[[Any], object], engine: Any) -> Iterator[Observation]:
    if not engine.has_nodes:
        raise NotThereError
    with _not_there():
        step(engine)
    yield from ()


INTERFACE = Probes()
for _text, _step, _needs in (
    (_LEAF, _leaf, ()), (_PLUS, _plus, (_LEAF,)), (_TIMES, _times, (_LEAF,)),
    (_PASS, _pass, (_PLUS, _TIMES)), (_GRAD, _grad, (_PASS,)),
):  # fmt: skip
    _look = "what the engine has"
    INTERFACE.program(_text, "the interface", _look, partial(_observe, _step), *_needs)


def missing_operations(came: Mapping[str, str]) -> list[str]:
    """Return what an engine lacks and has to have; one of + and * is enough.

    Args:
        came: what came in place of an answer, by probe; empty if an answer came.
    """
    failed = [text for text in NAMES if came.get(text)]
    if failed in ([_PLUS], [_TIMES]):
        return []
    if _LEAF in failed:
        return [_LEAF]
    if endless := [text for text in (_PLUS, _TIMES) if came.get(text) == ENDLESS]:
        return endless
    return [text for text in failed if text != _GRAD or _PASS not in failed]


def obstacle(came: Mapping[str, str]) -> str:
    """Return why an engine cannot be examined; empty if it can.

    >>> obstacle({_PASS: "raises NotImplementedError"})
    'a + b and a * b compute; backward() raises NotImplementedError: write it'
    """
    by_failure: dict[str, list[str]] = {}
    failed = missing_operations(came)
    if failed and failed != [_LEAF]:
        computing = [NAMES[text] for text in (_PLUS, _TIMES) if text not in failed]
        by_failure |= {"computes": computing} if computing else {}
    for text in failed:
        by_failure.setdefault(came[text], []).append(NAMES[text])
    parts = [_missing(names, what) for what, names in by_failure.items()]
    signs = ("no attribute", "not a number", _NOT_SET)
    has_other_names = any(sign in what for what in by_failure for sign in signs)
    return "; ".join(parts + [OTHER_NAMES] * has_other_names)


def methods_to_fill(came: Mapping[str, str]) -> dict[str, str]:
    """Return what came of the methods of an adapter that an engine does not answer, by name."""
    methods = {_LEAF: "value", _PASS: "backward", _GRAD: "gradient"}
    failed = missing_operations(came)
    return {methods[text]: came[text] for text in methods if text in failed}


def _missing(names: list[str], what: str) -> str:
    if what == ENDLESS:
        what = "comes to no end in time"
    elif what.startswith("the process"):
        what = f"fails: {what}"
    verb, _, rest = what.partition(" ")
    it = "it"
    if len(names) > 1:
        verb, it = ("are" if verb == "is" else verb.removesuffix("s")), "them"
    signs = ["NotImplementedError", "no attribute 'backward'"]
    if {NAMES[_PLUS], NAMES[_TIMES]}.issuperset(names):  # from backward() it is an error inside it
        signs.append("unsupported operand")
    is_to_write = any(sign in what for sign in signs)
    return f"{joined(names)} {verb} {rest}".rstrip() + f": write {it}" * is_to_write
