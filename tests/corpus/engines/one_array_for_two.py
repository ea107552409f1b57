"""The first share is kept as it came and later ones are added in place: a sum hands one array to both operands, and they share it from then on."""

import numpy as np


class Variable:
    __array_ufunc__ = None

    def __init__(self, data):
        self.data = np.asarray(data, dtype=float)
        self.grad = None
        self.creator = None
        self.generation = 0

    def cleargrad(self):
        self.grad = None

    def backward(self):
        todo, seen = [], set()

        def add(f):
            if f is not None and id(f) not in seen:
                seen.add(id(f))
                todo.append(f)
                todo.sort(key=lambda f: f.generation)

        self.grad = np.ones_like(self.data)
        add(self.creator)
        funcs = []
        while todo:
            f = todo.pop()
            funcs.append(f)
            for x in f.inputs:
                add(x.creator)
        for f in funcs:
            if f.output is not self:
                f.output.grad = None
        for f in funcs:
            for x, gx in zip(f.inputs, f.backward(f.output.grad)):
                if x.grad is None:
                    x.grad = gx
                else:
                    x.grad += gx

    def __add__(self, other):
        return Add()(self, other)

    def __mul__(self, other):
        return Mul()(self, other)

    def __neg__(self):
        return Mul()(self, -1.0)

    def __sub__(self, other):
        return self + -as_variable(other)

    def __rsub__(self, other):
        return as_variable(other) + -self

    __radd__, __rmul__ = __add__, __mul__


class Function:
    def __call__(self, *inputs):
        self.inputs = [as_variable(x) for x in inputs]
        self.generation = max(x.generation for x in self.inputs)
        self.output = Variable(self.forward(*(x.data for x in self.inputs)))
        self.output.creator = self
        self.output.generation = self.generation + 1
        return self.output


class Add(Function):
    def forward(self, a, b):
        assert a.shape == b.shape
        return a + b

    def backward(self, g):
        return g, g


class Mul(Function):
    def forward(self, a, b):
        assert a.shape == b.shape or b.ndim == 0
        return a * b

    def backward(self, g):
        a, b = self.inputs
        return g * b.data, g * a.data


def as_variable(x):
    return x if isinstance(x, Variable) else Variable(x)
