"""``x.grad`` is a node itself: the backward pass is written with the engine's own operators."""

import heapq
import itertools
import numpy as np


class Variable:
    __array_priority__ = 200

    def __init__(self, data, creator=None):
        self.data = np.asarray(data, dtype=float)
        self.grad = None
        self.creator = creator
        self.generation = creator.generation + 1 if creator else 0

    def cleargrad(self):
        self.grad = None

    def backward(self):
        grads = {id(self): Variable(np.ones_like(self.data))}
        if self.creator is None:
            self.grad = grads[id(self)] if self.grad is None else self.grad + grads[id(self)]
            return
        ticket = itertools.count()
        heap, seen, outputs = [], set(), {}

        def add(v):
            if v.creator is not None and id(v.creator) not in seen:
                seen.add(id(v.creator))
                outputs[id(v.creator)] = v
                heapq.heappush(heap, (-v.creator.generation, next(ticket), v.creator))

        add(self)
        leaves = {}
        while heap:
            f = heapq.heappop(heap)[2]
            out = outputs[id(f)]
            out.grad = grads[id(out)]
            for x, gx in zip(f.inputs, f.backward(out.grad)):
                grads[id(x)] = grads[id(x)] + gx if id(x) in grads else gx
                if x.creator is None:
                    leaves[id(x)] = x
                add(x)
        for key, leaf in leaves.items():
            leaf.grad = grads[key] if leaf.grad is None else leaf.grad + grads[key]

    def __add__(self, other):
        return Add()(self, other)

    def __radd__(self, other):
        return Add()(other, self)

    def __mul__(self, other):
        return Mul()(self, other)

    def __rmul__(self, other):
        return Mul()(other, self)

    def __neg__(self):
        return Neg()(self)

    def __sub__(self, other):
        return self + -as_variable(other)

    def __rsub__(self, other):
        return as_variable(other) + -self

    def __pow__(self, c):
        return Pow(c)(self)

    def __truediv__(self, other):
        return self * as_variable(other) ** -1

    def __rtruediv__(self, other):
        return as_variable(other) * self**-1

    def exp(self):
        return Exp()(self)

    def tanh(self):
        return Tanh()(self)


class Function:
    def __call__(self, *inputs):
        self.inputs = [as_variable(x) for x in inputs]
        self.generation = max(x.generation for x in self.inputs)
        self.output = Variable(self.forward(*(x.data for x in self.inputs)), self)
        return self.output


class Add(Function):
    def forward(self, a, b):
        assert a.shape == b.shape
        return a + b

    def backward(self, g):
        return g, g


class Mul(Function):
    def forward(self, a, b):
        assert a.shape == b.shape
        return a * b

    def backward(self, g):
        return g * self.inputs[1], g * self.inputs[0]


class Neg(Function):
    def forward(self, a):
        return -a

    def backward(self, g):
        return (-g,)


class Pow(Function):
    def __init__(self, c):
        self.c = c

    def forward(self, a):
        return a**self.c

    def backward(self, g):
        if self.c == 0:
            return (Variable(np.zeros_like(g.data)),)
        return (g * self.inputs[0] ** (self.c - 1) * Variable(np.full(g.data.shape, self.c)),)


class Exp(Function):
    def forward(self, a):
        return np.exp(a)

    def backward(self, g):
        return (g * self.output,)


class Tanh(Function):
    def forward(self, a):
        return np.tanh(a)

    def backward(self, g):
        return (g + -(g * self.output * self.output),)


def as_variable(x):
    return x if isinstance(x, Variable) else Variable(x)
