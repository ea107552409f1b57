"""Every update against torch.optim in float64, step by step; clipping against PyTorch's."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from chaingrad import Node, grad
from chaingrad.nn import Linear, Parameter
from chaingrad.optim import (
    SGD,
    Adam,
    AdamW,
    clip_grad_norm,
    clip_grad_value,
    constant,
    cosine,
    step_decay,
)
from tests.support import each

STEPS = 100
START = {
    "scalar": 1.5,
    "vector": np.array([0.5, -2.0, 3.0]),
    "matrix": np.arange(6.0).reshape(2, 3),
}
OURS = {SGD: torch.optim.SGD, Adam: torch.optim.Adam, AdamW: torch.optim.AdamW}
OPTIONS = [
    (SGD, {"lr": 0.05}),
    (SGD, {"lr": 0.05, "weight_decay": 0.3}),
    (SGD, {"lr": 0.05, "momentum": 0.9}),
    (SGD, {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.3}),
    (SGD, {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    (SGD, {"lr": 0.05, "momentum": 0.7, "weight_decay": 0.1, "nesterov": True}),
    (Adam, {"lr": 0.05}),
    (Adam, {}),
    (Adam, {"lr": 0.05, "betas": (0.5, 0.9), "eps": 1e-3}),
    (Adam, {"lr": 0.002, "betas": (0.0, 0.5)}),
    (Adam, {"lr": 0.05, "weight_decay": 0.3}),
    (AdamW, {"lr": 0.05, "weight_decay": 0.3}),
    (AdamW, {}),
]


def objective(parameters):
    """Not convex, with every parameter, for nodes and tensors alike."""
    a, b, c = parameters
    return (((c @ b).tanh() - 0.5) ** 2).mean() + ((a * b).tanh() ** 2).sum() * 0.3 + (a - 0.2) ** 2


def tensors_like(nodes):
    return [torch.tensor(p.data, dtype=torch.float64, requires_grad=True) for p in nodes]


@each(("kind", "options"), OPTIONS)
def test_a_hundred_steps_are_those_of_torch(kind, options):
    nodes = [Parameter(data, label=name) for name, data in START.items()]
    tensors = tensors_like(nodes)
    optimizer, theirs = kind(iter(nodes), **options), OURS[kind](tensors, **{"lr": 1e-3, **options})
    for step in range(STEPS):
        optimizer.zero_grad()
        theirs.zero_grad()
        objective(nodes).backward()
        objective(tensors).backward()
        optimizer.step()
        theirs.step()
        if step == STEPS // 2:
            optimizer.lr = theirs.param_groups[0]["lr"] = 0.01
        for node, tensor in zip(nodes, tensors, strict=True):
            assert type(node.data) is type(START[node.label])
            np.testing.assert_allclose(
                node.data, tensor.detach().numpy(), rtol=1e-10, atol=1e-12, err_msg=f"step {step}"
            )


@given(
    start=arrays(np.float64, (3,), elements=st.floats(-2, 2)),
    gradients=arrays(np.float64, (8, 3), elements=st.floats(-2, 2)),
    momentum=st.sampled_from([0.0, 0.5, 0.99]),
    weight_decay=st.sampled_from([0.0, 0.1]),
    kind=st.sampled_from([SGD, Adam]),
)
def test_any_gradients(start, gradients, momentum, weight_decay, kind):
    node = Node(start)
    [tensor] = tensors_like([node])
    options = {"lr": 0.1, "weight_decay": weight_decay}
    options |= {"momentum": momentum} if kind is SGD else {"betas": (momentum, 0.9)}
    optimizer, theirs = kind([node], **options), OURS[kind]([tensor], **options)
    for gradient in gradients:
        node.grad, tensor.grad = gradient, torch.tensor(gradient)
        optimizer.step()
        theirs.step()
        np.testing.assert_allclose(node.data, tensor.detach().numpy(), rtol=1e-9, atol=1e-12)


@each(("kind", "options"), OPTIONS)
def test_float32_stays_float32_and_axes_stay(kind, options):
    nodes = [Node(np.float32(1.0)), Node(np.ones((2, 2), np.float32)), Node(np.ones(3, np.float32))]
    optimizer = kind(nodes, **options)
    optimizer.lr = np.float64(0.1)
    for _ in range(3):
        optimizer.zero_grad()
        sum((p * p).sum() for p in nodes).backward()
        clip_grad_norm(nodes, 0.5)
        optimizer.step()
        for p in nodes:
            assert isinstance(p.data, np.ndarray)
            assert p.data.dtype == p.grad.dtype == np.float32
    assert [p.shape for p in nodes] == [(), (2, 2), (3,)]


# --- what a step leaves alone -------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_a_step_binds_a_new_array_and_records_nothing(kind):
    given_array = np.ones(3)
    p = Parameter(given_array)
    (p * p).sum().backward()
    gradient = p.grad
    kind([p], lr=0.1).step()
    assert p.data is not given_array
    np.testing.assert_array_equal(given_array, 1.0)
    assert p.grad is gradient
    np.testing.assert_array_equal(gradient, 2.0)
    assert isinstance(p.data, np.ndarray)
    assert p.parents == ()


def test_a_graph_recorded_before_the_step_keeps_the_transposed_weights():
    layer, x = Linear(3, 2, rng=0), Node(np.ones((4, 3)))
    loss = (layer(x) ** 2).sum()
    loss.backward()
    expected, x.grad = x.grad, 0.0
    SGD(layer.parameters(), lr=1.0).step()
    loss.backward()
    np.testing.assert_array_equal(x.grad, expected)


def test_the_state_of_an_optimizer_does_not_share_the_gradient():
    p = Node(np.zeros(2))
    p.grad = np.ones(2)
    optimizer = SGD([p], lr=1.0, momentum=1.0)
    optimizer.step()
    p.grad[:] = 0.0
    optimizer.step()
    np.testing.assert_array_equal(p.data, -2.0)


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_an_array_that_no_pass_has_reached_is_skipped_as_in_torch(kind):
    used, unused = Node(np.ones(2)), Node(np.ones(2))
    tensors = tensors_like([used, unused])
    options = {"lr": 0.1, "weight_decay": 0.5}
    optimizer, theirs = kind([used, unused], **options), OURS[kind](tensors, **options)
    for step in range(6):
        optimizer.zero_grad()
        theirs.zero_grad()
        for ours, t in ((used, tensors[0]), (unused, tensors[1]))[: 2 if step == 3 else 1]:
            (ours * ours).sum().backward()
            (t * t).sum().backward()
        optimizer.step()
        theirs.step()
        for node, tensor in zip([used, unused], tensors, strict=True):
            np.testing.assert_allclose(node.data, tensor.detach().numpy(), rtol=1e-12)
        assert (unused.data[0] == 1.0) == (step < 3)
    unused.grad = None  # PyTorch's way to say it
    before = unused.data
    optimizer.step()
    assert unused.data is before


def test_zero_at_a_scalar_is_a_gradient():
    p = Node(1.0)
    SGD([p], lr=0.1, weight_decay=0.5).step()
    assert p.data == 0.95


def test_gradients_that_are_nodes_are_used_by_value():
    p = Node(np.array([1.0, 2.0]))
    (p**3).sum().backward(create_graph=True)
    assert math.isclose(clip_grad_norm([p], 1e9), math.hypot(3, 12))
    SGD([p], lr=1.0).step()
    np.testing.assert_allclose(p.data, [-2.0, -10.0])


def test_zero_grad():
    nodes = [Node(1.0), Node(np.ones(2))]
    (nodes[0] * nodes[1]).sum().backward()
    SGD(nodes, lr=0.1).zero_grad()
    assert [p.grad for p in nodes] == [0.0, 0.0]


# --- clipping -----------------------------------------------------------------------------------


@given(
    gradients=st.lists(
        arrays(np.float64, (2, 2), elements=st.floats(-1e3, 1e3)), min_size=1, max_size=3
    ),
    scalar=st.floats(-1e3, 1e3),
    limit=st.sampled_from([0.0, 0.5, 10.0, 1e6, math.inf]),
)
def test_clipping_is_that_of_torch(gradients, scalar, limit):
    def make():
        nodes = [Node(np.zeros((2, 2))) for _ in gradients] + [Node(0.0), Node(np.zeros(4))]
        tensors = tensors_like(nodes)
        for node, tensor, g in zip(nodes, tensors, [*gradients, scalar], strict=False):
            node.grad, tensor.grad = g, torch.tensor(g, dtype=torch.float64)
        return nodes, tensors

    def same(nodes, tensors):
        for node, tensor in zip(nodes[:-1], tensors, strict=False):
            assert type(node.grad) is type(node.data)
            np.testing.assert_allclose(node.grad, tensor.grad, rtol=1e-12, atol=1e-140)
        assert type(nodes[-1].grad) is float  # never reached

    nodes, tensors = make()
    norm = clip_grad_norm(iter(nodes), limit)
    theirs = torch.nn.utils.clip_grad_norm_(tensors, limit)
    assert type(norm) is float
    np.testing.assert_allclose(norm, theirs.item(), rtol=1e-12, atol=1e-150)
    same(nodes, tensors)

    nodes, tensors = make()
    clip_grad_value(iter(nodes), limit)
    torch.nn.utils.clip_grad_value_(tensors, limit)
    same(nodes, tensors)


def test_clipping_what_is_not_finite():
    for bad in (math.inf, math.nan):
        nodes = [Node(0.0), Node(np.zeros(2))]
        tensors = tensors_like(nodes)
        for p, t in zip(nodes, tensors, strict=True):
            t.grad = torch.full_like(t, 1.0)
            p.grad = t.grad.numpy().copy() if p.ndim else 1.0
        nodes[0].grad, tensors[0].grad = bad, torch.tensor(bad, dtype=torch.float64)
        norm = clip_grad_norm(nodes, 1.0)
        theirs = torch.nn.utils.clip_grad_norm_(tensors, 1.0)
        np.testing.assert_array_equal(norm, theirs.item())
        for p, t in zip(nodes, tensors, strict=True):
            np.testing.assert_array_equal(p.grad, t.grad)
        nodes[0].grad = bad
        clip_grad_value(nodes, 1.0)
        np.testing.assert_array_equal(nodes[0].grad, np.clip(bad, -1, 1))


def test_the_norm_of_half_precision_does_not_overflow():
    w = Node(np.zeros(4, np.float16))
    w.grad = np.full(4, 400, np.float16)
    assert clip_grad_norm([w], 1.0) == 800
    assert w.grad.dtype == np.float16
    np.testing.assert_allclose(w.grad, 0.5, rtol=1e-3)


def test_adam_of_half_precision_squares_no_large_gradient():
    w = Node(np.ones(1, np.float16))
    adam = Adam([w])
    for _ in range(3):
        w.grad = np.full(1, 300, np.float16)
        adam.step()
    np.testing.assert_allclose(w.data, 0.997, rtol=1e-3)


def test_the_norm_of_nothing_is_zero():
    nodes = [Node(0.0), Node(np.zeros(2))]
    assert clip_grad_norm(nodes, 1.0) == 0.0
    assert [p.grad for p in nodes] == [0.0, 0.0]


def test_the_gradient_of_a_clipped_step_is_not_differentiated():
    """Clipping reads and binds ``grad`` alone: functions of the same node are not affected."""
    p = Node(2.0)
    (p**3).backward()
    clip_grad_norm([p], 1.0)
    assert grad(lambda x: x**3)(p).data == 12.0


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("take", [lambda p: SGD(p, 0.1), Adam, lambda p: clip_grad_norm(p, 1.0)])
def test_what_cannot_be_trained(take):
    with pytest.raises(ValueError, match="no parameters"):
        take([])
    model = Linear(2, 1, rng=0)
    generator = model.parameters()
    take(generator)
    with pytest.raises(ValueError, match="used up before"):
        take(generator)
    with pytest.raises(TypeError, match=r"pass \[node\]"):
        take(model.weight)
    with pytest.raises(TypeError, match="number 1 is ndarray"):
        take([model.weight, np.ones(2)])
    with pytest.raises(TypeError, match="number 0 is str 'weight'"):
        take(dict(model.named_parameters()))
    with pytest.raises(TypeError, match="leaves; number 0 is the result of 'mul'"):
        take([model.weight * 2])
    with pytest.raises(ValueError, match="listed twice"):
        take([model.weight, model.weight])


@each(
    ("make", "message"),
    [
        (lambda p: SGD(p, lr=-0.1), "lr must be 0 or more; got -0.1"),
        (lambda p: SGD(p, lr=math.nan), "lr must be 0 or more; got nan"),
        (lambda p: SGD(p, lr=0.1, momentum=-1), "momentum must be"),
        (lambda p: SGD(p, lr=0.1, weight_decay=-1), "weight_decay must be"),
        (lambda p: SGD(p, lr=0.1, nesterov=True), "momentum above 0"),
        (lambda p: Adam(p, betas=(0.9, 1.0)), r"betas.*\(0.9, 1.0\)"),
        (lambda p: Adam(p, betas=(0.9,)), r"betas must be two numbers"),
        (lambda p: Adam(p, betas=0.9), r"betas must be two numbers.*got 0.9"),
        (lambda p: Adam(p, eps=-1e-8), "eps must be"),
        (lambda p: clip_grad_norm(p, -1.0), "max_norm must be"),
        (lambda p: clip_grad_value(p, -1.0), "clip_value must be"),
    ],
)
def test_numbers_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make([Node(1.0)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: SGD([p], "0.1"), "lr must be a number; got str '0.1'"),
        (lambda p: Adam([p], lr=None), "lr must be a number; got NoneType"),
        (lambda p: SGD([{"params": [p]}], 0.1), "number 0 is dict"),
    ],
)
def test_arguments_of_the_wrong_kind(make, message):
    with pytest.raises(TypeError, match=message):
        make(Node(1.0))


@pytest.mark.parametrize("use", [lambda p: SGD(p, lr=1.0).step(), lambda p: clip_grad_norm(p, 1.0)])
def test_a_gradient_of_the_wrong_shape(use):
    p = Node(np.zeros((3, 1)), label="W")
    p.grad = np.ones(3)
    with pytest.raises(ValueError, match=r"'W' must have the shape \(3, 1\).*got \(3,\)"):
        use([p])


@each("kind", [SGD, Adam, AdamW])
@each("data", [1.0, np.array([1.0, 2.0])])
def test_a_frozen_parameter_never_moves(kind, data):
    options = {"weight_decay": 0.5} | ({"momentum": 0.9} if kind is SGD else {})
    frozen, free = Node(data), Node(data)
    optimizer = kind([frozen, free], lr=0.1, **options)
    for step in range(3):
        optimizer.zero_grad()
        (frozen * frozen + free * free).sum().backward()
        optimizer.step()
        if step == 0:
            frozen.requires_grad = False
            at = frozen.data
    frozen.grad = free.grad
    clip_grad_norm([frozen, free], 1e-3)
    optimizer.step()
    assert np.array_equal(frozen.data, at)
    assert not np.array_equal(free.data, at)
    assert frozen.grad is not free.grad or np.all(np.abs(frozen.grad) > 1e-3)


# --- schedules ----------------------------------------------------------------------------------


def rates_of_torch(kind, steps, **options):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    scheduler = kind(optimizer, **options)
    for _ in range(steps):
        yield scheduler.get_last_lr()[0]
        optimizer.step()
        scheduler.step()


def test_schedules_are_those_of_torch():
    scheduler = torch.optim.lr_scheduler
    for ours, theirs in [
        (step_decay(0.3, 7, 0.4), rates_of_torch(scheduler.StepLR, 40, step_size=7, gamma=0.4)),
        (
            cosine(0.3, 40, least=0.02),
            rates_of_torch(scheduler.CosineAnnealingLR, 41, T_max=40, eta_min=0.02),
        ),
    ]:
        for t, expected in enumerate(theirs):
            assert ours(t) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("warmup", [0, 1, 5])
def test_a_rate_rises_to_its_top_and_never_leaves_it_for_more(warmup):
    for rate in (constant(0.3, warmup), cosine(0.3, 20, warmup)):
        assert max(map(rate, range(30))) == rate(warmup) == 0.3
        rising = [rate(t) for t in range(warmup)]
        assert rising == pytest.approx([0.3 * (t + 1) / warmup for t in range(warmup)])
    assert cosine(0.3, 20, warmup, 0.1)(1000) == pytest.approx(0.1)


@pytest.mark.parametrize("kind", [SGD, Adam, AdamW])
def test_any_optimizer_takes_a_rate_at_each_step(kind):
    def trained(rates):
        w = Node(2.0)
        optimizer = kind([w], lr=0.1)
        for rate in rates:
            optimizer.lr = rate
            optimizer.zero_grad()
            (w * w).backward()
            optimizer.step()
        return w.data

    falling = cosine(0.1, 5)
    assert trained(map(falling, range(5))) != trained([0.1] * 5)
    assert trained(map(constant(0.1), range(5))) == trained([0.1] * 5)


@each(
    ("make", "message"),
    [
        (lambda: constant(-0.1), "lr must be 0 or more"),
        (lambda: constant(0.1, warmup=-1), "warmup must be 0 or more"),
        (lambda: step_decay(0.1, 0), "1 step or more; got 0"),
        (lambda: cosine(0.1, 3, warmup=3), "steps=3 must be more than warmup=3"),
        (lambda: cosine(-0.1, 3), "lr must be 0 or more"),
    ],
)
def test_a_schedule_that_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
