"""A class of ``forward`` and ``backward`` with a context for each operation, as PyTorch's ``autograd.Function``."""

import numpy as np


class Context:
    def save(self, *things):
        self.saved = things


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data):
        self.data = np.array(data, dtype=float)
        self.grad = None
        self._ctx = None

    @property
    def shape(self):
        return self.data.shape

    def __add__(self, o):
        return Add.apply(self, o)

    def __radd__(self, o):
        return Add.apply(o, self)

    def __sub__(self, o):
        return Sub.apply(self, o)

    def __rsub__(self, o):
        return Sub.apply(o, self)

    def __mul__(self, o):
        return Mul.apply(self, o)

    def __rmul__(self, o):
        return Mul.apply(o, self)

    def __neg__(self):
        return Mul.apply(self, -1.0)

    def __pow__(self, n):
        if isinstance(n, Tensor):
            return NotImplemented
        return Pow.apply(self, n)

    def __matmul__(self, o):
        return MatMul.apply(self, o)

    def __getitem__(self, i):
        return Item.apply(self, i)

    def relu(self):
        return Relu.apply(self)

    def sum(self, axis=None, keepdims=False):
        return Sum.apply(self, axis, keepdims)

    def mean(self):
        return Sum.apply(self, None, False) * (1 / self.data.size)

    def backward(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            t, done = stack.pop()
            if done:
                order.append(t)
            elif id(t) not in seen:
                seen.add(id(t))
                stack.append((t, True))
                stack.extend(
                    (p, False) for p in (t._ctx.parents if t._ctx else ()) if isinstance(p, Tensor)
                )
        grads = {id(self): np.ones(self.shape)}
        for t in reversed(order):
            g = grads[id(t)]
            if t._ctx is None:
                t.grad = g if t.grad is None else t.grad + g
                continue
            t.grad = g
            shares = t._ctx.op.backward(t._ctx, g)
            for p, share in zip(t._ctx.parents, shares):
                if isinstance(p, Tensor):
                    share = fold(share, p.shape)
                    grads[id(p)] = grads[id(p)] + share if id(p) in grads else share


def fold(g, shape):
    extra = g.ndim - len(shape)
    g = g.sum(axis=tuple(range(extra))) if extra else g
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return g.sum(axis=axes, keepdims=True) if axes else g


class Function:
    @classmethod
    def apply(cls, *args):
        ctx = Context()
        ctx.op, ctx.parents = cls, args
        out = Tensor(cls.forward(ctx, *(a.data if isinstance(a, Tensor) else a for a in args)))
        out._ctx = ctx
        return out


class Add(Function):
    @staticmethod
    def forward(ctx, a, b):
        return np.add(a, b)

    @staticmethod
    def backward(ctx, g):
        return g, g


class Sub(Function):
    @staticmethod
    def forward(ctx, a, b):
        return np.subtract(a, b)

    @staticmethod
    def backward(ctx, g):
        return g, -g


class Mul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save(a, b)
        return np.multiply(a, b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved
        return g * b, g * a


class Pow(Function):
    @staticmethod
    def forward(ctx, a, n):
        ctx.save(a, n)
        return a**n

    @staticmethod
    def backward(ctx, g):
        a, n = ctx.saved
        return g * n * a ** (n - 1.0) if n else np.zeros_like(g), None


class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved
        return g @ b.T, a.T @ g


class Item(Function):
    @staticmethod
    def forward(ctx, a, i):
        ctx.save(a.shape, i)
        return a[i]

    @staticmethod
    def backward(ctx, g):
        shape, i = ctx.saved
        out = np.zeros(shape)
        np.add.at(out, i, g)
        return out, None


class Relu(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save(a)
        return np.maximum(a, 0.0)

    @staticmethod
    def backward(ctx, g):
        return (g * (ctx.saved[0] > 0),)


class Sum(Function):
    @staticmethod
    def forward(ctx, a, axis, keepdims):
        ctx.save(a.shape, axis, keepdims)
        return a.sum(axis=axis, keepdims=keepdims)

    @staticmethod
    def backward(ctx, g):
        shape, axis, keepdims = ctx.saved
        if axis is not None and not keepdims:
            g = np.expand_dims(g, axis)
        return np.broadcast_to(g, shape).copy(), None, None
