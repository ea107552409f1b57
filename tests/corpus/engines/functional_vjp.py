"""As in JAX, nothing has a ``grad``: ``grad(f)`` runs ``f`` on traced numbers and gives back a tuple of slopes."""

import math


class Traced:
    def __init__(self, value, pulls=()):
        self.value = value
        self.pulls = pulls

    def __add__(self, other):
        o = box(other)
        return Traced(self.value + o.value, ((self, 1.0), (o, 1.0)))

    def __sub__(self, other):
        o = box(other)
        return Traced(self.value - o.value, ((self, 1.0), (o, -1.0)))

    def __mul__(self, other):
        o = box(other)
        return Traced(self.value * o.value, ((self, o.value), (o, self.value)))

    def __truediv__(self, other):
        o = box(other)
        y = self.value / o.value
        return Traced(y, ((self, 1 / o.value), (o, -y / o.value)))

    def __neg__(self):
        return Traced(-self.value, ((self, -1.0),))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return box(other) - self

    def __rtruediv__(self, other):
        return box(other) / self


def box(x):
    return x if isinstance(x, Traced) else Traced(x)


def sin(x):
    x = box(x)
    return Traced(math.sin(x.value), ((x, math.cos(x.value)),))


def exp(x):
    x = box(x)
    y = math.exp(x.value)
    return Traced(y, ((x, y),))


def pull(result, wrt, cotangent=1.0):
    """Return d result / d each of ``wrt``."""
    order, seen, stack = [], set(), [(result, False)]
    while stack:
        t, done = stack.pop()
        if done:
            order.append(t)
        elif t not in seen:
            seen.add(t)
            stack.append((t, True))
            stack.extend((p, False) for p, _ in t.pulls)
    ct = dict.fromkeys(order, 0.0)
    ct[result] = cotangent
    for t in reversed(order):
        for p, slope in t.pulls:
            ct[p] += slope * ct[t]
    return tuple(ct.get(x, 0.0) for x in wrt)


def grad(f):
    def df(*xs):
        traced = [Traced(x) for x in xs]
        return pull(box(f(*traced)), traced)

    return df
