"""Every operation has a row on the page of kinks, or a derivative wherever it has a value."""

import re

import numpy as np

import chaingrad
from chaingrad import Node, grad, losses
from chaingrad.rules import RULES, rule
from chainlab.lessons.kinks import SMOOTH, public_operations
from tests.support import ROOT, each

EYE = np.eye(2)
INDEX = (np.array([0, 1, 0]), np.array([1, 1, 1]))
# Of a matrix m (2, 2), where it isn't called with m alone.
CALLS = {
    "add": lambda m: m + m[0], "sub": lambda m: m - m[0], "mul": lambda m: m * m[0],
    "matmul": lambda m: m @ m, "solve": lambda m: np.linalg.solve(m + 3 * EYE, m),
    "inv": lambda m: np.linalg.inv(m + 3 * EYE),
    "einsum": lambda m: np.einsum("ij,jk->i", m, m), "tensordot": lambda m: np.tensordot(m, m, 1),
    "reshape": lambda m: m.reshape(4), "flatten": Node.flatten, "squeeze": Node.squeeze,
    "expand_dims": lambda m: m.expand_dims(0), "broadcast_to": lambda m: m.broadcast_to(3, 2, 2),
    "swapaxes": lambda m: m.swapaxes(0, 1), "moveaxis": lambda m: np.moveaxis(m, 0, 1),
    "roll": lambda m: np.roll(m, 1), "tile": lambda m: np.tile(m, 2), "pad": lambda m: np.pad(m, 1),
    "repeat": lambda m: m.repeat(2), "getitem": lambda m: m[INDEX],
    "scatter": lambda m: RULES["scatter"](m[:, 0], index=[0, 0], shape=(3,)),
    "take": lambda m: m.take([0, 0, 3]), "append": lambda m: np.append(m, m),
    "take_along_axis": lambda m: np.take_along_axis(m, np.array([[1], [1]]), 1),
    "cast": lambda m: RULES["cast"](m, dtype=np.float64), "astype": lambda m: m.astype(float),
    "cross_entropy": lambda m: losses.cross_entropy(m, [0, 1]),
    "mse_loss": lambda m: losses.mse_loss(m, EYE),
    "l2_penalty": lambda m: losses.l2_penalty([m], 1.0), "log_expit": Node.logsigmoid,
    "full_like": lambda m: np.full_like(m, m[0, 0]),
} | {
    name: lambda m, name=name: getattr(np, name)(m, m)
    for name in ("vecdot", "dot", "vdot", "inner", "outer", "kron")
} | {
    name: lambda m, name=name: getattr(np, name)([m, m])
    for name in ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack")
} | {
    name: lambda m, name=name: chaingrad.concatenate(getattr(np, name)(m, 2))
    for name in ("split", "array_split", "hsplit", "vsplit")
} | {
    name: lambda m: losses.binary_cross_entropy_with_logits(m, EYE)
    for name in ("binary_cross_entropy", "binary_cross_entropy_with_logits")
}  # fmt: skip
POINTS = [np.zeros((2, 2)), np.ones((2, 2)), np.array([[1.0, 1.0], [0.0, -1.0]])]


def called(name):
    """Return a function of one matrix that calls the operation of this name."""
    places = [Node, chaingrad, losses, np, np.linalg]
    return CALLS.get(name) or next(
        (getattr(place, name) for place in places if hasattr(place, name)), RULES.get(name)
    )


def has_one_slope(f, at):
    """Return whether the slopes ahead and behind are both what the gradient says they are."""
    random = np.random.default_rng(0)
    d, step = random.standard_normal(at.shape), 1e-7

    def total(m):
        found = f(m)
        return (found * random_like(found)).sum()

    slope = np.vdot(grad(total)(at), d)
    here = total(Node(at)).data
    moved = [(total(Node(at + h * d)).data - here) / h for h in (step, -step)]
    return np.allclose(moved, slope, rtol=1e-4, atol=1e-5)


def random_like(node):
    return np.random.default_rng(1).uniform(0.5, 1.5, node.shape)


@each("name", sorted(SMOOTH))
def test_what_has_no_row_has_a_derivative_wherever_it_has_a_value(name):
    for at in POINTS:
        assert has_one_slope(called(name), at)


@each("name", ["abs", "relu", "max", "min", "norm", "sort", "ptp", "median"])
def test_a_corner_shows(name):
    assert not all(has_one_slope(called(name), at) for at in POINTS)


def rows():
    """The functions that the page's rows call."""
    page = (ROOT / "chapters/reference/kinks.md").read_text("utf-8")
    calls = set(re.findall(r"measure\(.*?(?=\n    measure\(|\n\))", page, re.DOTALL))
    return {name for call in calls for name in re.findall(r"\bm\.(\w+)\(", call)}


def test_every_operation_has_a_row_or_is_smooth():
    assert public_operations() - rows() - {"div", "pow"} <= SMOOTH
    assert public_operations() >= SMOOTH
    assert not SMOOTH & {"abs", "relu", "clip", "norm", "std", "hypot", "sort", "median"}


def test_a_new_operation_is_missed(monkeypatch):
    before = public_operations()
    monkeypatch.setitem(RULES, "cbrt", rule("cbrt", np.cbrt, None, replace=True))
    monkeypatch.setattr(Node, "hinge", lambda self: self.relu(), raising=False)
    assert public_operations() - before == {"cbrt", "hinge"}
