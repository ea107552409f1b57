"""One global tape that records (result, [(operand, slope)]); the pass reads it from its end."""

import math

TAPE = []


class Var:
    def __init__(self, value):
        self.value = value
        self.grad = 0.0
        self.at = None

    def __add__(self, other):
        o = as_var(other)
        return record(self.value + o.value, (self, 1.0), (o, 1.0))

    def __sub__(self, other):
        o = as_var(other)
        return record(self.value - o.value, (self, 1.0), (o, -1.0))

    def __mul__(self, other):
        o = as_var(other)
        return record(self.value * o.value, (self, o.value), (o, self.value))

    def __truediv__(self, other):
        o = as_var(other)
        return record(self.value / o.value, (self, 1 / o.value), (o, -self.value / o.value**2))

    def __neg__(self):
        return record(-self.value, (self, -1.0))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return as_var(other) - self

    def __rtruediv__(self, other):
        return as_var(other) / self

    def sin(self):
        return record(math.sin(self.value), (self, math.cos(self.value)))

    def exp(self):
        y = math.exp(self.value)
        return record(y, (self, y))

    def backward(self):
        adjoint = {self: 1.0}
        for result, inputs in reversed(TAPE[: (self.at or 0) + 1] if self.at is not None else []):
            g = adjoint.pop(result, 0.0)
            if g:
                result.grad = g
            for operand, slope in inputs:
                adjoint[operand] = adjoint.get(operand, 0.0) + g * slope
        for leaf, g in adjoint.items():
            if leaf.at is None:
                leaf.grad += g


def as_var(x):
    return x if isinstance(x, Var) else Var(x)


def record(value, *inputs):
    result = Var(value)
    result.at = len(TAPE)
    TAPE.append((result, inputs))
    return result
