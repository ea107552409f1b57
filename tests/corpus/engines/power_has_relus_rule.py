"""Scalars that look their rules up in two tables; the power's backward was pasted from relu's."""

import math

FORWARD = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "relu": lambda a, _: a if a > 0 else 0.0,
    "tanh": lambda a, _: math.tanh(a),
    "pow": lambda a, n: a**n,
}
BACKWARD = {
    "+": lambda a, b, y: (1.0, 1.0),
    "-": lambda a, b, y: (1.0, -1.0),
    "*": lambda a, b, y: (b, a),
    "/": lambda a, b, y: (1 / b, -a / b**2),
    "relu": lambda a, _, y: (1.0 if y > 0 else 0.0, 0.0),
    "tanh": lambda a, _, y: (1 - y * y, 0.0),
    "pow": lambda a, n, y: (1.0 if y > 0 else 0.0, 0.0),
}


class Scalar:
    born = 0

    def __init__(self, data, rule=None, left=None, right=None):
        self.data, self.rule, self.left, self.right, self.grad = data, rule, left, right, 0.0
        Scalar.born += 1
        self.age = Scalar.born

    def __add__(self, o):
        return apply("+", self, o)

    def __mul__(self, o):
        return apply("*", self, o)

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, o):
        return apply("-", self, o)

    def __rsub__(self, o):
        return apply("-", o, self)

    def __truediv__(self, o):
        return apply("/", self, o)

    def __rtruediv__(self, o):
        return apply("/", o, self)

    def __neg__(self):
        return apply("-", 0.0, self)

    def __pow__(self, n):
        return apply("pow", self, n)

    def relu(self):
        return apply("relu", self, 0.0)

    def tanh(self):
        return apply("tanh", self, 0.0)

    def backward(self):
        reached, todo = {self.age: self}, [self]
        while todo:
            node = todo.pop()
            for part in (node.left, node.right):
                if part is not None and part.age not in reached:
                    reached[part.age] = part
                    todo.append(part)
        for node in reached.values():
            if node.rule:
                node.grad = 0.0
        self.grad = 1.0
        for age in sorted(reached, reverse=True):  # the youngest first
            node = reached[age]
            if node.rule:
                a, b = node.left, node.right
                slopes = BACKWARD[node.rule](a.data, b.data, node.data)
                a.grad += slopes[0] * node.grad
                b.grad += slopes[1] * node.grad


def scalar(x):
    return x if isinstance(x, Scalar) else Scalar(x)


def apply(rule, a, b):
    a, b = scalar(a), scalar(b)
    return Scalar(FORWARD[rule](a.data, b.data), rule, a, b)
