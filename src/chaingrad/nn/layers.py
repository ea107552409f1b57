"""Layers of deep networks: normalization, embedding, convolution, attention; names as PyTorch's.

All are made of the engine's rules, so that the graph shows what they do.
"""

import math
from typing import Any

import numpy as np

from chaingrad import arrays, elementwise, losses, operations, rules
from chaingrad._arguments import as_node
from chaingrad.nn.dense import Linear
from chaingrad.nn.module import Module, Parameter, Rng, positive
from chaingrad.node import Node


class GELU(Module):
    """x Φ(x) of each entry, Φ the standard normal distribution's."""

    def forward(self, x: Any) -> Node:
        """Map a node or an array of any shape."""
        return elementwise.gelu(x)  # type: ignore[no-any-return]


class SiLU(Module):
    """x σ(x) of each entry, σ the logistic function."""

    def forward(self, x: Any) -> Node:
        """Map a node or an array of any shape."""
        return elementwise.silu(x)  # type: ignore[no-any-return]


class LayerNorm(Module):
    """Each row minus its mean, over its standard deviation; then scaled and shifted by entry.

    Args:
        size: the entries of a row, the last axis of the input.
        eps: added to the variance, so that an equal row is divided by something.
        dtype: of the parameters.

    Attributes:
        weight, bias: parameters of shape (size,), 1 and 0 at the start.

    Raises:
        ValueError: a size below 1; in a call, rows of another size.

    >>> LayerNorm(3, eps=0.0)(np.array([1.0, 2.0, 3.0])).data.round(3)
    array([-1.225,  0.   ,  1.225])
    """

    def __init__(self, size: int, *, eps: float = 1e-5, dtype: Any = np.float64) -> None:
        positive("size", size)
        self.eps = float(eps)
        self.weight = Parameter(np.ones(size, dtype), label="γ")
        self.bias = Parameter(np.zeros(size, dtype), label="β")

    def forward(self, x: Any) -> Node:
        """Map ``x`` of shape (..., size)."""
        x = _rows(self, x, self.weight.size)
        away = x - x.mean(axis=-1, keepdims=True)
        spread = ((away * away).mean(axis=-1, keepdims=True) + self.eps).sqrt()
        return away / spread * self.weight + self.bias  # type: ignore[no-any-return]


class BatchNorm(Module):
    """Each feature minus its mean over the batch, over its standard deviation; scaled, shifted.

    While training, mean and variance are those of the batch, and running means of them are kept;
    after `Module.eval` the running ones are used :cite:`ioffe2015`.

    Args:
        size: the number of features, the second axis of the input.
        eps: added to the variance.
        momentum: what part of the running means a batch replaces.
        dtype: of the parameters.

    Attributes:
        weight, bias: parameters of shape (size,), 1 and 0 at the start.
        running_mean, running_var: arrays of shape (size,), 0 and 1 at the start; the variance is
            that over n - 1. `Module.state_dict` has them, too.

    Raises:
        ValueError: a size below 1; in a call, a number of features that is another, or while
            training one value a feature.

    >>> BatchNorm(1, eps=0.0)(np.array([[1.0], [3.0]])).data.tolist()
    [[-1.0], [1.0]]
    """

    buffers = ("running_mean", "running_var")

    def __init__(
        self, size: int, *, eps: float = 1e-5, momentum: float = 0.1, dtype: Any = np.float64
    ) -> None:
        positive("size", size)
        self.eps, self.momentum = float(eps), float(momentum)
        self.weight = Parameter(np.ones(size, dtype), label="γ")
        self.bias = Parameter(np.zeros(size, dtype), label="β")
        self.running_mean, self.running_var = np.zeros(size, dtype), np.ones(size, dtype)

    def forward(self, x: Any) -> Node:
        """Map ``x`` of shape (n, size, ...); the mean is over all axes but the second."""
        x = as_node(x)
        if x.ndim < 2 or x.shape[1] != self.weight.size:
            raise ValueError(
                f"BatchNorm expected an input of shape (n, {self.weight.size}, ...); got {x.shape}"
            )
        shape = (1, -1, *[1] * (x.ndim - 2))
        if self.training:
            axes, count = (0, *range(2, x.ndim)), x.size // x.shape[1]
            if count < 2:
                raise ValueError("BatchNorm: one value for each feature has no spread to divide by")
            mean = x.mean(axis=axes, keepdims=True)
            away = x - mean
            var = (away * away).mean(axis=axes, keepdims=True)
            self._keep("running_mean", mean)
            self._keep("running_var", var * (count / (count - 1)))
        else:
            away = x - self.running_mean.reshape(shape)
            var = as_node(self.running_var.reshape(shape))
        scaled = away / (var + self.eps).sqrt() * self.weight.reshape(shape)
        return scaled + self.bias.reshape(shape)  # type: ignore[no-any-return]

    def _keep(self, name: str, of_batch: Node) -> None:
        if rules.is_symbol(of_batch.data):
            raise rules.TracingError(
                "program: BatchNorm changes its running means, which only the first call would "
                "do: call eval() first"
            )
        kept = (1 - self.momentum) * getattr(self, name) + self.momentum * of_batch.data.reshape(-1)
        setattr(self, name, kept.astype(self.weight.dtype))


class Embedding(Module):
    """A table with a row for each index; only the rows that were picked have a gradient.

    Args:
        count: the number of rows.
        size: the entries of a row.
        rng: draws the rows, from a standard normal distribution; see the module.
        dtype: of the table.

    Attributes:
        weight: a parameter of shape (count, size).

    Raises:
        TypeError: indices that are no integers.
        IndexError: an index that the table does not have; negative ones count from no end.

    >>> Embedding(5, 3, rng=0)([[0, 4], [2, 2]]).shape
    (2, 2, 3)
    """

    def __init__(self, count: int, size: int, *, rng: Rng = None, dtype: Any = np.float64) -> None:
        shape = positive("count", count), positive("size", size)
        weight = np.random.default_rng(rng).standard_normal(shape)
        self.weight = Parameter(weight.astype(dtype), label="E")

    def forward(self, indices: Any) -> Node:
        """Pick the rows of integers of any shape; the result has one axis more."""
        picked: Any = indices if rules.is_symbol(indices) else np.asarray(indices)
        if picked.dtype.kind not in "iu":
            raise TypeError(f"Embedding expected integers; got {picked.dtype}")
        known, message = (
            (picked >= 0) & (picked < len(self.weight)),
            (f"Embedding: indices must be from 0 to {len(self.weight) - 1}"),
        )
        if rules.is_symbol(picked):
            known.demand(message)
        elif not known.all():
            raise IndexError(f"{message}; got {picked[~known].flat[0]}")
        return self.weight[picked]


class Conv2d(Module):
    """A sum over a window that slides over the image: cross-correlation, as in PyTorch.

    Args:
        n_in: the channels of the input.
        n_out: the channels of the result.
        size: the height and width of the window.
        stride: how far it moves.
        padding: how many zeros are put around the image.
        bias: whether to add a number to each channel.
        rng: draws the weights, uniform in ±1/√(n_in size²), as ``torch.nn.Conv2d`` does.
        dtype: of the parameters.

    Attributes:
        weight: a parameter of shape (n_out, n_in, size, size).
        bias: a parameter of shape (n_out,), or None.

    Raises:
        ValueError: a size, stride or number of channels below 1, or a negative padding; in a call,
            other channels, or an image that is smaller than the window.

    >>> Conv2d(3, 8, 3, stride=2, padding=1, rng=0)(np.ones((5, 3, 8, 8))).shape
    (5, 8, 4, 4)
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        size: int,
        *,
        stride: int = 1,
        padding: int = 0,
        bias: bool = True,
        rng: Rng = None,
        dtype: Any = np.float64,
    ) -> None:
        for name, number in [("n_in", n_in), ("n_out", n_out), ("size", size), ("stride", stride)]:
            positive(name, number)
        if padding < 0:
            raise ValueError(f"padding must be 0 or more; got {padding}")
        self.stride, self.padding = stride, padding
        rng, bound = np.random.default_rng(rng), 1 / math.sqrt(n_in * size * size)
        weight = rng.uniform(-bound, bound, (n_out, n_in, size, size))
        offset = rng.uniform(-bound, bound, n_out)
        self.weight = Parameter(weight.astype(dtype), label="K")
        self.bias = Parameter(offset.astype(dtype), label="b") if bias else None

    def forward(self, x: Any) -> Node:
        """Map ``x`` of shape (n, n_in, height, width)."""
        x, (n_out, n_in, size, _) = as_node(x), self.weight.shape
        if x.ndim != 4 or x.shape[1] != n_in or min(x.shape[2:]) + 2 * self.padding < size:
            raise ValueError(
                f"Conv2d expected an input of shape (n, {n_in}, height, width), height and width "
                f"at least {size - 2 * self.padding}; got {x.shape}"
            )
        if self.padding:
            x = arrays.pad(x, [(0, 0), (0, 0), *[(self.padding,) * 2] * 2])
        rows, columns = ((n - size) // self.stride + 1 for n in x.shape[2:])
        windows = [
            x[:, :, i : i + self.stride * rows : self.stride,
              j : j + self.stride * columns : self.stride]
            for i in range(size) for j in range(size)
        ]  # fmt: skip
        # A row for each place of the window, with all that it sees: (n, rows · columns, n_in size²)
        seen = operations.stack(windows, axis=2).reshape(len(x), n_in * size * size, rows * columns)
        out = self.weight.reshape(n_out, -1) @ seen
        if self.bias is not None:
            out = out + self.bias.reshape(n_out, 1)
        return out.reshape(len(x), n_out, rows, columns)  # type: ignore[no-any-return]


class MultiheadAttention(Module):
    """Weighted means of values, with weights by how well queries and keys agree, in several heads.

    The softmax of q kᵀ / √(size of a head) weights the values :cite:`vaswani2017`; the names of
    the parameters are PyTorch's, and batches come first.

    Args:
        size: the entries of a row of the input and of the result.
        heads: how many parts of equal size each row is cut into.
        bias: whether to add biases.
        rng: draws the weights, as ``torch.nn.MultiheadAttention`` does; see the module.
        dtype: of the parameters.

    Attributes:
        in_proj_weight: a parameter of shape (3 size, size): of queries, keys and values.
        in_proj_bias: a parameter of shape (3 size,), or None.
        out_proj: the `Linear` layer that mixes the heads.

    Raises:
        ValueError: a size that the heads do not divide; in a call, rows of another size, an input
            without a batch, or keys and values of different lengths.

    >>> MultiheadAttention(6, 2, rng=0)(np.ones((5, 4, 6)), causal=True).shape
    (5, 4, 6)
    """

    def __init__(
        self, size: int, heads: int, *, bias: bool = True, rng: Rng = None, dtype: Any = np.float64
    ) -> None:
        if positive("size", size) % positive("heads", heads):
            raise ValueError(f"size must be a multiple of heads; got {size} and {heads}")
        rng, self.heads = np.random.default_rng(rng), heads
        bound = math.sqrt(6 / (4 * size))  # glorot2010, of the three matrices as one
        weight = rng.uniform(-bound, bound, (3 * size, size))
        self.in_proj_weight = Parameter(weight.astype(dtype), label="W_qkv")
        zeros = np.zeros(3 * size, dtype)
        self.in_proj_bias = Parameter(zeros, label="b_qkv") if bias else None
        self.out_proj = Linear(size, size, bias=bias, rng=rng, dtype=dtype)
        if self.out_proj.bias is not None:
            self.out_proj.bias.data = np.zeros(size, dtype)

    def forward(
        self, query: Any, key: Any = None, value: Any = None, *, causal: bool = False
    ) -> Node:
        """Map queries of shape (n, length, size).

        Args:
            query: nodes or arrays of shape (n, length, size).
            key: of shape (n, other length, size); the queries by default.
            value: of the shape of the keys; these by default.
            causal: whether each query sees the keys up to its own place only.
        """
        key = query if key is None else key
        size = self.out_proj.weight.shape[0]
        value = key if value is None else value
        inputs = [_rows(self, x, size) for x in (query, key, value)]
        if {x.ndim for x in inputs} != {3} or inputs[1].shape != inputs[2].shape:
            shapes = ", ".join(str(x.shape) for x in inputs)
            raise ValueError(
                "MultiheadAttention expected queries, keys and values of shape (n, length, size), "
                f"as many keys as values; got {shapes}"
            )
        q, k, v = (self._in_heads(x, part * size) for part, x in enumerate(inputs))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if causal:
            scores = rules.where(
                scores, -math.inf, condition=np.tri(*scores.shape[-2:], dtype=bool)
            )
        mixed = losses.softmax(scores) @ v  # (n, heads, length, size of a head)
        n, _, length, _ = mixed.shape
        return self.out_proj(mixed.transpose(0, 2, 1, 3).reshape(n, length, size))  # type: ignore[no-any-return]

    def _in_heads(self, x: Node, start: int) -> Node:
        n, length, size = x.shape
        out = x @ self.in_proj_weight[start : start + size].T
        if self.in_proj_bias is not None:
            out = out + self.in_proj_bias[start : start + size]
        return out.reshape(n, length, self.heads, size // self.heads).transpose(0, 2, 1, 3)


def _rows(module: Module, x: Any, size: int) -> Any:
    """Return ``x`` as a node; raise a ValueError if its rows have another size."""
    x = as_node(x)
    if x.shape[-1:] != (size,):
        raise ValueError(
            f"{type(module).__name__} expected an input of shape (..., {size}); got {x.shape}"
        )
    return x
