"""A scalar engine; c ** x is differentiated as if it were x ** c (tt-metal issue 55289)."""

import math


class Scalar:
    def __init__(self, val, back=None, inputs=()):
        self.val, self.adj, self._back, self.inputs = val, 0.0, back, inputs

    def _c(self, o):
        return o if isinstance(o, Scalar) else Scalar(o)

    def __add__(self, o):
        o = self._c(o)
        return Scalar(self.val + o.val, lambda g: (g, g), (self, o))

    def __mul__(self, o):
        o = self._c(o)
        return Scalar(self.val * o.val, lambda g: (g * o.val, g * self.val), (self, o))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, o):
        return self + -self._c(o)

    def __rsub__(self, o):
        return self._c(o) + -self

    def __pow__(self, c):
        return Scalar(self.val**c, lambda g: (g * c * self.val ** (c - 1),), (self,))

    def __rpow__(self, c):
        return Scalar(c**self.val, lambda g: (g * c * self.val ** (c - 1),), (self,))

    def __truediv__(self, o):
        return self * self._c(o) ** -1

    def __rtruediv__(self, o):
        return self**-1 * o

    def log(self):
        return Scalar(math.log(self.val), lambda g: (g / self.val,), (self,))

    def backprop(self):
        order, seen = [], set()

        def walk(n):
            if n in seen:
                return
            seen.add(n)
            for p in n.inputs:
                walk(p)
            order.append(n)

        walk(self)
        self.adj = 1.0
        for n in reversed(order):
            if n._back:
                for p, g in zip(n.inputs, n._back(n.adj)):
                    p.adj += g
