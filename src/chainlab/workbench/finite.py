"""Where a value or a gradient stops being a finite number, and why."""

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from chaingrad.backward import adjoints
from chaingrad.modes import is_spoiled
from chaingrad.node import Node
from chainlab.workbench.running import Diagnostic
from chainlab.workbench.subject import Subject
from chainview.player.names import amount

MOST = 300  # nodes
WHY = {
    "log": "the log of 0 is −inf, and a negative number has none",
    "log1p": "log1p takes numbers above −1",
    "sqrt": "a negative number has no square root here",
    "div": "this is a division by 0, or too large a number",
    "pow": "0 has no negative power, and a negative number no broken one",
    "exp": "the exponential is larger than the largest float, 1.8e308",
}


def not_finite(subject: Subject) -> list[Diagnostic]:
    """Return a warning where the first value, or else the first gradient, isn't finite."""
    if len(subject.nodes) > MOST:
        return []
    for node in reversed(subject.nodes):
        if node.parents and is_spoiled(node.data, [parent.data for parent in node.parents]):
            why = WHY.get(node.op, f"{node.op} has no finite value at these numbers")
            said = f"{_name(node)} is {_worst(node.data)}: {why}."
            return [Diagnostic(_line(node, subject.text), said, severity="warning")]
    return list(_gradient(subject))[:1]


def _gradient(subject: Subject) -> Iterator[Diagnostic]:
    """Yield where finite gradients become others on their way back."""
    root = subject.root
    if root.size != 1 or not root.requires_grad:
        return
    grads = adjoints(root, root.seed(), subject.nodes)
    for node in subject.nodes:
        for parent in node.parents if node in grads else ():
            if parent in grads and is_spoiled(grads[parent], [grads[node]]):
                at = f" = {amount(parent.data)}" if not parent.ndim else ""
                said = (
                    f"The gradient of {_name(parent)} is {_worst(grads[parent])}: {node.op} has "
                    f"no finite slope at {_name(parent)}{at}."
                )
                yield Diagnostic(_line(node, subject.text), said, severity="warning")


def _worst(data: Any) -> str:
    """Return the kind of number that isn't finite."""
    entries = np.asarray(data)
    others = entries[~np.isfinite(entries)]
    kind = "nan" if np.isnan(others).any() else amount(float(others.flat[0]))
    return f"{kind} in an entry" if entries.ndim else kind


def _name(node: Node) -> str:
    return str(node.label) if node.label else f"the result of {node.op}" if node.op else "a leaf"


def _line(node: Node, text: str) -> int:
    """Return the line that last assigns a node's name; the last line, if none does."""
    tree = ast.parse(text)
    lines = [
        name.lineno
        for name in ast.walk(tree)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) and name.id == node.label
    ]
    return max(lines, default=tree.body[-1].lineno if tree.body else 1)
