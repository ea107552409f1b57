"""Immutable arrays in the style of tinygrad: operations hold op, sources, argument; y.gradient(*targets)."""

import numpy as np


class UOp:
    __slots__ = ("op", "src", "arg", "buf")

    def __init__(self, op, src=(), arg=None, buf=None):
        self.op, self.src, self.arg, self.buf = op, src, arg, buf


def _compute(op, xs, arg):
    if op == "add":
        return xs[0] + xs[1]
    if op == "mul":
        return xs[0] * xs[1]
    if op == "recip":
        return 1.0 / xs[0]
    if op == "exp":
        return np.exp(xs[0])
    if op == "log":
        return np.log(xs[0])
    if op == "matmul":
        return xs[0] @ xs[1]
    if op == "sum":
        return xs[0].sum(axis=arg, keepdims=True) if arg is not None else xs[0].sum()
    if op == "relu":
        return np.where(xs[0] > 0, xs[0], 0.0)
    raise NotImplementedError(op)


def _fit(g, shape):
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return g.sum(axis=axes, keepdims=True) if axes else g


def _pull(u, g):
    bufs = [s.buf for s in u.src]
    if u.op == "add":
        return [_fit(g, b.shape) for b in bufs]
    if u.op == "mul":
        return [_fit(g * bufs[1], bufs[0].shape), _fit(g * bufs[0], bufs[1].shape)]
    if u.op == "recip":
        return [-g * u.buf * u.buf]
    if u.op == "exp":
        return [g * u.buf]
    if u.op == "log":
        return [g / bufs[0]]
    if u.op == "matmul":
        return [g @ bufs[1].T, bufs[0].T @ g]
    if u.op == "sum":
        return [np.broadcast_to(g, bufs[0].shape)]
    if u.op == "relu":
        return [g * (bufs[0] > 0)]
    raise NotImplementedError(u.op)


class Tensor:
    __array_priority__ = 100

    def __init__(self, data, uop=None):
        self.uop = uop or UOp("const", buf=np.asarray(data, dtype=np.float64))

    @classmethod
    def _of(cls, op, *xs, arg=None):
        src = tuple(x.uop for x in xs)
        return cls(None, UOp(op, src, arg, np.asarray(_compute(op, [s.buf for s in src], arg))))

    def numpy(self):
        return self.uop.buf

    @property
    def shape(self):
        return self.uop.buf.shape

    def _wrap(self, o):
        return o if isinstance(o, Tensor) else Tensor(o)

    def __add__(self, o):
        return Tensor._of("add", self, self._wrap(o))

    def __mul__(self, o):
        return Tensor._of("mul", self, self._wrap(o))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1.0

    def __sub__(self, o):
        return self + -self._wrap(o)

    def __rsub__(self, o):
        return self._wrap(o) + -self

    def __truediv__(self, o):
        return self * Tensor._of("recip", self._wrap(o))

    def __rtruediv__(self, o):
        return self._wrap(o) * Tensor._of("recip", self)

    def __matmul__(self, o):
        return Tensor._of("matmul", self, self._wrap(o))

    def exp(self):
        return Tensor._of("exp", self)

    def log(self):
        return Tensor._of("log", self)

    def relu(self):
        return Tensor._of("relu", self)

    def sum(self, axis=None):
        return Tensor._of("sum", self, arg=axis)

    def gradient(self, *targets):
        order, seen = [], set()

        def visit(u):
            if id(u) not in seen:
                seen.add(id(u))
                for s in u.src:
                    visit(s)
                order.append(u)

        visit(self.uop)
        grads = {id(self.uop): np.ones_like(self.uop.buf)}
        for u in reversed(order):
            if u.src and id(u) in grads:
                for s, g in zip(u.src, _pull(u, grads[id(u)])):
                    grads[id(s)] = grads[id(s)] + g if id(s) in grads else g
        return [Tensor(grads.get(id(t.uop), np.zeros(t.shape))) for t in targets]
