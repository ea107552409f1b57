"""Words for the messages of errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from chaingrad.rules import Rule, TracingError


def describe(node: Any) -> str:
    """Name a node by its label, else by its operation, and give its shape."""
    name = repr(node.label) if node.label is not None else (node.op or "(a leaf)")
    return f"node {name} of shape {np.shape(node.data)}"


def kind(x: Any) -> str:
    """Name the type of ``x`` and show the start of it."""
    return f"{type(x).__name__} {x!r:.60}"


def explained(error: Exception, rule: Rule, inputs: Sequence[Any]) -> Exception:
    """The error of a computation that failed, with the operation, operands and shapes named."""
    if isinstance(error, TracingError):
        return error
    if any(node.data is None for node in inputs):
        return ValueError(
            f"{rule.name}: a node that backward(release=True) freed cannot be used again; compute "
            "it anew"
        )
    for node in inputs:
        if not isinstance(node.data, float | np.ndarray | np.generic):
            return TypeError(
                f"{rule.name}: the data of a node must be a float or an array of floats; somebody "
                f"gave {describe(node)} {kind(node.data)}: make an array of it, or a new Node"
            )
    what = " and ".join(describe(node) for node in inputs[:6])
    options = ", ".join(f"{key}={_brief(option)}" for key, option in rule.options.items())
    hint = f" Expected: {rule.facts.expects}." if rule.facts.expects else ""
    return type(error)(f"{rule.name}({options}) of {what} failed: {error}.{hint}")


def _brief(option: Any) -> str:
    return f"<array of shape {option.shape}>" if isinstance(option, np.ndarray) else repr(option)
