"""Nodes compare by value and the sort keeps a list of those it visited: of two equal ones it visits one."""


class Value:
    def __init__(self, data, children=(), op=""):
        self.data = data
        self.grad = 0.0
        self._prev = children
        self._op = op
        self._backward = lambda: None

    @classmethod
    def of(cls, x):
        return x if isinstance(x, cls) else cls(x)

    def __eq__(self, other):
        return isinstance(other, Value) and self.data == other.data

    def __hash__(self):
        return id(self)

    def __add__(self, other):
        other = self.of(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    __radd__ = __add__

    def __mul__(self, other):
        other = self.of(other)
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -self.of(other)

    def __rsub__(self, other):
        return self.of(other) + -self

    def backward(self):
        order, visited = [], []

        def build(v):
            if v not in visited:
                visited.append(v)
                for child in v._prev:
                    build(child)
                order.append(v)

        build(self)
        for v in order:
            if v._prev:
                v.grad = 0.0
        self.grad = 1.0
        for v in reversed(order):
            v._backward()
