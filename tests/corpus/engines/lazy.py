"""Nothing is computed until ``data`` is asked for: an operation makes a recipe, ``realize`` runs it and keeps the result."""

import math

FORWARD = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "-": lambda a: -a,
    "inv": lambda a: 1 / a,
    "exp": math.exp,
    "relu": lambda a: a if a > 0 else 0.0,
}
SLOPES = {
    "+": lambda y, a, b: (1.0, 1.0),
    "*": lambda y, a, b: (b, a),
    "-": lambda y, a: (-1.0,),
    "inv": lambda y, a: (-y * y,),
    "exp": lambda y, a: (y,),
    "relu": lambda y, a: (1.0 if a > 0 else 0.0,),
}


class Lazy:
    def __init__(self, data=None, op=None, src=()):
        self._data, self.op, self.src, self.grad = data, op, src, 0.0

    def graph(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            n, ready = stack.pop()
            if ready:
                order.append(n)
            elif n not in seen:
                seen.add(n)
                stack.append((n, True))
                stack.extend((s, False) for s in n.src)
        return order

    def realize(self):
        for n in self.graph():
            if n._data is None:
                n._data = FORWARD[n.op](*(s._data for s in n.src))
        return self

    @property
    def data(self):
        return self.realize()._data

    @data.setter
    def data(self, value):
        self._data = value

    def __add__(self, other):
        return Lazy(op="+", src=(self, lazy(other)))

    def __mul__(self, other):
        return Lazy(op="*", src=(self, lazy(other)))

    def __neg__(self):
        return Lazy(op="-", src=(self,))

    def __sub__(self, other):
        return self + -lazy(other)

    def __truediv__(self, other):
        return self * Lazy(op="inv", src=(lazy(other),))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return lazy(other) - self

    def __rtruediv__(self, other):
        return lazy(other) / self

    def exp(self):
        return Lazy(op="exp", src=(self,))

    def relu(self):
        return Lazy(op="relu", src=(self,))

    def backward(self):
        self.realize()
        order = self.graph()
        for n in order:
            if n.src:
                n.grad = 0.0
        self.grad += 1.0
        for n in reversed(order):
            if n.src:
                for s, slope in zip(n.src, SLOPES[n.op](n._data, *(s._data for s in n.src))):
                    s.grad += slope * n.grad


def lazy(x):
    return x if isinstance(x, Lazy) else Lazy(x)
