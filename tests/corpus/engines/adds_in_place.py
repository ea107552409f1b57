"""A NumPy engine whose += writes into the array that an earlier product reads in its backward pass (nnabla PR 932, MyGrad PR 320)."""

import numpy as np


class Variable:
    def __init__(self, data):
        self.data = np.array(data, dtype=float)
        self.grad = None
        self.creator = None
        self.generation = 0

    def __add__(self, o):
        return call(Add(), self, o)

    def __mul__(self, o):
        return call(Mul(), self, o)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return call(Mul(), self, -1.0)

    def __sub__(self, o):
        return self + -as_variable(o)

    def __rsub__(self, o):
        return as_variable(o) + -self

    def __iadd__(self, o):
        o = as_variable(o)
        self.data += o.data  # inplace
        old = Variable(self.data)
        old.data = self.data
        old.creator, old.generation = self.creator, self.generation
        if self.creator is None:  # a leaf keeps its place in the graph
            return link(AddInto(), self, o)
        return link(Add(), old, o)

    def tanh(self):
        return call(Tanh(), self)

    def backward(self):
        self.grad = np.ones_like(self.data)
        funcs, seen = [], set()

        def push(f):
            if f is not None and f not in seen:
                seen.add(f)
                funcs.append(f)
                funcs.sort(key=lambda f: f.generation)

        push(self.creator)
        grads = {id(self): self.grad}
        while funcs:
            f = funcs.pop()
            g = grads[id(f.output)]
            for x, gx in zip(f.inputs, f.backward(g)):
                grads[id(x)] = grads[id(x)] + gx if id(x) in grads else gx
                x.grad = grads[id(x)]
                push(x.creator)


def as_variable(x):
    return x if isinstance(x, Variable) else Variable(x)


def fit(g, shape):
    g = np.asarray(g)
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1)
    return g.sum(axis=axes, keepdims=True) if axes else g


class Func:
    def backward(self, g):
        raise NotImplementedError


class Add(Func):
    def forward(self, a, b):
        return a + b

    def backward(self, g):
        return fit(g, self.inputs[0].data.shape), fit(g, self.inputs[1].data.shape)


class AddInto(Add):
    pass


class Mul(Func):
    def forward(self, a, b):
        return a * b

    def backward(self, g):
        a, b = self.inputs
        return fit(g * b.data, a.data.shape), fit(g * a.data, b.data.shape)


class Tanh(Func):
    def forward(self, a):
        self.y = np.tanh(a)
        return self.y

    def backward(self, g):
        return (g * (1 - self.y**2),)


def link(f, *xs, y=None):
    f.inputs = xs
    out = Variable(xs[0].data if y is None else y)
    if y is None:
        out.data = xs[0].data
    f.generation = max(x.generation for x in xs)
    out.creator, out.generation, f.output = f, f.generation + 1, out
    return out


def call(f, *xs):
    xs = tuple(as_variable(x) for x in xs)
    return link(f, *xs, y=f.forward(*[x.data for x in xs]))
