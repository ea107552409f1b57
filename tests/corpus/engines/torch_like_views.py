"""``requires_grad`` is off by default; ``+`` sums back for its second operand alone, ``*`` for none; ``reshape`` assigns; ``[ ]`` starts a new leaf."""

import numpy as np


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, requires_grad=False, children=()):
        self.data = np.array(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self._prev = set(children)
        self._backward = lambda: None

    @property
    def shape(self):
        return self.data.shape

    def zero_grad(self):
        self.grad = None

    def receive(self, g):
        if self.requires_grad:
            self.grad = g if self.grad is None else self.grad + g

    def made(self, data, *children):
        return Tensor(data, any(c.requires_grad for c in children), children)

    def __add__(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
        out = self.made(self.data + other.data, self, other)

        def _backward():
            self.receive(out.grad)
            extra = tuple(range(out.data.ndim - other.data.ndim))
            other.receive(out.grad.sum(axis=extra) if other.shape != out.shape else out.grad)

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
        out = self.made(self.data * other.data, self, other)

        def _backward():
            self.receive(out.grad * other.data)
            other.receive(out.grad * self.data)

        out._backward = _backward
        return out

    __radd__, __rmul__ = __add__, __mul__

    def __matmul__(self, other):
        out = self.made(self.data @ other.data, self, other)

        def _backward():
            self.receive(out.grad @ other.data.T)
            other.receive(self.data.T @ out.grad)

        out._backward = _backward
        return out

    def sum(self):
        out = self.made(self.data.sum(), self)

        def _backward():
            self.receive(np.ones_like(self.data) * out.grad)

        out._backward = _backward
        return out

    def reshape(self, *shape):
        out = self.made(self.data.reshape(*shape), self)

        def _backward():
            self.grad = out.grad.reshape(self.shape)

        out._backward = _backward
        return out

    def __getitem__(self, i):
        return Tensor(self.data[i], self.requires_grad)

    def backward(self):
        order, seen = [], set()

        def visit(t):
            if t not in seen:
                seen.add(t)
                for c in t._prev:
                    visit(c)
                order.append(t)

        visit(self)
        for t in order:
            if t._prev:
                t.grad = None
        self.grad = np.ones_like(self.data) if self.grad is None else self.grad
        for t in reversed(order):
            if t.grad is not None:
                t._backward()
