"""Layers of one node for each array, one example a row, and what puts them in a row."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from chaingrad import rules
from chaingrad._arguments import as_node
from chaingrad.nn.module import Module, Parameter, Rng, positive
from chaingrad.node import Node


class Linear(Module):
    """The affine map x ↦ x Wᵀ + b of each row.

    Args:
        n_in: the entries of a row of the input.
        n_out: the entries of a row of the result.
        bias: whether to add b.
        rng: draws the initial weights; see the module.
        init: how they are drawn. "uniform": W and b uniform in ±1/√n_in, as ``torch.nn.Linear``
            does. "glorot": W uniform in ±√(6/(n_in + n_out)), b zero, which suits tanh
            :cite:`glorot2010`. "he": W normal with variance 2/n_in, b zero, which suits ReLU
            :cite:`he2015`.
        dtype: of the parameters; with float32 inputs, float32 keeps everything in float32.

    Attributes:
        weight: a parameter of shape (n_out, n_in).
        bias: a parameter of shape (n_out,), or None.

    Raises:
        ValueError: a size below 1 or an unknown ``init``; in a call, rows of another size.

    >>> layer = Linear(3, 2, rng=0)
    >>> layer(np.ones((5, 3))).shape
    (5, 2)
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        *,
        bias: bool = True,
        rng: Rng = None,
        init: str = "uniform",
        dtype: Any = np.float64,
    ) -> None:
        rng = np.random.default_rng(rng)
        positive("n_in", n_in)
        positive("n_out", n_out)
        weight, offset = _initial(init, n_in, n_out, rng)
        self.weight = Parameter(weight.astype(dtype), label="W")
        self.bias = Parameter(offset.astype(dtype), label="b") if bias else None

    def forward(self, x: Any) -> Node:
        """Map ``x`` of shape (..., n_in), a node or an array, to shape (..., n_out)."""
        n_out, n_in = self.weight.shape
        shape = np.shape(rules.value(x))
        if not shape or shape[-1] != n_in:
            raise ValueError(
                f"Linear({n_in}, {n_out}) expected an input of shape (..., {n_in}); got {shape}"
            )
        out: Node = x @ self.weight.T
        return out if self.bias is None else out + self.bias


class Tanh(Module):
    """The hyperbolic tangent of each entry."""

    def forward(self, x: Any) -> Node:
        """Map a node or an array of any shape."""
        return as_node(x).tanh()


class ReLU(Module):
    """The positive part max(0, x) of each entry."""

    def forward(self, x: Any) -> Node:
        """Map a node or an array of any shape."""
        return as_node(x).relu()


class Sigmoid(Module):
    """The logistic function 1/(1 + exp(-x)) of each entry."""

    def forward(self, x: Any) -> Node:
        """Map a node or an array of any shape."""
        return as_node(x).sigmoid()


class Dropout(Module):
    """While training, set each entry to 0 with probability p and divide the others by 1 - p.

    The division keeps the expected value, so that after `Module.eval` nothing needs to be done
    :cite:`srivastava2014`.

    Args:
        p: the probability, from 0 to 1.
        rng: draws which entries; see the module.

    Raises:
        ValueError: ``p`` is not a probability.

    >>> Dropout(0.5, rng=1)(np.ones(6)).data
    array([2., 2., 0., 2., 0., 0.])
    """

    def __init__(self, p: float = 0.5, *, rng: Rng = None) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"Dropout: p must be a probability, from 0 to 1; got {p!r}")
        self.p = float(p)
        self.rng = np.random.default_rng(rng)

    def forward(self, x: Any) -> Node:
        """Map a node or an array of any shape."""
        node = as_node(x)
        if not self.training or self.p == 0:
            return node
        kept = self.rng.random(node.shape) >= self.p
        scale = 1 / (1 - self.p) if self.p < 1 else 0.0
        return node * np.asarray(kept * scale, node.dtype)


class Sequential(Module):
    """Modules applied one after the other; their names are "0", "1", …, as in PyTorch.

    Raises:
        TypeError: one of them is not a module.

    >>> model = Sequential(Linear(2, 3, rng=0), Tanh(), Linear(3, 1, rng=1))
    >>> [name for name, parameter in model.named_parameters()]
    ['0.weight', '0.bias', '2.weight', '2.bias']
    """

    def __init__(self, *modules: Module) -> None:
        for i, module in enumerate(modules):
            if not isinstance(module, Module):
                raise TypeError(f"Sequential: part {i} must be a Module; got {module!r:.60}")
            setattr(self, str(i), module)

    def __iter__(self) -> Iterator[Module]:
        return (part for part in vars(self).values() if isinstance(part, Module))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, index: int) -> Module:
        return list(self)[index]

    def forward(self, x: Any) -> Any:
        """Feed ``x`` to the first module, its output to the second, and so on."""
        for module in self:
            x = module(x)
        return x


def _initial(init: str, n_in: int, n_out: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw the weights (n_out, n_in) and biases (n_out,) that `Linear` describes."""
    shape = (n_out, n_in)
    if init == "uniform":
        bound = 1 / math.sqrt(n_in)
        return rng.uniform(-bound, bound, shape), rng.uniform(-bound, bound, n_out)
    if init == "glorot":
        bound = math.sqrt(6 / (n_in + n_out))
        return rng.uniform(-bound, bound, shape), np.zeros(n_out)
    if init == "he":
        return rng.normal(0.0, math.sqrt(2 / n_in), shape), np.zeros(n_out)
    raise ValueError(f"unknown init {init!r}; the known ones are 'uniform', 'glorot', 'he'")
