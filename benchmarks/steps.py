"""The same two pieces of work for every engine, on the same numbers.

Scalars: the forward and backward pass of micrograd's own MLP on one example, whose inputs both
engines track, as micrograd has to. Arrays: the gradients of
J = ‖o − y‖²/2n + λ/2 (‖W1‖² + ‖W2‖²) for o = relu(X W1ᵀ) W2ᵀ, without bias, in float32. Everybody
writes ‖W‖² as the sum of W**2; where it is called fused, everybody has their own dot product.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import Contender
from chainlab.lessons import engine

DECAY = 0.01
Size = tuple[int, int, int, int]  # d, h, q, n
Gradients = Callable[[Any], tuple[Any, Any]]


def scalar_mlps(n_in: int, sizes: list[int]) -> tuple[dict[str, Contender], dict[str, Contender]]:
    """Make forward and backward together, and backward alone, for chaingrad and micrograd."""
    import micrograd.engine
    import micrograd.nn

    from chaingrad import Node, nn

    ours = nn.MLP(n_in, sizes, activation="relu", rng=0)
    theirs = micrograd.nn.MLP(n_in, sizes)
    for our_layer, their_layer in zip(ours.layers, theirs.layers, strict=True):
        for ours_, theirs_ in zip(our_layer.neurons, their_layer.neurons, strict=True):
            for our_weight, their_weight in zip(ours_.weights, theirs_.w, strict=True):
                their_weight.data = our_weight.data
            theirs_.b.data = ours_.bias.data
    random = np.random.default_rng(1)
    example = random.uniform(-1, 1, n_in).tolist()
    x = [Node(v) for v in example]
    values = [micrograd.engine.Value(v) for v in example]

    ours(x).backward()
    theirs(values).backward()
    np.testing.assert_allclose(
        [p.grad for p in ours.parameters()],
        [p.grad for layer in theirs.layers for n in layer.neurons for p in (*n.w, n.b)],
        rtol=1e-9,
    )
    numbers = [p.data for p in ours.parameters()]
    leaves = [engine.Node(v) for v in [*example, *numbers]]

    def by_reader() -> Any:
        return mlp_value(sizes, leaves[:n_in], leaves[n_in:], _relu)

    by_reader().backward()
    np.testing.assert_allclose(
        [leaf.grad for leaf in leaves[n_in:]], [p.grad for p in ours.parameters()], rtol=1e-9
    )
    both = {
        "chaingrad": Contender(lambda _: ours(x).backward()),
        "micrograd": Contender(lambda _: theirs(values).backward()),
        "45 lines": Contender(lambda _: by_reader().backward()),
    }
    alone = {
        "chaingrad": Contender(lambda loss: loss.backward(), lambda: ours(x)),
        "micrograd": Contender(lambda loss: loss.backward(), lambda: theirs(values)),
        "45 lines": Contender(lambda loss: loss.backward(), by_reader),
    }
    return both, alone


def mlp_value(sizes: list[int], x: Any, parameters: Any, relu: Callable[[Any], Any]) -> Any:
    """Compute an MLP with ReLU from a flat sequence of each neuron's weights and bias."""
    at = 0
    for count in sizes:
        stop = at + count * (len(x) + 1)
        rows = [parameters[i : i + len(x) + 1] for i in range(at, stop, len(x) + 1)]
        sums = [sum([w * v for w, v in zip(row, x, strict=False)], row[-1]) for row in rows]
        x, at = [relu(z) for z in sums] if stop < len(parameters) else sums, stop
    return x[0]


def _relu(z: Any) -> Any:
    """Apply ReLU with the reader's engine, which leaves it as an exercise."""
    is_on = z.data > 0
    return engine.Node(z.data if is_on else 0.0, (z,), (float(is_on),), "relu")


def inputs(size: Size) -> tuple[Any, Any, Any, Any]:
    """Return W1, W2, X and Y of a step."""
    d, h, q, n = size
    random = np.random.default_rng(0)

    def array(*shape: int) -> Any:
        return random.standard_normal(shape, dtype=np.float32)

    return array(h, d) / d**0.5, array(q, h) / h**0.5, array(n, d), array(n, q)


def array_steps(size: Size, fused: bool = False) -> dict[str, Contender]:
    """Make the gradients of J for every engine, and compare them before returning them."""
    W1, W2, X, Y = inputs(size)
    engines = [_chaingrad, _pytorch, _autograd, _mygrad, _unguarded, _jax, _jax_eager]
    engines += [_numpy, _numpy_out, _pytorch_by_hand, _program, _source]
    contenders = {make.__name__[1:]: make(W1, W2, X, Y, fused) for make in engines}
    expected = contenders["numpy"](None)
    for gradients in contenders.values():
        for ours, theirs in zip(gradients(None), expected, strict=True):
            ours = np.asarray(ours)
            assert ours.dtype == np.float32
            np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-4)
    for make in (_products, _pytorch_products, _jax_products):
        contenders[make.__name__[1:]] = make(W1, W2, X, Y)
    return {name: Contender(gradients) for name, gradients in contenders.items()}


def _chaingrad(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    from chaingrad import Node

    w1, w2 = Node(W1), Node(W2)
    x, y = Node(X, requires_grad=False), Node(Y, requires_grad=False)
    square = Node.squared_norm if fused else lambda a: (a**2).sum()
    return _taped(w1, w2, x, y, square, 0.0)


def _pytorch(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    import torch

    torch.set_num_threads(1)
    w1, w2 = torch.tensor(W1, requires_grad=True), torch.tensor(W2, requires_grad=True)
    x, y = torch.tensor(X), torch.tensor(Y)

    def dot(a: Any) -> Any:
        flat = a.reshape(-1)
        return torch.dot(flat, flat)

    square = dot if fused else lambda a: (a**2).sum()
    return _taped(w1, w2, x, y, square, None)


def _taped(w1: Any, w2: Any, x: Any, y: Any, square: Any, zero: Any) -> Gradients:
    """Make the step for an engine that stores its gradients on the variables."""
    n = len(x)

    def gradients(_: Any) -> tuple[Any, Any]:
        w1.grad = w2.grad = zero
        error = (x @ w1.T).relu() @ w2.T - y
        loss = square(error) / (2 * n) + DECAY / 2 * (square(w1) + square(w2))
        loss.backward()
        return w1.grad, w2.grad

    return gradients


def _autograd(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    import autograd
    import autograd.numpy as anp

    n = len(X)

    def square(a: Any) -> Any:
        return anp.dot(a.ravel(), a.ravel()) if fused else anp.sum(a**2)

    def loss(weights: Any) -> Any:
        w1, w2 = weights
        z = X @ w1.T
        error = (z * (z > 0)) @ w2.T - Y  # its maximum(z, 0) would go on in float64
        return square(error) / (2 * n) + DECAY / 2 * (square(w1) + square(w2))

    gradient = autograd.grad(loss)
    return lambda _: tuple(gradient((W1, W2)))


def _mygrad(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    """Make the step for MyGrad with its defaults, which lock a graph's arrays against changes."""
    import mygrad as mg

    n, w1, w2 = len(X), mg.tensor(W1), mg.tensor(W2)  # type: ignore[attr-defined]
    square = (lambda a: mg.matmul(a.ravel(), a.ravel())) if fused else (lambda a: (a**2).sum())

    def gradients(_: Any) -> tuple[Any, Any]:
        error = mg.maximum(X @ w1.T, 0) @ w2.T - Y
        loss = square(error) / (2 * n) + DECAY / 2 * (square(w1) + square(w2))
        loss.backward()
        return w1.grad, w2.grad

    return gradients


def _unguarded(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    """Make the step for MyGrad without these locks."""
    import mygrad as mg

    return mg.mem_guard_off(_mygrad(W1, W2, X, Y, fused))  # type: ignore[attr-defined]


def _jax(W1: Any, W2: Any, X: Any, Y: Any, fused: bool, is_compiled: bool = True) -> Gradients:
    import jax
    import jax.numpy as jnp

    n = len(X)
    square = (lambda a: jnp.vdot(a, a)) if fused else (lambda a: (a**2).sum())

    def loss(weights: Any, x: Any, y: Any) -> Any:
        w1, w2 = weights
        error = jax.nn.relu(x @ w1.T) @ w2.T - y
        return square(error) / (2 * n) + DECAY / 2 * (square(w1) + square(w2))

    gradient = jax.value_and_grad(loss)  # the value, too, as the others compute it
    gradient = jax.jit(gradient) if is_compiled else gradient
    weights, x, y = (jnp.asarray(W1), jnp.asarray(W2)), jnp.asarray(X), jnp.asarray(Y)
    return lambda _: jax.block_until_ready(gradient(weights, x, y))[1]


def _jax_eager(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    return _jax(W1, W2, X, Y, fused, is_compiled=False)


def _numpy(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    n = len(X)
    square = (lambda a: np.vdot(a, a)) if fused else (lambda a: (a**2).sum())

    def gradients(_: Any) -> tuple[Any, Any]:
        z = X @ W1.T
        h = np.maximum(z, 0)
        error = h @ W2.T - Y
        square(error) / (2 * n) + DECAY / 2 * (square(W1) + square(W2))
        d_o = error / n
        d_z = d_o @ W2 * (z > 0)
        return d_z.T @ X + DECAY * W1, d_o.T @ h + DECAY * W2

    return gradients


def _numpy_out(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    """Make the step by hand with every array allocated once, and written with ``out=``."""
    (n, _), (h, _), (q, _) = X.shape, W1.shape, W2.shape
    z, d_h, is_on = np.empty((n, h), X.dtype), np.empty((n, h), X.dtype), np.empty((n, h), bool)
    error, squares = np.empty((n, q), X.dtype), [np.empty_like(a) for a in (Y, W1, W2)]
    d_W1, d_W2, decay1, decay2 = (np.empty_like(a) for a in (W1, W2, W1, W2))

    def square(a: Any, out: Any) -> Any:
        return np.vdot(a, a) if fused else np.multiply(a, a, out=out).sum()

    def gradients(_: Any) -> tuple[Any, Any]:
        np.matmul(X, W1.T, out=z)
        np.greater(z, 0, out=is_on)
        np.maximum(z, 0, out=z)
        np.matmul(z, W2.T, out=error)
        np.subtract(error, Y, out=error)
        of_error, of_W1, of_W2 = map(square, (error, W1, W2), squares)
        of_error / (2 * n) + DECAY / 2 * (of_W1 + of_W2)
        np.divide(error, n, out=error)
        np.matmul(error, W2, out=d_h)
        np.multiply(d_h, is_on, out=d_h)
        np.matmul(d_h.T, X, out=d_W1)
        np.add(d_W1, np.multiply(W1, DECAY, out=decay1), out=d_W1)
        np.matmul(error.T, z, out=d_W2)
        np.add(d_W2, np.multiply(W2, DECAY, out=decay2), out=d_W2)
        return d_W1, d_W2

    return gradients


def _pytorch_by_hand(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    """Make the step of `_numpy` with PyTorch's tensors, and no graph."""
    import torch

    torch.set_num_threads(1)
    w1, w2, x, y = map(torch.tensor, (W1, W2, X, Y))
    n = len(x)

    def square(a: Any) -> Any:
        return torch.dot(a.reshape(-1), a.reshape(-1)) if fused else (a**2).sum()

    def gradients(_: Any) -> tuple[Any, Any]:
        z = x @ w1.T
        h = z.relu()
        error = h @ w2.T - y
        square(error) / (2 * n) + DECAY / 2 * (square(w1) + square(w2))
        d_o = error / n
        d_z = d_o @ w2 * (z > 0)
        return d_z.T @ x + DECAY * w1, d_o.T @ h + DECAY * w2

    return gradients


def _written(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Any:
    """Make the step as chaingrad.program writes it, and call it once so that it's written."""
    import chaingrad

    square = chaingrad.Node.squared_norm if fused else lambda a: (a**2).sum()

    def loss(w1: Any, w2: Any, x: Any, y: Any) -> Any:
        error = (x @ w1.T).relu() @ w2.T - y
        return square(error) / (2 * len(x)) + DECAY / 2 * (square(w1) + square(w2))

    step = chaingrad.program(loss, argnums=(0, 1))
    step(W1, W2, X, Y)
    return step


def _program(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    step = _written(W1, W2, X, Y, fused)
    return lambda _: step(W1, W2, X, Y)[1]


def _source(W1: Any, W2: Any, X: Any, Y: Any, fused: bool) -> Gradients:
    scope: dict[str, Any] = {}
    exec(_written(W1, W2, X, Y, fused).source, scope)
    loss = scope["loss"]
    return lambda _: loss(W1, W2, X, Y)[1]


def _products(W1: Any, W2: Any, X: Any, Y: Any) -> Gradients:
    """Make the five matrix products of the step and nothing else: the work no engine can save."""
    return _five(W1, W2, X, np.maximum(X @ W1.T, 0), Y / len(X))


def _pytorch_products(W1: Any, W2: Any, X: Any, Y: Any) -> Gradients:
    """Make the same products with PyTorch's matrix library."""
    import torch

    arrays = W1, W2, X, np.maximum(X @ W1.T, 0), Y / len(X)
    return _five(*map(torch.tensor, arrays))


def _jax_products(W1: Any, W2: Any, X: Any, Y: Any) -> Gradients:
    """Make the same products with XLA's matrix library, in one compiled program."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def products(w1: Any, w2: Any, x: Any, h: Any, d_o: Any) -> Any:
        d_h = d_o @ w2
        return x @ w1.T, h @ w2.T, d_h.T @ x, d_o.T @ h

    arrays = [*map(jnp.asarray, (W1, W2, X, np.maximum(X @ W1.T, 0), Y / len(X)))]
    return lambda _: jax.block_until_ready(products(*arrays))[2:]


def _five(W1: Any, W2: Any, X: Any, h: Any, d_o: Any) -> Gradients:
    def gradients(_: Any) -> tuple[Any, Any]:
        X @ W1.T
        h @ W2.T
        d_h = d_o @ W2
        return d_h.T @ X, d_o.T @ h

    return gradients
