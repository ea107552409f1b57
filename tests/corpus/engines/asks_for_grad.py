"""As in PyTorch, leaves ask for a gradient with ``requires_grad=True``; each share goes down its path at once, recursively."""

import numpy as np


def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, n in enumerate(shape):
        if n == 1 and g.shape[axis] != 1:
            g = g.sum(axis=axis, keepdims=True)
    return g


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, requires_grad=False, grad_fn=None):
        self.data = np.array(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad_fn = grad_fn
        self.grad = None

    def zero_grad(self):
        self.grad = None

    def backward(self, g=None):
        if not self.requires_grad:
            raise RuntimeError("this tensor does not require grad")
        g = np.ones_like(self.data) if g is None else g
        if self.grad_fn is None:
            self.grad = g.copy() if self.grad is None else self.grad + g
            return
        for tensor, share in self.grad_fn(g):
            if tensor.requires_grad:
                tensor.backward(unbroadcast(np.asarray(share), tensor.data.shape))

    def __add__(self, other):
        b = tensor(other)
        return result(self.data + b.data, lambda g: [(self, g), (b, g)], self, b)

    def __mul__(self, other):
        b = tensor(other)
        return result(
            self.data * b.data, lambda g: [(self, g * b.data), (b, g * self.data)], self, b
        )

    def __truediv__(self, other):
        b = tensor(other)
        return result(
            self.data / b.data,
            lambda g: [(self, g / b.data), (b, -g * self.data / b.data**2)],
            self,
            b,
        )

    def __matmul__(self, b):
        return result(
            self.data @ b.data, lambda g: [(self, g @ b.data.T), (b, self.data.T @ g)], self, b
        )

    def __neg__(self):
        return result(-self.data, lambda g: [(self, -g)], self)

    def __sub__(self, other):
        return self + -tensor(other)

    def __rsub__(self, other):
        return tensor(other) + -self

    def __rtruediv__(self, other):
        return tensor(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def sum(self):
        return result(
            self.data.sum(), lambda g: [(self, np.broadcast_to(g, self.data.shape))], self
        )

    def tanh(self):
        t = np.tanh(self.data)
        return result(t, lambda g: [(self, g * (1 - t * t))], self)


def tensor(x):
    return x if isinstance(x, Tensor) else Tensor(x)


def result(data, grad_fn, *inputs):
    return Tensor(data, True, grad_fn) if any(t.requires_grad for t in inputs) else Tensor(data)
