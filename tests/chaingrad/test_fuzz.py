"""Random graphs against PyTorch, for FUZZ_SECONDS (5 by default) and with FUZZ_SEED (0)."""

import ast
import operator
import os
import time

import numpy as np
import torch

from chaingrad import Node, concatenate, grad, maximum, program, where
from chaingrad.backward import adjoints


def largest(a):
    return a.max(axis=-1, keepdims=True)


def choose(a, b):
    return where(a > b, a, b * 2)


UNARY = [
    (lambda a: a.tanh(), torch.tanh),
    (Node.relu, torch.relu),
    (lambda a: a.sigmoid(), torch.sigmoid),
    (lambda a: a.sin(), torch.sin),
    (Node.abs, torch.abs),
    (lambda a: a**2, lambda a: a**2),
    (lambda a: (a * a + 1).sqrt(), lambda a: (a * a + 1).sqrt()),
    (lambda a: (a.tanh() + 2).log(), lambda a: (a.tanh() + 2).log()),
    (lambda a: 1 - a, lambda a: 1 - a),
    (lambda a: a.sum(), lambda a: a.sum()),
    (lambda a: a.mean(), lambda a: a.mean()),
]
AXIS = [
    (lambda a: a.sum(axis=0), lambda a: a.sum(dim=0)),
    (largest, lambda a: a.amax(dim=-1, keepdim=True)),
    (lambda a: a.logsumexp(axis=0), lambda a: a.logsumexp(dim=0)),
    (lambda a: a.reshape(-1), lambda a: a.reshape(-1)),
    (lambda a: a[0], lambda a: a[0]),
    (lambda a: a.T, lambda a: a.permute(*reversed(range(a.ndim)))),
]
BINARY = [
    (lambda a, b: a + b, lambda a, b: a + b),
    (lambda a, b: a - b, lambda a, b: a - b),
    (lambda a, b: a * b, lambda a, b: a * b),
    (lambda a, b: a / (b * b + 1), lambda a, b: a / (b * b + 1)),
    (maximum, torch.maximum),
    (choose, lambda a, b: torch.where(a > b, a, b * 2)),
]
# How far operands are from a kink. Within rounding of one, two engines may take different sides.
MARGINS = {
    Node.relu: np.abs,
    Node.abs: np.abs,
    largest: lambda a: np.diff(np.sort(a, axis=-1), axis=-1)[..., -1:],
    maximum: np.subtract,
    choose: np.subtract,
}


def alone(f):
    return lambda a, _: f(a)


def joined(a, b):
    return concatenate([a, b])


def fits(a, b):
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return True


def clear(operation, *operands):
    """Whether each entry is off the operation's kinks, or on one exactly, for both engines."""
    if operation not in MARGINS:
        return True
    margin = MARGINS[operation]
    ours = np.abs(margin(*(x.data for x, _ in operands)))
    theirs = np.abs(margin(*(t.numpy(force=True) for _, t in operands)))
    return np.all((ours > 1e-9) | ((ours == 0) & (theirs == 0)))


def grow(random):
    """Leaves and a scalar result, of both engines, and the operations between, as functions."""
    size = random.integers(1, 4)
    shapes = [(), (size,), (2, size), (2, 1), (1, size), (3, 2)]
    leaves = []
    for shape in random.permutation(len(shapes))[: random.integers(1, 5)]:
        data = random.uniform(-1, 1, shapes[shape])
        leaves.append((Node(data), torch.tensor(data, requires_grad=True)))
    things, steps = list(leaves), []
    for _ in range(random.integers(1, 25)):
        i, j = random.integers(0, len(things), 2)
        a, b = things[i], things[j]
        kind = random.random()
        if kind < 0.55 and (kind < 0.35 or a[0].ndim):
            table = UNARY if kind < 0.35 else AXIS
            ours, theirs = table[random.integers(len(table))]
            if not clear(ours, a):
                continue
            new = ours(a[0]), theirs(a[1])
            step = alone(ours)
        elif kind < 0.65 and a[0].ndim == 2 and b[0].ndim and a[0].shape[1] == b[0].shape[0]:
            new = a[0] @ b[0], a[1] @ b[1]
            step = operator.matmul
        elif kind < 0.7 and a[0].ndim and a[0].shape[1:] == b[0].shape[1:] and b[0].ndim:
            new = concatenate([a[0], b[0]]), torch.cat([a[1], b[1]])
            step = joined
        elif fits(a[0], b[0]):
            ours, theirs = BINARY[random.integers(len(BINARY))]
            if not clear(ours, a, b):
                continue
            new = ours(a[0], b[0]), theirs(a[1], b[1])
            step = ours
        else:
            continue
        if new[0].size < 200 and np.all(np.abs(new[0].data) < 1e3):
            things.append(new)
            steps.append((step, i, j))
    theirs = sum(t.tanh().sum() for _, t in things)
    return leaves, total(x for x, _ in things), theirs, steps


def total(things):
    return sum((x.tanh().sum() for x in things), Node(0.0, requires_grad=False))


def replay(steps, *leaves):
    things = list(leaves)
    for step, i, j in steps:
        things.append(step(things[i], things[j]))
    return total(things)


def assert_repeats_nothing(source):
    """No line computes what another one has, and none what nobody reads."""
    found = list(ast.walk(ast.parse(source)))
    right = [ast.unparse(x.value) for x in found if isinstance(x, ast.Assign)]
    computed = [text for text in right if "np.zeros" not in text and not text.isidentifier()]
    assert len(set(computed)) == len(computed), source
    names = [x for x in found if isinstance(x, ast.Name)]
    written, read = ({x.id for x in names if isinstance(x.ctx, k)} for k in (ast.Store, ast.Load))
    assert written <= read, source


def test_random_graphs():
    seed = int(os.environ.get("FUZZ_SEED", "0"))
    end = time.monotonic() + float(os.environ.get("FUZZ_SECONDS", "5"))
    while time.monotonic() < end:
        compare(seed)
        seed += 1


def compare(seed):
    leaves, ours, theirs, steps = grow(np.random.default_rng(seed))
    nodes, tensors = [x for x, _ in leaves], [t for _, t in leaves]
    ours.backward()
    first = torch.autograd.grad(theirs, tensors, create_graph=True)
    for node, t in zip(nodes, first, strict=True):
        np.testing.assert_allclose(node.grad, t.detach(), rtol=1e-8, atol=1e-10, err_msg=f"{seed}")
        assert np.shape(node.grad) == node.shape

    graph = adjoints(ours, ours.seed(None, True), nodes, create_graph=True)
    squares = sum((g * g).sum() for g in graph.values())
    t_total = sum((t * t).sum() for t in first)
    second = adjoints(squares, squares.seed(), nodes)
    expected = torch.autograd.grad(t_total, tensors, allow_unused=True)
    for node, t in zip(nodes, expected, strict=True):
        wanted = np.zeros(node.shape) if t is None else t.numpy(force=True)
        got = second.get(node, np.zeros(node.shape))
        scale = max(1.0, np.abs(wanted).max(initial=0.0))
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-8 * scale, err_msg=f"{seed}")

    second = [second.get(node, np.zeros(node.shape)) for node in nodes]
    compare_programs(seed, steps, [node.data for node in nodes], [n.grad for n in nodes], second)


def compare_programs(seed, steps, points, first, second):
    """The first and now and then the second derivatives, each written down."""
    by = range(len(points))

    def f(*leaves):
        return replay(steps, *leaves)

    def squares(*leaves):
        return sum((g * g).sum() for g in grad(f, by)(*leaves))

    step = program(f, by)
    forms = [(step, first), (program(f, by, reuse=True), first)]
    for form, expected in forms + [(program(squares, by), second)] * (seed % 5 == 0):
        _, gradients = form(*points)
        for g, wanted in zip(gradients, expected, strict=True):
            scale = max(1.0, np.abs(wanted).max(initial=0.0))
            np.testing.assert_allclose(g, wanted, rtol=1e-9, atol=1e-10 * scale, err_msg=f"{seed}")
            assert np.shape(g) == np.shape(wanted)
    assert_repeats_nothing(step.source)
    np.testing.assert_allclose(step(*points)[0], f(*map(Node, points)).data, rtol=1e-12)
