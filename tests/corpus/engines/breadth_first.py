"""Sound but for its order: breadth first from the root, where a node may send before its last share came."""


class Number:
    def __init__(self, value, inputs=()):
        self.value = value
        self.inputs = inputs
        self.grad = 0.0

    def __add__(self, other):
        other = number(other)
        return Number(self.value + other.value, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        other = number(other)
        return Number(self.value * other.value, ((self, other.value), (other, self.value)))

    def __neg__(self):
        return Number(-self.value, ((self, -1.0),))

    def __sub__(self, other):
        return self + -number(other)

    def __rsub__(self, other):
        return number(other) - self

    def __truediv__(self, other):
        other = number(other)
        return Number(
            self.value / other.value,
            ((self, 1 / other.value), (other, -self.value / other.value**2)),
        )

    def __rtruediv__(self, other):
        return number(other) / self

    __radd__, __rmul__ = __add__, __mul__

    @property
    def data(self):
        return self.value

    def backward(self):
        order, seen = [self], {self}
        for node in order:
            for source, _ in node.inputs:
                if source not in seen:
                    seen.add(source)
                    order.append(source)
        for node in order:
            if node.inputs:
                node.grad = 0.0
        self.grad = 1.0
        for node in order:
            for source, slope in node.inputs:
                source.grad += slope * node.grad


def number(x):
    return x if isinstance(x, Number) else Number(x)
