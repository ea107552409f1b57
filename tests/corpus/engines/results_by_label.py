"""A result is looked up by a label made of its operands' labels, so that an old one comes back after its operand's value changed."""


class Value:
    nodes = {}

    def __init__(self, data, children=(), label=""):
        if label in Value.nodes:
            raise Exception(f"label {label!r} already in use")
        self.data = data
        self.grad = 0.0
        self.children = set(children)
        self.label = label
        self._backward = lambda: None
        Value.nodes[label] = self

    @classmethod
    def constant(cls, x):
        return x if isinstance(x, cls) else cls.nodes.get(str(x)) or cls(x, label=str(x))

    @classmethod
    def result(cls, data, children, label):
        old = cls.nodes.get(label)
        return (old, False) if old else (cls(data, children, label), True)

    def __add__(self, other):
        other = self.constant(other)
        out, new = self.result(
            self.data + other.data, (self, other), f"({self.label}+{other.label})"
        )

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        if new:
            out._backward = _backward
        return out

    def __mul__(self, other):
        other = self.constant(other)
        out, new = self.result(
            self.data * other.data, (self, other), f"({self.label}*{other.label})"
        )

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        if new:
            out._backward = _backward
        return out

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-self.constant(other))

    def __rsub__(self, other):
        return (-self) + other

    def backward(self):
        order, seen = [], set()

        def visit(v):
            if v not in seen:
                seen.add(v)
                for c in v.children:
                    visit(c)
                order.append(v)

        visit(self)
        for v in order:
            if v.children:
                v.grad = 0.0
        self.grad = 1.0
        for v in reversed(order):
            v._backward()
