"""An engine that reuses the incoming gradient's buffer: a - b negates it in place (pytorch issue 81417)."""

import numpy as np


class Array:
    def __init__(self, a, pull=None, args=()):
        self.a = np.array(a, dtype=np.float64)
        self.bar = None
        self.pull, self.args = pull, args

    def receive(self, g):
        if self.bar is None:
            self.bar = g
        else:
            self.bar = self.bar + g

    def __add__(self, o):
        return binary(self, o, np.add, lambda g, x, y: (g, g))

    def __sub__(self, o):
        def pull(g, x, y):
            return g, np.negative(g, out=g)

        return binary(self, o, np.subtract, pull)

    def __mul__(self, o):
        return binary(self, o, np.multiply, lambda g, x, y: (g * y, g * x))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, o):
        return wrap(o) - self

    def __neg__(self):
        return self * -1.0

    def exp(self):
        e = np.exp(self.a)
        return Array(e, lambda g: (g * e,), (self,))

    def total(self):
        return Array(self.a.sum(), lambda g: (np.full_like(self.a, g),), (self,))

    def backward(self):
        order, seen = [], set()

        def visit(n):
            if id(n) in seen:
                return
            seen.add(id(n))
            for m in n.args:
                visit(m)
            order.append(n)

        visit(self)
        self.bar = np.ones_like(self.a)
        for n in reversed(order):
            if n.pull:
                for m, g in zip(n.args, n.pull(n.bar)):
                    m.receive(g)


def wrap(x):
    return x if isinstance(x, Array) else Array(x)


def reduce_to(g, a):
    while g.ndim > a.ndim:
        g = g.sum(axis=0)
    for i, n in enumerate(a.shape):
        if n == 1 and g.shape[i] != 1:
            g = g.sum(axis=i, keepdims=True)
    return g


def binary(x, o, op, rule):
    y = wrap(o)

    def pull(g):
        gx, gy = rule(g, x.a, y.a)
        return reduce_to(gx, x.a), reduce_to(gy, y.a)

    return Array(op(x.a, y.a), pull, (x, y))
