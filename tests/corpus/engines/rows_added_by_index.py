"""A NumPy engine with indexing; the gradient of x[idx] is put back with += (HIPS autograd PR 136, issue 39)."""

import numpy as np


class Tensor:
    def __init__(self, value, parents=(), vjps=()):
        self.value = np.asarray(value, dtype=float)
        self.parents, self.vjps, self.gradient = parents, vjps, None

    @staticmethod
    def wrap(x):
        return x if isinstance(x, Tensor) else Tensor(x)

    @staticmethod
    def unbroadcast(g, like):
        while g.ndim > like.ndim:
            g = g.sum(axis=0)
        for axis, n in enumerate(like.shape):
            if n == 1:
                g = g.sum(axis=axis, keepdims=True)
        return g

    def __add__(self, other):
        o = Tensor.wrap(other)
        return Tensor(
            self.value + o.value,
            (self, o),
            (lambda g: self.unbroadcast(g, self.value), lambda g: self.unbroadcast(g, o.value)),
        )

    def __mul__(self, other):
        o = Tensor.wrap(other)
        return Tensor(
            self.value * o.value,
            (self, o),
            (
                lambda g: self.unbroadcast(g * o.value, self.value),
                lambda g: self.unbroadcast(g * self.value, o.value),
            ),
        )

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return Tensor(-self.value, (self,), (lambda g: -g,))

    def __sub__(self, other):
        return self + -Tensor.wrap(other)

    def __rsub__(self, other):
        return Tensor.wrap(other) + -self

    def __matmul__(self, other):
        o = Tensor.wrap(other)
        return Tensor(
            self.value @ o.value, (self, o), (lambda g: g @ o.value.T, lambda g: self.value.T @ g)
        )

    def __getitem__(self, idx):
        def back(g):
            full = np.zeros_like(self.value)
            full[idx] += g
            return full

        return Tensor(self.value[idx], (self,), (back,))

    def tanh(self):
        t = np.tanh(self.value)
        return Tensor(t, (self,), (lambda g: g * (1 - t**2),))

    def sum(self, axis=None, keepdims=False):
        def back(g):
            if axis is not None and not keepdims:
                g = np.expand_dims(g, axis)
            return np.broadcast_to(g, self.value.shape)

        return Tensor(self.value.sum(axis=axis, keepdims=keepdims), (self,), (back,))

    def backward(self):
        order, seen = [], set()

        def visit(t):
            if id(t) not in seen:
                seen.add(id(t))
                for p in t.parents:
                    visit(p)
                order.append(t)

        visit(self)
        for t in order:
            t.gradient = np.zeros_like(t.value)
        self.gradient = np.ones_like(self.value)
        for t in reversed(order):
            for p, vjp in zip(t.parents, t.vjps):
                p.gradient = p.gradient + vjp(t.gradient)
