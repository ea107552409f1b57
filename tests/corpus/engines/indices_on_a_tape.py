"""Wengert list after rufflewind's tutorial: a node is two weights and two indices."""

import math


class Tape:
    def __init__(self):
        self.nodes = []

    def push(self, deps, weights):
        self.nodes.append((deps, weights))
        return len(self.nodes) - 1


TAPE = Tape()


class Var:
    def __init__(self, value, index=None):
        self.value = value
        self.index = TAPE.push((), ()) if index is None else index

    def _lift(self, other):
        return other if isinstance(other, Var) else Var(float(other))

    def __add__(self, other):
        o = self._lift(other)
        return Var(self.value + o.value, TAPE.push((self.index, o.index), (1.0, 1.0)))

    __radd__ = __add__

    def __mul__(self, other):
        o = self._lift(other)
        return Var(self.value * o.value, TAPE.push((self.index, o.index), (o.value, self.value)))

    __rmul__ = __mul__

    def __neg__(self):
        return Var(-self.value, TAPE.push((self.index,), (-1.0,)))

    def __sub__(self, other):
        return self + (-self._lift(other))

    def __rsub__(self, other):
        return self._lift(other) - self

    def sin(self):
        return Var(math.sin(self.value), TAPE.push((self.index,), (math.cos(self.value),)))

    def exp(self):
        e = math.exp(self.value)
        return Var(e, TAPE.push((self.index,), (e,)))

    def grad(self):
        derivs = [0.0] * len(TAPE.nodes)
        derivs[self.index] = 1.0
        for i in reversed(range(self.index + 1)):
            deps, weights = TAPE.nodes[i]
            for d, w in zip(deps, weights):
                derivs[d] += w * derivs[i]
        return Grad(derivs)


class Grad:
    def __init__(self, derivs):
        self.derivs = derivs

    def wrt(self, var):
        return self.derivs[var.index]
