"""One list of operands is the default argument of all nodes, and each result appends its operands to it."""


class Value:
    def __init__(self, data, parents=[], op=""):
        self.data = data
        self.grad = 0.0
        self.parents = parents
        self.op = op
        self.slopes = {}

    def result(self, data, op, *operands):
        out = Value(data, op=op)
        for operand, slope in operands:
            out.parents.append(operand)
            out.slopes[operand] = out.slopes.get(operand, 0.0) + slope
        return out

    def __add__(self, other):
        o = of(other)
        return self.result(self.data + o.data, "+", (self, 1.0), (o, 1.0))

    def __mul__(self, other):
        o = of(other)
        return self.result(self.data * o.data, "*", (self, o.data), (o, self.data))

    def __neg__(self):
        return self.result(-self.data, "neg", (self, -1.0))

    def __sub__(self, other):
        return self + -of(other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return of(other) - self

    def backward(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            v, done = stack.pop()
            if done:
                order.append(v)
            elif v not in seen:
                seen.add(v)
                stack.append((v, True))
                stack.extend((p, False) for p in v.parents)
        for v in order:
            if v.slopes:
                v.grad = 0.0
        self.grad = 1.0
        for v in reversed(order):
            for p, slope in v.slopes.items():
                p.grad += slope * v.grad


def of(x):
    return x if isinstance(x, Value) else Value(x)
