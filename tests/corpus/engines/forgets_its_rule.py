"""To free memory the pass drops a result's rule when it has run once, so that of a shared result only the first share goes on."""

import numpy as np


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, grad_fn=None):
        self.data = np.array(data, dtype=float)
        self.grad = None
        self._grad_fn = grad_fn

    def __add__(self, other):
        o = wrap(other)
        return Tensor(self.data + o.data, lambda g: [(self, g), (o, g)])

    def __mul__(self, other):
        o = wrap(other)
        return Tensor(self.data * o.data, lambda g: [(self, g * o.data), (o, g * self.data)])

    def __neg__(self):
        return Tensor(-self.data, lambda g: [(self, -g)])

    def __sub__(self, other):
        return self + -wrap(other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return wrap(other) - self

    def tanh(self):
        t = np.tanh(self.data)
        return Tensor(t, lambda g: [(self, g * (1 - t * t))])

    def zero_grad(self):
        self.grad = None

    def backward(self, g=None):
        g = np.ones_like(self.data) if g is None else g
        self.grad = g if self.grad is None else self.grad + g
        rule, self._grad_fn = self._grad_fn, None
        if rule:
            for operand, share in rule(g):
                operand.backward(share)


def wrap(x):
    return x if isinstance(x, Tensor) else Tensor(x)
