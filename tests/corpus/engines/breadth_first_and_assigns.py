"""A queue gives the order, each node once; rules assign; only an ``int`` becomes a constant."""

from collections import deque


class Value:
    def __init__(self, data, children=()):
        self.data = data
        self.children = children
        self.grad = 0.0
        self._backward = lambda: None

    def __add__(self, other):
        if isinstance(other, int):
            other = Value(other)
        out = Value(self.data + other.data, children=(self, other))

        def _backward():
            self.grad = out.grad
            other.grad = out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        if isinstance(other, int):
            other = Value(other)
        out = Value(self.data * other.data, children=(self, other))

        def _backward():
            self.grad = out.grad * other.data
            other.grad = out.grad * self.data

        out._backward = _backward
        return out

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def backward(self):
        order, visited, queue = [], {self}, deque([self])
        while queue:
            node = queue.popleft()
            order.append(node)
            for child in node.children:
                if child not in visited:
                    visited.add(child)
                    queue.append(child)
        self.grad = 1.0
        for node in order:
            node._backward()
