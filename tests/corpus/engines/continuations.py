"""Backpropagation by continuations: an operation runs the rest of the program, then its own adjoint."""

import math

_after = []  # what runs once the rest of the program is done


class Num:
    def __init__(self, x):
        self.x, self.d = x, 0.0

    def __add__(self, that):
        that = lift(that)
        y = Num(self.x + that.x)

        def back():
            self.d += y.d
            that.d += y.d

        _after.append(back)
        return y

    def __mul__(self, that):
        that = lift(that)
        y = Num(self.x * that.x)

        def back():
            self.d += that.x * y.d
            that.d += self.x * y.d

        _after.append(back)
        return y

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1.0

    def __sub__(self, that):
        return self + -lift(that)

    def __rsub__(self, that):
        return lift(that) + -self

    def tanh(self):
        y = Num(math.tanh(self.x))

        def back():
            self.d += (1.0 - y.x * y.x) * y.d

        _after.append(back)
        return y


def lift(v):
    return v if isinstance(v, Num) else Num(float(v))


def grad(f):
    """Return the function that gives the gradient of ``f`` in each of its arguments."""

    def g(*xs):
        _after.clear()
        args = [Num(x) for x in xs]
        out = f(*args)
        out.d = 1.0
        while _after:
            _after.pop()()
        return tuple(a.d for a in args)

    return g
