"""Words for the messages of errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from chaingrad.rules import Rule

_EXPECTED = {
    "matmul": "matmul (@) needs arrays whose inner sizes agree: (..., n, k) @ (..., k, m)",
    "getitem": "the index must fit the shape",
    "reshape": "the number of entries must stay the same",
    "concatenate": "all sizes but that of the axis must agree",
} | dict.fromkeys(
    ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "where", "broadcast_to"),
    "shapes must broadcast: trailing sizes equal, or 1",
)


def describe(node: Any) -> str:
    """Name a node by its label, else by its operation, and give its shape."""
    name = repr(node.label) if node.label is not None else (node.op or "(a leaf)")
    return f"node {name} of shape {np.shape(node.data)}"


def kind(x: Any) -> str:
    """Name the type of ``x`` and show the start of it."""
    return f"{type(x).__name__} {x!r:.60}"


def explained(error: Exception, rule: Rule, inputs: Sequence[Any]) -> Exception:
    """The error of a computation that failed, with the operation, operands and shapes named."""
    if any(node.data is None for node in inputs):
        return ValueError(
            f"{rule.name}: a node that backward(release=True) freed cannot be used again; compute "
            "it anew"
        )
    what = " and ".join(describe(node) for node in inputs[:6])
    options = ", ".join(f"{key}={_brief(option)}" for key, option in rule.options.items())
    expected = _EXPECTED.get(rule.name)
    hint = f" Expected: {expected}." if expected else ""
    return type(error)(f"{rule.name}({options}) of {what} failed: {error}.{hint}")


def _brief(option: Any) -> str:
    return f"<array of shape {option.shape}>" if isinstance(option, np.ndarray) else repr(option)
