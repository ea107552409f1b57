"""A sum does not sum back what broadcasting repeated, so that a bias gets a gradient of the shape of the result."""

import numpy as np


def back_to(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for i, n in enumerate(shape):
        if n == 1 != g.shape[i]:
            g = g.sum(axis=i, keepdims=True)
    return g


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, parents=()):
        self.data = np.array(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self.parents = parents
        self.send = lambda: None

    @staticmethod
    def of(x):
        return x if isinstance(x, Tensor) else Tensor(x)

    def __add__(self, other):
        other = self.of(other)
        out = Tensor(self.data + other.data, (self, other))

        def send():
            self.grad = self.grad + out.grad
            other.grad = other.grad + out.grad

        out.send = send
        return out

    def __mul__(self, other):
        other = self.of(other)
        out = Tensor(self.data * other.data, (self, other))

        def send():
            self.grad = self.grad + back_to(out.grad * other.data, self.data.shape)
            other.grad = other.grad + back_to(out.grad * self.data, other.data.shape)

        out.send = send
        return out

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -self.of(other)

    def __rsub__(self, other):
        return self.of(other) + -self

    def __matmul__(self, other):
        out = Tensor(self.data @ other.data, (self, other))

        def send():
            self.grad = self.grad + out.grad @ other.data.T
            other.grad = other.grad + self.data.T @ out.grad

        out.send = send
        return out

    def sum(self):
        out = Tensor(self.data.sum(), (self,))

        def send():
            self.grad = self.grad + out.grad

        out.send = send
        return out

    def relu(self):
        out = Tensor(np.maximum(self.data, 0), (self,))

        def send():
            self.grad = self.grad + (self.data > 0) * out.grad

        out.send = send
        return out

    def backward(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            t, done = stack.pop()
            if done:
                order.append(t)
            elif id(t) not in seen:
                seen.add(id(t))
                stack.append((t, True))
                stack.extend((p, False) for p in t.parents)
        for t in order:
            if t.parents:
                t.grad = np.zeros_like(t.data)
        self.grad = self.grad + np.ones_like(self.data)
        for t in reversed(order):
            t.send()
