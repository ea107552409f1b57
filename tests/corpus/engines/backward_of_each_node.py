"""``backward`` is each node's own closure, the pass has another name; tanh lacks a bracket, ``2 - a`` is ``a - 2``, ``2 / a`` is ``a / 2``."""

import math


class Value:
    def __init__(self, data, children=(), op="", label=""):
        self.data = float(data)
        self.grad = 0.0
        self.children = set(children)
        self.op = op
        self.label = label
        self.backward = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def backward():
            self.grad += out.grad
            other.grad += out.grad

        out.backward = backward
        return out

    __radd__ = __add__

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def backward():
            self.grad += out.grad * other.data
            other.grad += out.grad * self.data

        out.backward = backward
        return out

    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    __rsub__ = __sub__

    def __pow__(self, n):
        out = Value(self.data**n, (self,), "**")

        def backward():
            self.grad += n * self.data ** (n - 1) * out.grad

        out.backward = backward
        return out

    def __truediv__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return self * other**-1

    __rtruediv__ = __truediv__

    def exp(self):
        out = Value(math.exp(self.data), (self,), "exp")

        def backward():
            self.grad += out.data * out.grad

        out.backward = backward
        return out

    def tanh(self):
        out = Value(math.tanh(self.data), (self,), "tanh")

        def backward():
            self.grad += 1 - out.data**2 * out.grad

        out.backward = backward
        return out

    def relu(self):
        out = Value(self.data if self.data > 0 else 0.0, (self,), "relu")

        def backward():
            self.grad += out.grad if out.data > 0 else 0.0

        out.backward = backward
        return out

    def run_backward(self):
        order = []

        def visit(node):
            if node not in order:
                for child in node.children:
                    visit(child)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            node.backward()
