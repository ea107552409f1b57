"""Arrays; before the pass each node counts how often the graph of the root uses it, and sends once all shares are in."""

import numpy as np


def fit(g, shape):
    """Sum what broadcasting repeated."""
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


class Tensor:
    __array_priority__ = 100

    def __init__(self, data, creators=(), shares=None):
        self.data = np.asarray(data, dtype=float)
        self.grad = np.zeros(self.data.shape)
        self.creators = creators
        self.shares = shares
        self.waiting = 0

    def __add__(self, other):
        other = wrap(other)
        return Tensor(self.data + other.data, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        other = wrap(other)
        return Tensor(
            self.data * other.data, (self, other), lambda g: (g * other.data, g * self.data)
        )

    def __matmul__(self, other):
        return Tensor(
            self.data @ other.data, (self, other), lambda g: (g @ other.data.T, self.data.T @ g)
        )

    def __neg__(self):
        return Tensor(-self.data, (self,), lambda g: (-g,))

    def __sub__(self, other):
        return self + -wrap(other)

    def __rsub__(self, other):
        return wrap(other) + -self

    __radd__, __rmul__ = __add__, __mul__

    def relu(self):
        return Tensor(np.maximum(self.data, 0), (self,), lambda g: (g * (self.data > 0),))

    def exp(self):
        y = np.exp(self.data)
        return Tensor(y, (self,), lambda g: (g * y,))

    def log(self):
        return Tensor(np.log(self.data), (self,), lambda g: (g / self.data,))

    def sum(self, axis=None, keepdims=False):
        y = self.data.sum(axis=axis, keepdims=keepdims)
        kept = self.data.sum(axis=axis, keepdims=True).shape
        return Tensor(y, (self,), lambda g: (np.broadcast_to(g.reshape(kept), self.data.shape),))

    @property
    def T(self):
        return Tensor(self.data.T, (self,), lambda g: (g.T,))

    def reshape(self, *shape):
        return Tensor(self.data.reshape(*shape), (self,), lambda g: (g.reshape(self.data.shape),))

    def backward(self):
        nodes, todo = {id(self): self}, [self]
        while todo:
            for c in todo.pop().creators:
                if id(c) not in nodes:
                    nodes[id(c)] = c
                    todo.append(c)
                    c.waiting = 0
                c.waiting += 1
                if c.creators:
                    c.grad = np.zeros(c.data.shape)
        self.grad = np.ones(self.data.shape) if self.creators else self.grad + 1.0
        ready = [self]
        while ready:
            node = ready.pop()
            if not node.creators:
                continue
            for c, share in zip(node.creators, node.shares(node.grad)):
                c.grad = c.grad + fit(share, c.data.shape)
                c.waiting -= 1
                if c.waiting == 0:
                    ready.append(c)


def wrap(x):
    return x if isinstance(x, Tensor) else Tensor(x)
