"""Words for the messages of errors."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from chaingrad.rules import Rule, Symbol, Traced, TracingError

_NAMES: ContextVar[Mapping[str, Any]] = ContextVar("names")


@contextmanager
def naming_nodes(names: Mapping[str, Any]) -> Iterator[None]:
    """Let messages within the block call a node without a label by these names."""
    token = _NAMES.set(names)
    try:
        yield
    finally:
        _NAMES.reset(token)


def describe(node: Any) -> str:
    """Name a node as ``name_of`` does, and give its shape."""
    return f"{name_of(node)} of shape {np.shape(node.data)}"


def name_of(node: Any) -> str:
    """Name a node by its label, else by a variable that holds it, else by its operation."""
    variables = (name for name, x in _NAMES.get({}).items() if x is node)
    label = node.label if node.label is not None else next(variables, None)
    return f"node {label!r}" if label is not None else f"node {node.op or '(a leaf)'}"


def kind(x: Any) -> str:
    """Name the type of ``x`` and show the start of its repr."""
    return f"{type(x).__name__} {x!r:.60}"


def explain_error(error: Exception, rule: Rule, inputs: Sequence[Any]) -> Exception:
    """Make the error for a failed computation; it names the operation, operands and shapes."""
    if isinstance(error, TracingError):
        return error
    if any(node.data is None for node in inputs):
        return ValueError(
            f"{rule.name}: a node that backward(release=True) freed cannot be used again; compute "
            "it again"
        )
    for node in inputs:
        if isinstance(node.data, Symbol):
            continue
        if isinstance(node.data, Traced):
            return TypeError(
                f"{rule.name}: the data of {name_of(node)} were set to a node; to "
                "change them by a step, write w.data = w.data - 0.1 * w.grad"
            )
        if not isinstance(node.data, float | int | np.ndarray | np.generic):
            return TypeError(
                f"{rule.name}: the data of {describe(node)} were set to {kind(node.data)}, which "
                "is neither a float nor an array of floats: make it an array, or make a new Node"
            )
    what = " and ".join(describe(node) for node in inputs[:6])
    options = ", ".join(f"{key}={_short_repr(option)}" for key, option in rule.options.items())
    hint = f" Expected: {rule.facts.expects}." if rule.facts.expects else ""
    return type(error)(f"{rule.name}({options}) of {what} failed: {error}.{hint}")


def _short_repr(option: Any) -> str:
    return f"<array of shape {option.shape}>" if isinstance(option, np.ndarray) else repr(option)
