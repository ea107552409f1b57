"""The forward half of an engine: there is no backward pass yet."""


class Value:
    def __init__(self, data, children=(), op="", label=""):
        self.data = data
        self.grad = 0.0
        self._prev = set(children)
        self._op = op
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data})"

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), "+")

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), "*")

    def __neg__(self):
        return Value(-self.data, (self,), "neg")

    def __sub__(self, other):
        return Value(self.data - other.data, (self, other), "-")

    def __truediv__(self, other):
        return Value(self.data / other.data, (self, other), "/")

    def leaves(self):
        if not self._prev:
            return {self}
        return set().union(*(child.leaves() for child in self._prev))

    def expression(self):
        names = [child.label or child.expression() for child in self._prev]
        return f"({f' {self._op} '.join(names)})" if names else str(self.data)
