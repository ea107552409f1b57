"""Closures that add, an explicit stack for the sort, ``float(data)`` at birth: scalars only."""


class Value:
    def __init__(self, data, parents=()):
        self.data = float(data)
        self.grad = 0.0
        self.parents = parents
        self.send = lambda: None

    @staticmethod
    def of(x):
        return x if isinstance(x, Value) else Value(x)

    def __add__(self, other):
        other = Value.of(other)
        out = Value(self.data + other.data, (self, other))

        def send():
            self.grad += out.grad
            other.grad += out.grad

        out.send = send
        return out

    def __mul__(self, other):
        other = Value.of(other)
        out = Value(self.data * other.data, (self, other))

        def send():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.send = send
        return out

    def relu(self):
        out = Value(max(self.data, 0.0), (self,))

        def send():
            self.grad += out.grad if self.data > 0 else 0.0

        out.send = send
        return out

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -Value.of(other)

    def __rsub__(self, other):
        return Value.of(other) - self

    def backward(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack.extend((p, False) for p in node.parents)
        for node in order:
            if node.parents:
                node.grad = 0.0
        self.grad = 1.0
        for node in reversed(order):
            node.send()
