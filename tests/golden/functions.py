"""Functions as people write them, whose gradients `chaingrad.program` writes down.

Each is given with the shapes of its arguments: ``8,16`` of an array, ``8,16+`` of one of positive
numbers, ``s`` of a number, ``32<7`` of labels below 7. The gradient is that of all but labels.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import chaingrad
from chaingrad import losses

Function = Callable[..., Any]
FUNCTIONS: dict[str, tuple[Function, str]] = {}


def of(shapes: str) -> Callable[[Function], Function]:
    def keep(f: Function) -> Function:
        FUNCTIONS[f.__name__] = (f, shapes)
        return f

    return keep


def arguments(shapes: str) -> Iterator[Any]:
    """Arguments of these shapes, the same in every run."""
    rng = np.random.default_rng(0)
    for text in shapes.split():
        if text == "s":
            yield float(rng.uniform(0.5, 1.5))
        elif "<" in text:
            size, below = map(int, text.split("<"))
            yield rng.integers(0, below, size)
        else:
            drawn = rng.standard_normal(tuple(map(int, text.rstrip("+").split(","))))
            yield np.abs(drawn) + 0.5 if text.endswith("+") else drawn


# --- numbers --------------------------------------------------------------------------------------


@of("s s s")
def neuron(w, x, b):
    return (w * x + b).tanh()


@of("s s")
def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


@of("s s")
def shared_twice(a, b):
    c = a * b
    return c * c + a


@of("s s s")
def quadratic_root(a, b, c):
    return (-b + (b * b + 4 * a * c) ** 0.5) / (2 * a)


# --- activations ----------------------------------------------------------------------------------


@of("8,16")
def leaky_relu(x):
    return np.where(x > 0, x, 0.1 * x).sum()


@of("8,16")
def gelu(x):
    return (0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))).sum()


@of("8,16")
def softplus_squared(x):
    return (np.logaddexp(x, 0) ** 2).sum()


@of("8,16 8,16")
def gated(a, b):
    return (a * b.sigmoid()).sum()


# --- losses ---------------------------------------------------------------------------------------


@of("64 64")
def huber(p, y):
    r = p - y
    a = np.abs(r)
    return np.where(a < 1, 0.5 * r * r, a - 0.5).mean()


@of("32,10 32<10")
def entropy_of_the_library(z, labels):
    return losses.cross_entropy(z, labels)


@of("32,10 32<10")
def entropy_by_index(z, labels):
    m = np.max(z, axis=1)
    lse = np.log(np.sum(np.exp(z - m[:, None]), axis=1)) + m
    return (lse - z[np.arange(z.shape[0]), labels]).mean()


@of("20,5 5 s 20+")
def logistic_regression(X, w, b, y):
    z = X @ w + b
    return (np.logaddexp(z, 0) - y / (1 + y) * z).mean()


# --- layers and networks --------------------------------------------------------------------------


@of("64,20 64 10,64 10 32,20 32,10")
def mlp(W1, b1, W2, b2, X, Y):
    h = np.maximum(X @ W1.T + b1, 0)
    return ((h @ W2.T + b2 - Y) ** 2).mean()


@of("8,16 16 16 8,16")
def layer_norm(x, g, b, t):
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    return (((x - mu) / np.sqrt(var + 1e-5) * g + b) * t).sum()


@of("8,16 16 16 8,16")
def batch_norm(x, g, b, t):
    y = g * (x - np.mean(x, axis=0)) / np.sqrt(np.var(x, axis=0) + 1e-5) + b
    return (y * t).sum()


@of("10,8 8,8 8,8 8,8")
def attention(X, Q, K, V):
    s = (X @ Q) @ (X @ K).T / 8**0.5
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True) @ (X @ V)).sum()


@of("2,10,2,4 2,10,2,4 2,10,2,4")
def heads(q, k, v):
    s = np.einsum("bihd,bjhd->bhij", q, k) / 2.0
    e = np.exp(s)
    return np.einsum("bhij,bjhd->bihd", e / e.sum(axis=-1, keepdims=True), v).sum()


@of("50,8 12<50 8,4 12<4")
def embedding(E, words, W, labels):
    return losses.cross_entropy(E[words] @ W, labels)


@of("8,24 6,24 24 3,4,8 4,6")
def lstm(W, U, b, xs, h):
    c = h
    for t in range(3):
        i, f, g, o = ((xs[t] @ W + h @ U + b)[:, 6 * k : 6 * k + 6] for k in range(4))
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    return h.mean()


@of("6,6 3,3")
def convolution_2d(x, w):
    y = 0
    for i in range(3):
        for j in range(3):
            y = y + w[i, j] * x[i : i + 4, j : j + 4]
    return (y.tanh() ** 2).sum()


@of("4,8,8")
def max_pooling(x):
    return x.reshape(4, 4, 2, 4, 2).max(axis=(2, 4)).sum()


@of("8,12 8,12")
def joined(a, b):
    c = chaingrad.concatenate([a, b], axis=1)
    return (c @ c.T).mean()


# --- arrays ---------------------------------------------------------------------------------------


@of("8,8")
def laplacian(u):
    inner = u[1:-1, 1:-1]
    return ((u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner) ** 2).mean()


@of("16")
def ranked(x):
    return (np.sort(x) * np.arange(16)).sum()


@of("16")
def sums_so_far(x):
    return np.tanh(np.cumsum(x)).sum()
