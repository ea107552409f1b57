"""A course's tensor: module 01 has plain methods, module 06 patches recorded ones over them, but forgets mean (TrenTorch PR 58, 53)."""

import numpy as np


class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad, self.grad, self._grad_fn = requires_grad, None, None

    @property
    def shape(self):
        return self.data.shape

    def sum(self, axis=None):
        return Tensor(np.sum(self.data, axis=axis))

    def mean(self, axis=None):
        return Tensor(np.mean(self.data, axis=axis))

    def backward(self, gradient=None):
        if not self.requires_grad:
            return
        gradient = np.ones_like(self.data) if gradient is None else gradient
        self.grad = gradient if self.grad is None else self.grad + gradient
        if self._grad_fn:
            for t, g in zip(self._grad_fn[0], self._grad_fn[1](gradient)):
                if t.requires_grad:
                    t.backward(g)


def _fit(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for i, n in enumerate(shape):
        if n == 1 and g.shape[i] > 1:
            g = g.sum(axis=i, keepdims=True)
    return g


def _record(data, inputs, rule):
    out = Tensor(data, requires_grad=any(t.requires_grad for t in inputs))
    if out.requires_grad:
        out._grad_fn = (inputs, rule)
    return out


def _t(x):
    return x if isinstance(x, Tensor) else Tensor(x)


def _add(a, b):
    b = _t(b)
    return _record(a.data + b.data, (a, b), lambda g: (_fit(g, a.shape), _fit(g, b.shape)))


def _mul(a, b):
    b = _t(b)
    return _record(
        a.data * b.data, (a, b), lambda g: (_fit(g * b.data, a.shape), _fit(g * a.data, b.shape))
    )


def _sub(a, b):
    return _add(a, _mul(_t(b), -1.0))


def _matmul(a, b):
    b = _t(b)
    return _record(a.data @ b.data, (a, b), lambda g: (g @ b.data.T, a.data.T @ g))


def _sum(a, axis=None):
    def rule(g):
        g = g if axis is None else np.expand_dims(g, axis)
        return (np.broadcast_to(g, a.shape),)

    return _record(a.data.sum(axis=axis), (a,), rule)


def _relu(a):
    return _record(np.maximum(a.data, 0), (a,), lambda g: (g * (a.data > 0),))


Tensor.__add__ = Tensor.__radd__ = _add
Tensor.__mul__ = Tensor.__rmul__ = _mul
Tensor.__sub__ = _sub
Tensor.__rsub__ = lambda a, b: _sub(_t(b), a)
Tensor.__neg__ = lambda a: _mul(a, -1.0)
Tensor.__matmul__ = _matmul
Tensor.sum = _sum
Tensor.relu = _relu
