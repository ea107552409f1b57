"""Where devices that share arrays have to talk: the state of every value of a graph.

Each array is whole on every device, cut along one axis ("rows" or "columns"), or partial: each
device has an array of the full shape, and the value is their sum. An array with one axis is a row,
as NumPy's broadcasting has it, so its only axis can be cut by "columns".
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chaingrad import Node

WHOLE, ROWS, COLUMNS, PARTIAL = STATES = "whole", "rows", "columns", "partial"

# The state of a product of matrices. What it lacks needs an operand that is gathered first.
PRODUCT = {
    (WHOLE, WHOLE): WHOLE,
    (ROWS, WHOLE): ROWS,
    (WHOLE, COLUMNS): COLUMNS,
    (COLUMNS, ROWS): PARTIAL,
    (COLUMNS, WHOLE): PARTIAL,  # of the whole, take rows
    (WHOLE, ROWS): PARTIAL,  # of the whole, take columns
    (PARTIAL, WHOLE): PARTIAL,
    (WHOLE, PARTIAL): PARTIAL,
}
# Operations on partial sums that may go on before the terms are added up.
STAYS_PARTIAL = {
    ("mul", PARTIAL, WHOLE),
    ("mul", WHOLE, PARTIAL),
    ("div", PARTIAL, WHOLE),
    ("add", PARTIAL, PARTIAL),
    ("sub", PARTIAL, PARTIAL),
    ("neg", PARTIAL),
    ("alias", PARTIAL),
}
# Each entry of the result depends on the entries at its place, and on nothing else.
BY_ENTRY = frozenset({
    *("add", "sub", "mul", "div", "pow", "neg", "maximum", "minimum", "where"),
    *("abs", "cos", "exp", "log", "relu", "sigmoid", "sin", "sqrt", "tanh"),
    *("alias", "broadcast_to"),
})  # fmt: skip
SUMS = frozenset({"sum", "squared_norm"})


def result_of(op: str, *states: str, axis: int | None = None, keepdims: bool = False) -> str | None:
    """Return the state of an operation's result, or None: complete its partial sums first.

    Args:
        op: the name of a rule of the engine.
        states: of the operands, arrays with at most two axes.
        axis: of a sum, 0 or 1 of an array with two axes; None if all entries are added up.
        keepdims: of a sum, whether its axis is left, with one entry.

    >>> result_of("matmul", "columns", "rows"), result_of("sum", "rows", axis=1, keepdims=True)
    ('partial', 'rows')
    >>> result_of("tanh", "partial")
    >>> result_of("sort", "rows")
    Traceback (most recent call last):
        ...
    ValueError: placement: there is no rule for sort. Write it with others, or ...
    """
    if op == "matmul":
        return _product(*states)
    if op == "transpose":
        return {ROWS: COLUMNS, COLUMNS: ROWS}.get(states[0], states[0])
    if op in SUMS:
        return _sum(op, states[0], axis, keepdims)
    if op not in BY_ENTRY:
        raise ValueError(
            f"placement: there is no rule for {op}. "
            "Write it with others, or gather its operand first."
        )
    if (op, *states) in STAYS_PARTIAL:
        return PARTIAL
    if PARTIAL in states:
        return None
    cuts = set(states) - {WHOLE}  # of the whole, take a slice
    if len(cuts) > 1:
        raise ValueError(f"placement: rows meet columns in {op}. Send one of them first.")
    return cuts.pop() if cuts else WHOLE


def _product(*states: str) -> str | None:
    if states not in PRODUCT and PARTIAL not in states:
        a, b = states
        raise ValueError(f"placement: {a} @ {b} has no rule. Gather an operand first.")
    return PRODUCT.get((states[0], states[1]))


def _sum(op: str, state: str, axis: int | None, keepdims: bool) -> str | None:
    if state == PARTIAL:
        return PARTIAL if op == "sum" else None
    if state == WHOLE:
        return WHOLE
    if axis is None or (ROWS, COLUMNS)[axis] == state:
        return PARTIAL
    return state if keepdims else COLUMNS  # the one axis that is left


def _rule(node: Node, states: Sequence[str]) -> str | None:
    """Return what `result_of` says, with the axis that the operation itself was given."""
    options: dict[str, Any] = node.rule.options if node.rule else {}
    dimensions = [np.ndim(parent.data) for parent in node.parents]
    cut = [n for n, state in zip(dimensions, states, strict=True) if state in (ROWS, COLUMNS)]
    if node.op in ("matmul", "transpose") and {*states} - {WHOLE} and {*dimensions} - {2}:
        raise ValueError(f"placement: {node.op} is known for arrays with two axes alone.")
    if any(n not in (1, 2) for n in cut):
        raise ValueError(f"placement: {node.op} of {max(cut)} axes has no rule.")
    if node.op == "reshape":
        return _reshaped(node, states[0])
    if node.op not in SUMS:
        return result_of(node.op, *states)
    axis, kept = options.get("axis"), options.get("keepdims", False)
    n = dimensions[0]
    axes = {int(one) % n for one in np.atleast_1d(range(n) if axis is None else axis)}
    if len(axes) == n or states[0] in (WHOLE, PARTIAL):
        return result_of(node.op, states[0], axis=None)
    return result_of(node.op, states[0], axis=axes.pop(), keepdims=kept)


def _reshaped(node: Node, state: str) -> str:
    """Follow a cut axis where a reshape adds or takes away an axis of one entry."""
    if state in (WHOLE, PARTIAL):
        return state
    before, after = node.parents[0].data.shape, node.data.shape
    if len(after) in (1, 2) and [k for k in before if k > 1] == [k for k in after if k > 1]:
        if before == after:
            return state
        length = before[0 if state == ROWS else -1]
        return ROWS if len(after) == 2 and after[0] == length else COLUMNS
    raise ValueError("placement: this reshape has no rule. It changes more than axes of one entry.")


def _leaf(node: Node, state: str) -> str:
    shape = np.shape(node.data)
    if state not in (WHOLE, ROWS, COLUMNS):
        raise ValueError(f"placement: a leaf is whole, rows or columns, not {state!r}.")
    if state == WHOLE or (len(shape) == 2 and shape[state == COLUMNS] > 1):
        return state
    if len(shape) == 1 and state == COLUMNS and shape[0] > 1:
        return state
    raise ValueError(f"placement: an array of shape {shape} cannot be cut by {state}.")


def place(
    roots: Sequence[Node], leaves: Mapping[Node, str], early: bool = False
) -> tuple[dict[Node, str], list[Node]]:
    """Return the state of every node behind the roots, and the nodes to all-reduce.

    Partial sums are completed as late as the rules allow, or as soon as there are any.

    Args:
        roots: the nodes that every device wants, each whole or cut; no partial sums are left.
        leaves: the states of the leaves, where not whole.
        early: whether to complete each partial sum at once.
    """
    order = {node: None for root in roots for node in root.sorted_graph()[::-1]}
    state: dict[Node, str] = {}
    reduced: list[Node] = []

    def complete(node: Node) -> None:
        if state[node] == PARTIAL:
            state[node] = WHOLE
            reduced.append(node)

    for node in order:
        if not node.parents:
            state[node] = _leaf(node, leaves.get(node, WHOLE))
            continue
        found = _rule(node, [state[parent] for parent in node.parents])
        if found is None:
            for parent in node.parents:
                complete(parent)
            found = _rule(node, [state[parent] for parent in node.parents])
        assert found is not None
        state[node] = found
        if early:
            complete(node)
    for root in roots:
        complete(root)
    return state, reduced


def all_reduced(
    roots: Sequence[str], values: Mapping[str, Node], early: bool = False, **leaves: str
) -> list[tuple[str, tuple[int, ...]]]:
    """Return the sums over devices that named values need: where each goes into, and its shape.

    >>> X, W = Node([[1.0, 2.0], [3.0, 4.0]]), Node([[1.0, 0.0]])
    >>> values = {"X": X, "W": W, "Z": X @ W.T}
    >>> all_reduced(["Z"], values, X="columns", W="columns")
    [('Z', (2, 1))]
    """
    names = {node: name for name, node in values.items()}
    cuts = {values[name]: state for name, state in leaves.items()}
    state, reduced = place([values[name] for name in roots], cuts, early)

    def user(node: Node) -> str:
        if node in names:
            return names[node]
        return next(user(child) for child in state if node in child.parents)

    return [(user(node), np.shape(node.data)) for node in reduced]
