"""The states of cut arrays, against arrays that two devices really hold in parts."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaingrad import Node
from chaingrad.rules import RULES
from chainlab.lessons.placement import (
    BY_ENTRY,
    COLUMNS,
    PARTIAL,
    PRODUCT,
    ROWS,
    STATES,
    SUMS,
    WHOLE,
    all_reduced,
    place,
    result_of,
)
from tests.support import each

Array = np.ndarray[Any, Any]


def parts(A: Array, state: str) -> list[Array]:
    """What each of two devices has of an array with two axes, or of a row."""
    if state in (ROWS, COLUMNS):
        return np.array_split(A, 2, axis=0 if state == ROWS else -1)
    return [A, A] if state == WHOLE else [0.3 * A, 0.7 * A]


def together(pieces: list[Array], state: str) -> Array:
    if state in (ROWS, COLUMNS):
        return np.concatenate(pieces, axis=0 if state == ROWS else -1)
    return sum(pieces) if state == PARTIAL else pieces[0]  # type: ignore[return-value]


def on_two(f: Callable[..., Array], arrays: list[Array], states: list[str]) -> list[Array]:
    each_has = (parts(A, state) for A, state in zip(arrays, states, strict=True))
    return [f(*own) for own in zip(*each_has, strict=True)]


def met(op: str, states: list[str], result: str) -> list[str]:
    """The states in which the operands meet: of what is whole, a device takes its slice."""
    if op == "matmul" and result == PARTIAL and PARTIAL not in states:
        return [COLUMNS, ROWS]
    if op in BY_ENTRY and result in (ROWS, COLUMNS):
        return [result] * len(states)
    return states


OF_TWO: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "matmul": operator.matmul,
}
OF_ONE: dict[str, Callable[..., Array]] = {
    "neg": np.negative,
    "abs": np.abs,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "relu": lambda a: np.maximum(a, 0),
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "transpose": np.transpose,
}
sizes = st.integers(2, 5)
seeds = st.integers(0, 99)
state = st.sampled_from(STATES)


def held(op: str, f: Callable[..., Array], arrays: list[Array], states: list[str]) -> None:
    """Where the rules have an answer, two devices that follow it have the right result."""
    try:
        result = result_of(op, *states)
    except ValueError:  # its text is looked at below
        return
    if result is None:
        assert PARTIAL in states
        return
    found = together(on_two(f, arrays, met(op, states, result)), result)
    np.testing.assert_allclose(found, f(*arrays), rtol=1e-12)


@given(st.sampled_from(sorted(OF_TWO)), state, state, sizes, sizes, sizes, seeds)
def test_two_operands(op: str, a: str, b: str, n: int, d: int, h: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.uniform(0.5, 2, (n, d))
    B = rng.uniform(0.5, 2, (d, h) if op == "matmul" else (n, d))
    held(op, OF_TWO[op], [A, B], [a, b])


@given(st.sampled_from(sorted(OF_ONE)), state, sizes, sizes, seeds)
def test_one_operand(op: str, a: str, n: int, d: int, seed: int) -> None:
    held(op, OF_ONE[op], [np.random.default_rng(seed).uniform(0.5, 2, (n, d))], [a])


def _of_node(total: Callable[..., Node]) -> Callable[[Array], Array]:
    return lambda a: np.asarray(total(Node(a)).data)


@given(
    st.sampled_from(sorted(SUMS)),
    st.sampled_from([WHOLE, ROWS, COLUMNS]),
    st.sampled_from([None, 0, 1, -1, -2]),
    st.booleans(),
    sizes,
    st.booleans(),
    seeds,
)
def test_sums_read_the_axis_of_the_operation(
    op: str, a: str, axis: int | None, keepdims: bool, n: int, square: bool, seed: int
) -> None:
    """Of a square array, too, whose shape doesn't say which axis is gone."""
    A = np.random.default_rng(seed).normal(size=(n, n if square else n + 1))

    def total(node: Node) -> Node:
        if op == "squared_norm":
            return node.squared_norm()
        return node.sum(axis=axis, keepdims=keepdims)

    X = Node(A)
    out = total(X)
    assert out.op == op
    found, reduced = place([out], {X: a})
    assert found[out] != PARTIAL
    final = PARTIAL if reduced else found[out]
    np.testing.assert_allclose(
        together(on_two(_of_node(total), [A], [a]), final), out.data, rtol=1e-10, atol=1e-12
    )


@each(
    ("op", "f", "states"),
    [
        ("add", np.add, [PARTIAL, WHOLE]),  # the second would be counted twice
        ("mul", np.multiply, [PARTIAL, PARTIAL]),
        ("tanh", np.tanh, [PARTIAL]),
        ("squared_norm", lambda a: np.sum(a**2), [PARTIAL]),
    ],
)
def test_what_waits_for_the_sum_would_be_wrong_without_it(
    op: str, f: Callable[..., Array], states: list[str]
) -> None:
    arrays = [np.random.default_rng(i).normal(size=(4, 4)) for i in range(len(states))]
    assert result_of(op, *states) is None
    assert not np.allclose(together(on_two(f, arrays, states), PARTIAL), f(*arrays))


KNOWN = BY_ENTRY | SUMS | {"matmul", "transpose"}


@pytest.mark.parametrize("op", sorted({*RULES, "banana"} - KNOWN))
def test_operations_without_a_rule_are_refused_by_name(op: str) -> None:
    with pytest.raises(ValueError, match=op):
        result_of(op, ROWS)


@each(
    "build",
    [
        lambda x: x.mean(),
        lambda x: x.max(axis=1),
        lambda x: x.logsumexp(axis=1),
        lambda x: x.cumsum(axis=0),
        lambda x: x.sort(axis=0),
        lambda x: x[0],
    ],
)
def test_a_graph_with_such_an_operation_is_refused(build: Callable[[Node], Node]) -> None:
    X = Node(np.ones((4, 4)))
    out = build(X)
    with pytest.raises(ValueError, match=out.op):
        place([out], {X: COLUMNS})


def test_pairs_without_a_rule_are_refused() -> None:
    for pair in ({(a, b) for a in STATES for b in STATES if PARTIAL not in (a, b)}) - {*PRODUCT}:
        with pytest.raises(ValueError, match="Gather"):
            result_of("matmul", *pair)
    with pytest.raises(ValueError, match="rows meet columns in mul"):
        result_of("mul", ROWS, COLUMNS)


def test_leaves_that_cannot_be_cut_so_are_refused() -> None:
    for shape, cut in ((), ROWS), ((3,), ROWS), ((1, 3), ROWS), ((2, 2), PARTIAL):
        leaf = Node(np.ones(shape))
        with pytest.raises(ValueError, match=r"leaf|cannot be cut"):
            place([leaf], {leaf: cut})


@each(
    ("cut", "expected"),
    [
        ({"X": ROWS, "Y": ROWS}, [(7, 5), (3, 7)]),
        ({"W1": ROWS, "W2": COLUMNS}, [(11, 3)]),
        ({"X": COLUMNS, "W1": COLUMNS}, [(11, 7)]),
        ({"W2": ROWS, "Y": COLUMNS}, [(7, 5)]),
    ],
)
@pytest.mark.parametrize("norm", [Node.squared_norm, lambda e: (e * e).sum()])
def test_both_passes_of_a_network(
    norm: Callable[[Node], Node], cut: dict[str, str], expected: list[tuple[int, ...]]
) -> None:
    shapes = {"W1": (7, 5), "W2": (3, 7), "X": (11, 5), "Y": (11, 3)}
    v = {name: Node(np.ones(shape)) for name, shape in shapes.items()}
    error = (v["X"] @ v["W1"].T).tanh() @ v["W2"].T - v["Y"]
    norm(error).backward(create_graph=True)
    v |= {"dW1": v["W1"].grad, "dW2": v["W2"].grad}
    found = all_reduced(["dW1", "dW2"], v, False, **cut)
    assert [shape for _, shape in found] == expected
