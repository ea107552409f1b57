"""The engine that the reader writes in *An autograd engine*, line for line as on that page."""

import math


class Node:
    """A number that remembers how it was made."""

    def __init__(self, data, parents=(), local_grads=(), op=""):
        self.data, self.grad = data, 0.0
        self.parents, self.local_grads = parents, local_grads
        self.op, self.label = op, None

    def __add__(self, other):
        other = as_node(other)
        return Node(self.data + other.data, (self, other), (1.0, 1.0), "+")

    def __sub__(self, other):
        other = as_node(other)
        return Node(self.data - other.data, (self, other), (1.0, -1.0), "-")

    def __mul__(self, other):
        other = as_node(other)
        return Node(self.data * other.data, (self, other), (other.data, self.data), "*")

    def __pow__(self, n):
        return Node(self.data**n, (self,), (n * self.data ** (n - 1),), f"**{n}")

    def __rsub__(self, other):
        return as_node(other) - self

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        t = math.tanh(self.data)
        return Node(t, (self,), (1 - t**2,), "tanh")

    def sorted_graph(self):
        order, visited, to_do = [], set(), [(self, False)]
        while to_do:
            node, parents_done = to_do.pop()
            if parents_done:
                order.append(node)
            elif node not in visited:
                visited.add(node)
                to_do.append((node, True))
                to_do.extend((parent, False) for parent in node.parents)
        return order[::-1]

    def backward(self):
        order = self.sorted_graph()
        for node in order:
            if node.parents:
                node.grad = 0.0
        self.grad += 1.0
        for node in order:
            for parent, local in zip(node.parents, node.local_grads):
                parent.grad += node.grad * local


def as_node(number):
    return number if isinstance(number, Node) else Node(number)


def slopes(f, values, nudge=1e-5):
    """Return how fast f, of nodes, changes with each value: differences."""
    found = []
    for i in range(len(values)):
        up, down = list(values), list(values)
        up[i] += nudge
        down[i] -= nudge
        found.append((f(*map(Node, up)).data - f(*map(Node, down)).data) / (2 * nudge))
    return found
