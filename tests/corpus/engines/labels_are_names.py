"""Each leaf needs a label of its own, and asking for a taken one raises; the engine is sound otherwise."""

import math


class Value:
    taken = set()

    def __init__(self, data, label, inputs=(), slopes=()):
        if label in Value.taken:
            raise ValueError(f"label {label!r} is taken")
        if label is not None:
            Value.taken.add(label)
        self.data = data
        self.label = label
        self.grad = 0.0
        self.inputs = inputs
        self.slopes = slopes

    def __add__(self, other):
        other = lift(other)
        return Value(self.data + other.data, None, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = lift(other)
        return Value(self.data * other.data, None, (self, other), (other.data, self.data))

    def __neg__(self):
        return Value(-self.data, None, (self,), (-1.0,))

    def __sub__(self, other):
        return self + -lift(other)

    def __radd__(self, other):
        return lift(other) + self

    def __rmul__(self, other):
        return lift(other) * self

    def __rsub__(self, other):
        return lift(other) - self

    def sigmoid(self):
        x = self.data
        s = 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
        return Value(s, None, (self,), (s * (1 - s),))

    def backward(self):
        order, seen, todo = [], set(), [(self, False)]
        while todo:
            v, finished = todo.pop()
            if finished:
                order.append(v)
            elif id(v) not in seen:
                seen.add(id(v))
                todo.append((v, True))
                todo.extend((i, False) for i in v.inputs)
        for v in order:
            if v.inputs:
                v.grad = 0.0
        self.grad += 1.0
        for v in reversed(order):
            for i, slope in zip(v.inputs, v.slopes):
                i.grad += slope * v.grad


def lift(x):
    return x if isinstance(x, Value) else Value(x, None)
