"""Engines to examine: ten of ten hands, each with a fault of its own, and faults put into one.

`STUDENTS` were written from the lines that beginners write, before the doctor was tried on them.
`FAULTS` are changes of `CLOSURES`, which is sound, by text: what is put in place of what. `ARRAYS`
and `TABLE` do all of the project *Your own engine*, by closures and by rules in a table; `BAD` is
the first with `=` for `+=`.
"""

import math

import numpy as np


class Graph:
    """What most hands write alike: operands with their local gradients; no backward pass yet."""

    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = data, 0.0, parents

    def __add__(self, other):
        return type(self)(self.data + other.data, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other):
        return type(self)(self.data * other.data, [(self, other.data), (other, self.data)])


class Taped(Graph):
    """A tape that all graphs share, and that nobody clears."""

    tape = []  # noqa: RUF012

    def __init__(self, data, parents=()):
        super().__init__(data, parents)
        Taped.tape.append(self)

    def backward(self):
        self.grad = 1.0
        for node in reversed(Taped.tape):
            for parent, local in node.parents:
                parent.grad += local * node.grad


class NoSeed(Graph):
    """`backward` asks the one that calls for the gradient of the result."""

    def backward(self):
        for parent, local in self.parents:
            parent.grad += self.grad * local
            parent.backward()


class Popped(Graph):
    """Gradients lie in a dictionary, and reading takes them out."""

    store = {}  # noqa: RUF012

    def __init__(self, data, parents=()):
        self.data, self.parents = data, parents

    @property
    def grad(self):
        return self.store.pop(self, 0.0)

    @grad.setter
    def grad(self, value):
        self.store[self] = value

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if node not in seen:
                seen.add(node)
                for parent, _ in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            g = node.grad
            for parent, local in node.parents:
                parent.grad += g * local


class Copies:
    """Each operand is wrapped anew, also where it is a node."""

    def __init__(self, data, parents=()):
        self.data = data.data if isinstance(data, Copies) else data
        self.grad, self.parents = 0.0, parents

    def __add__(self, other):
        a, b = Copies(self), Copies(other)
        return Copies(a.data + b.data, ((a, 1.0), (b, 1.0)))

    def __mul__(self, other):
        a, b = Copies(self), Copies(other)
        return Copies(a.data * b.data, ((a, b.data), (b, a.data)))

    def backward(self):
        self.grad = 1.0
        for parent, local in self.parents:
            parent.grad += self.grad * local


class Recursive(Graph):
    """Passes each share on at once, down every path."""

    def backward(self, share=1.0):
        self.grad += share
        for parent, local in self.parents:
            parent.backward(share * local)


class LayerByLayer(Graph):
    """Goes back from the root in layers, as a search of the nearest does."""

    def backward(self):
        self.grad, layer, seen = 1.0, [self], {id(self)}
        while layer:
            below = []
            for node in layer:
                for parent, local in node.parents:
                    parent.grad += node.grad * local
                    if id(parent) not in seen:
                        seen.add(id(parent))
                        below.append(parent)
            layer = below


class ByName(Graph):
    """Gradients are returned in a dictionary by the values of the nodes."""

    def __hash__(self):
        return hash(self.data)

    def __eq__(self, other):
        return self.data == getattr(other, "data", other)

    def backward(self):
        order, seen, todo = [], set(), [(self, False)]
        while todo:
            node, done = todo.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                todo += [(node, True), *((parent, False) for parent, _ in node.parents)]
        for node in order:
            node.grad = 0.0 if node.parents else node.grad
        self.grad += 1.0
        for node in reversed(order):
            for parent, local in node.parents:
                parent.grad += node.grad * local


class Truthy(Graph):
    """`self.grad or 1.0`: the root is the node to which nothing has come."""

    def backward(self):
        order, seen = [], set()
        todo = [self]
        while todo:
            node = todo.pop()
            if id(node) not in seen:
                seen.add(id(node))
                order.append(node)
                todo += [parent for parent, _ in node.parents]
        for node in order:
            g = node.grad or 1.0
            for parent, local in node.parents:
                parent.grad += g * local


class Rounded(Graph):
    """Keeps what it was given, and makes gradients of the same kind."""

    def __init__(self, data, parents=()):
        self.data = np.array(data)
        self.grad, self.parents = np.zeros_like(self.data), parents

    def backward(self):
        order, seen, todo = [], set(), [(self, False)]
        while todo:
            node, done = todo.pop()
            if done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                todo += [(node, True), *((parent, False) for parent, _ in node.parents)]
        for node in order:
            if node.parents:
                node.grad[...] = 0
        self.grad[...] += 1
        for node in reversed(order):
            for parent, local in node.parents:
                np.add(parent.grad, node.grad * local, out=parent.grad, casting="unsafe")


class SeedIsValue(Graph):
    """The pass starts from the value of the result."""

    def backward(self, g=None):
        g = self.data if g is None else g
        self.grad += g
        for parent, local in self.parents:
            parent.backward(g * local)


STUDENTS = {
    Taped: "gradients of the pass before",
    NoSeed: "the root is not seeded with 1",
    Popped: "reading grad empties it",
    Copies: "no gradient reaches the leaves",
    Recursive: "no topological order",
    LayerByLayer: "no topological order",
    ByName: "nodes of equal value taken for one",
    Truthy: "no topological order|a gradient of 0 taken for none",
    Rounded: "whole numbers",
    SeedIsValue: "the root is not seeded with 1",
}

CLOSURES = """
class Value:
    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = data, 0.0, parents
        self.send = lambda: None

    def to(self, other):
        return other if isinstance(other, Value) else Value(float(other))

    def made(self, data, a, ga, b=None, gb=0.0):
        out = Value(data, (a,) if b is None else (a, b))
        def send():
            a.grad += out.grad * ga
            if b is not None:
                b.grad += out.grad * gb
        out.send = send
        return out

    def __add__(self, other):
        other = self.to(other)
        out = Value(self.data + other.data, (self, other))
        def send():
            self.grad += out.grad
            other.grad += out.grad  # of add
        out.send = send
        return out

    def __mul__(self, other):
        other = self.to(other)
        out = Value(self.data * other.data, (self, other))
        def send():
            self.grad += out.grad * other.data  # of mul
            other.grad += out.grad * self.data
        out.send = send
        return out

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        other = self.to(other)
        return self.made(self.data - other.data, self, 1.0, other, -1.0)

    def __rsub__(self, other):
        return self.to(other) - self

    def __truediv__(self, other):
        other = self.to(other)
        a, b = self.data, other.data
        return self.made(a / b, self, 1 / b, other, -a / (b * b))

    def __rtruediv__(self, other):
        return self.to(other) / self

    def __pow__(self, n):
        if n == 0:
            return self.made(1.0, self, 0.0)
        return self.made(self.data ** n, self, n * self.data ** (n - 1.0))

    def exp(self):
        y = math.exp(self.data)
        return self.made(y, self, y)

    def log(self):
        return self.made(math.log(self.data), self, 1 / self.data)

    def tanh(self):
        y = math.tanh(self.data)
        return self.made(y, self, 1 - y * y)

    def relu(self):
        return self.made(max(self.data, 0.0), self, float(self.data > 0))

    __radd__, __rmul__ = __add__, __mul__

    def backward(self):
        order, seen, todo = [], set(), [(self, False)]
        while todo:
            node, done = todo.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                todo += [(node, True), *((parent, False) for parent in node.parents)]
        for node in order:
            if node.parents:
                node.grad = 0.0
        self.grad += 1.0
        for node in reversed(order):
            node.send()
"""

FAULTS = [
    ("other.grad += out.grad  # of add", "other.grad = out.grad", "Museum 1: = for +="),
    ("self.grad += out.grad * other.data  # of mul", "self.grad = out.grad * other.data",
     "Museum 1: = for +="),
    ("            self.grad += out.grad\n", "            self.grad = out.grad\n",
     "Museum 1: = for +="),
    ("b.grad += out.grad * gb", "b.grad = out.grad * gb", "Museum 1: = for +="),
    ("a.grad += out.grad * ga", "a.grad += ga", "Museum 7: the gradient from above is forgotten"),
    ("-a / (b * b)", "a / (b * b)", "a rule: /"),
    ("other, -1.0)", "other, 1.0)", "a rule: -"),
    ("return self.to(other) - self", "return self - other", "a number beside a node"),
    ("return self.to(other) / self", "return self / other", "a number beside a node"),
    ("self.data ** n, self, n * self.data ** (n - 1.0)",
     "math.exp(n * math.log(abs(self.data))), self, "
     "n * math.exp((n - 1) * math.log(abs(self.data)))", "powers of negative numbers"),
    ("        if n == 0:\n            return self.made(1.0, self, 0.0)\n", "",
     "Museum 8: nothing to the power of nothing"),
    ("return self.made(y, self, y)", "return self.made(y, self, self.data)",
     "Museum 7: the local gradient of exp"),
    ("1 - y * y", "1 - y", "a rule: tanh"),
    ("float(self.data > 0)", "1.0", "a rule: relu"),
    ("1 / self.data)", "1 / self.data ** 2)", "a rule: log"),
    ("self.grad += 1.0\n", "pass\n", "the root is not seeded with 1"),
    ("self.grad += 1.0\n", "self.grad += 2.0\n", "the root is not seeded with 1"),
    ("self.grad += 1.0\n", "self.grad = 1.0 if self.parents else 0.0\n",
     "a pass that starts at a leaf"),
    ("            if node.parents:\n                node.grad = 0.0\n", "            pass\n",
     "Museum 3: gradients of the pass before"),
    ("for node in reversed(order)", "for node in order", "Museum 2: no topological order"),
    ("order, seen, todo = [], set(),", "order, seen, todo = [], [],",
     "time grows faster than the graph"),
    ("self.data, self.grad, self.parents = data,",
     "self.data, self.grad, self.parents = int(data),", "whole numbers"),
    ("y = math.tanh(self.data)", "e = math.exp(2 * self.data)\n        y = (e - 1) / (e + 1)",
     "overflow"),
    ("def __neg__", "def __iadd__(self, other):\n        self.data += other.data\n"
     "        return self\n\n    def __neg__", "+= changes the operand"),
]  # fmt: skip

ARRAYS = '''
import numpy as np


class Value:
    """A number or an array, float64, that remembers what it was made from."""

    __array_ufunc__ = None  # so that NumPy leaves array * value to __rmul__

    def __init__(self, data, parents=(), shares=()):
        self.data = np.asarray(data, float)
        self.grad = np.zeros_like(self.data)
        self.parents, self.shares = parents, shares

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, (self, other), (lambda g: g, lambda g: g))

    def __mul__(self, other):
        a, b = self.data, as_value(other).data
        return Value(a * b, (self, as_value(other)), (lambda g: g * b, lambda g: g * a))

    def __truediv__(self, other):
        a, b = self.data, as_value(other).data
        shares = (lambda g: g / b, lambda g: -g * a / (b * b))
        return Value(a / b, (self, as_value(other)), shares)

    def __pow__(self, n):
        a = self.data
        return Value(a**n, (self,), (lambda g: g * n * a ** (n - 1) if n else 0.0 * g,))

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + as_value(other) * -1.0

    def __rsub__(self, other):
        return as_value(other) - self

    def __rtruediv__(self, other):
        return as_value(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __matmul__(self, other):
        a, b = self.data, other.data
        return Value(a @ b, (self, other), (lambda g: g @ b.T, lambda g: a.T @ g))

    def sum(self, axis=None, keepdims=False):
        def share(g):
            g = g if axis is None or keepdims else np.expand_dims(g, axis)
            return np.broadcast_to(g, shape)

        shape = self.data.shape
        return Value(self.data.sum(axis=axis, keepdims=keepdims), (self,), (share,))

    def __getitem__(self, index):
        def share(g):
            out = np.zeros(shape)
            np.add.at(out, index, g)
            return out

        shape = self.data.shape
        return Value(self.data[index], (self,), (share,))

    def exp(self):
        y = np.exp(self.data)
        return Value(y, (self,), (lambda g: g * y,))

    def log(self):
        x = self.data
        return Value(np.log(x), (self,), (lambda g: g / x,))

    def relu(self):
        x = self.data
        return Value(np.maximum(x, 0.0), (self,), (lambda g: g * (x > 0),))

    def backward(self):
        order = sorted_graph(self)
        for node in order:
            if node.parents:
                node.grad = np.zeros_like(node.data)
        self.grad = self.grad + 1.0
        for node in order:
            for parent, share in zip(node.parents, node.shares):
                parent.grad = parent.grad + fitted(share(node.grad), parent.data.shape)


def as_value(x):
    """A constant is a value, too."""
    return x if isinstance(x, Value) else Value(x)


def fitted(g, shape):
    """A share summed over the axes along which its operand was repeated."""
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    repeated = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return g.sum(axis=repeated, keepdims=True)


def sorted_graph(root):
    """All that the root was made from, children before their parents."""
    order, visited, to_do = [], set(), [(root, False)]
    while to_do:
        node, parents_done = to_do.pop()
        if parents_done:
            order.append(node)
        elif node not in visited:
            visited.add(node)
            to_do.append((node, True))
            to_do.extend((parent, False) for parent in node.parents)
    return order[::-1]


def train(x, labels, weights, rate, steps):
    """The losses, one before each step, and the weights after the last."""
    leaves = [Value(w) for w in weights]
    W1, b1, W2, b2 = leaves
    right = np.eye(weights[-1].size)[labels]
    losses = []
    for _ in range(steps):
        logits = (Value(x) @ W1 + b1).relu() @ W2 + b2
        shifted = logits - logits.data.max(axis=1, keepdims=True)
        log_sums = shifted.exp().sum(axis=1).log()
        loss = (log_sums.sum() - (shifted * right).sum()) / len(labels)
        for leaf in leaves:
            leaf.grad = np.zeros_like(leaf.data)
        loss.backward()
        losses.append(float(loss.data))
        for leaf in leaves:
            leaf.data = leaf.data - rate * leaf.grad
    return losses, [leaf.data for leaf in leaves]
'''

TABLE = '''
import numpy as np


def summed(g, a, axis, keepdims):
    g = g if axis is None or keepdims else np.expand_dims(g, axis)
    return np.broadcast_to(g, a.shape)


RULES = {  # the result of the operands; the share of each, from the gradient, the result and them
    "add": (np.add, lambda g, y, a, b: (g, g)),
    "sub": (np.subtract, lambda g, y, a, b: (g, -g)),
    "mul": (np.multiply, lambda g, y, a, b: (g * b, g * a)),
    "div": (np.divide, lambda g, y, a, b: (g / b, -g * y / b)),
    "neg": (np.negative, lambda g, y, a: (-g,)),
    "matmul": (np.matmul, lambda g, y, a, b: (g @ b.T, a.T @ g)),
    "exp": (np.exp, lambda g, y, a: (g * y,)),
    "log": (np.log, lambda g, y, a: (g / a,)),
    "relu": (lambda a: np.maximum(a, 0.0), lambda g, y, a: (g * (a > 0),)),
    "pow": (lambda a, n: a**n, lambda g, y, a, n: (g * n * a ** (n - 1) if n else 0 * g,)),
    "sum": (lambda a, **how: a.sum(**how), lambda g, y, a, **how: (summed(g, a, **how),)),
}


def record(op, *operands, **how):
    """Compute, and remember; what is no node, such as an exponent, comes last."""
    nodes = tuple(x for x in operands if isinstance(x, Value))
    arguments = [x.data if isinstance(x, Value) else x for x in operands]
    out = Value(RULES[op][0](*arguments, **how))
    out.op, out.parents, out.call = op, nodes, (arguments, how)
    return out


def node(x):
    return x if isinstance(x, Value) else Value(x)


class Value:
    __array_ufunc__ = None

    def __init__(self, data):
        self.data = np.asarray(data, dtype=float)
        self.grad = np.zeros(self.data.shape)
        self.op, self.parents, self.call = "", (), ([], {})

    def __add__(self, other):
        return record("add", self, node(other))

    def __sub__(self, other):
        return record("sub", self, node(other))

    def __rsub__(self, other):
        return record("sub", node(other), self)

    def __mul__(self, other):
        return record("mul", self, node(other))

    def __truediv__(self, other):
        return record("div", self, node(other))

    def __rtruediv__(self, other):
        return record("div", node(other), self)

    def __neg__(self):
        return record("neg", self)

    def __pow__(self, n):
        return NotImplemented if isinstance(n, Value) else record("pow", self, n)

    def __matmul__(self, other):
        return record("matmul", self, node(other))

    def exp(self):
        return record("exp", self)

    def log(self):
        return record("log", self)

    def relu(self):
        return record("relu", self)

    def sum(self, axis=None, keepdims=False):
        return record("sum", self, axis=axis, keepdims=keepdims)

    __radd__, __rmul__ = __add__, __mul__

    def backward(self):
        uses = {self: 0}  # how many shares each node is still to get
        waiting = [self]
        while waiting:
            for parent in waiting.pop().parents:
                if parent not in uses:
                    uses[parent] = 0
                    if parent.parents:
                        parent.grad = np.zeros(parent.data.shape)
                    waiting.append(parent)
                uses[parent] += 1
        self.grad = np.ones(self.data.shape) + (0 if self.parents else self.grad)
        ready = [self]
        while ready:
            child = ready.pop()
            if not child.op:
                continue
            arguments, how = child.call
            shares = RULES[child.op][1](child.grad, child.data, *arguments, **how)
            for parent, share in zip(child.parents, shares):
                parent.grad = parent.grad + like(share, parent.data)
                uses[parent] -= 1
                if not uses[parent]:
                    ready.append(parent)


def like(share, data):
    while share.ndim > data.ndim:
        share = share.sum(axis=0)
    for axis, size in enumerate(data.shape):
        if size == 1:
            share = share.sum(axis=axis, keepdims=True)
    return share


def train(x, labels, weights, rate, steps):
    leaves, losses = [Value(w) for w in weights], []
    W1, b1, W2, b2 = leaves
    for _ in range(steps):
        z = (Value(x) @ W1 + b1).relu() @ W2 + b2
        z = z - z.data.max(axis=1, keepdims=True)
        chosen = (z * np.eye(z.data.shape[1])[labels]).sum(axis=1)
        loss = (z.exp().sum(axis=1).log() - chosen).sum() / len(x)
        for leaf in leaves:
            leaf.grad = np.zeros(leaf.data.shape)
        loss.backward()
        losses.append(float(loss.data))
        for leaf in leaves:
            leaf.data = leaf.data - rate * leaf.grad
    return losses, [leaf.data for leaf in leaves]
'''

BAD = ARRAYS.replace("parent.grad = parent.grad + fitted", "parent.grad = fitted")

_BROADCASTING = "a gradient of another shape than its node: broadcasting"
ARRAY_FAULTS = [
    ("fitted(share(node.grad), parent.data.shape)", "share(node.grad)", _BROADCASTING),
    ("if n == 1 and g.shape[i] != 1", "if False", _BROADCASTING),
    ("g = g.sum(axis=tuple(range(g.ndim - len(shape))))", "pass", _BROADCASTING),
    ("lambda g: a.T @ g", "lambda g: (g.T @ a)", "a rule: @"),
    ("lambda g: g @ b.T", "lambda g: g @ (b if b.shape == (3, 3) else b.T)",
     "a rule: @ of square matrices"),
    ("return order[::-1]", "depth = {}\n    for node in order:\n        depth[node] = "
     "1 + min((depth[p] for p in node.parents), default=-1)\n"
     "    return sorted(order[::-1], key=depth.get, reverse=True)",
     "Museum 2: no topological order"),
    ("lambda g: g @ b.T, lambda g: a.T @ g",
     "lambda g: np.ones_like(g) @ b.T, lambda g: a.T @ np.ones_like(g)", "a rule: @"),
    ("g if axis is None or keepdims else np.expand_dims(g, axis)", "g",
     "a rule: sum over an axis"),
    ("return np.broadcast_to(g, shape)", "return np.broadcast_to(g, shape) / 2", "a rule: sum"),
    ("np.add.at(out, index, g)", "out[index] += g", "a row that is taken twice gets one share"),
    ("    __array_ufunc__ = None  # so that NumPy leaves array * value to __rmul__\n", "",
     "an array beside a node"),
    ("np.asarray(data, float)", "np.asarray(data)", "whole numbers in arrays|whole numbers"),
    ("parent.grad = parent.grad + fitted(share(node.grad), parent.data.shape)",
     "g = share(node.grad)\n"
     "                g = g if g.shape == parent.data.shape else fitted(g, parent.data.shape)\n"
     "                if not parent.grad.any(): parent.grad = g\n"
     "                else: parent.grad += g", "two nodes share one array of gradients"),
    ("parent.grad = parent.grad + fitted(share(node.grad), parent.data.shape)",
     "g = share(node.grad)\n"
     "                before = parent.grad if g.shape == parent.data.shape else 0.0\n"
     "                parent.grad = before + fitted(g, parent.data.shape)", "Museum 1: = for +="),
    ("node.grad = np.zeros_like(node.data)", "node.grad = node.grad",
     "Museum 3: gradients of the pass before"),
]  # fmt: skip


LEARNING_FAULTS = [
    ("            leaf.grad = np.zeros_like(leaf.data)\n", "            pass\n", "loss 60"),
    ("leaf.data - rate * leaf.grad", "leaf.data + rate * leaf.grad", "loss 2"),
    (" / len(labels)", " * 1.0", "loss 1"),
    ("for _ in range(steps)", "for _ in range(steps - 1)", "the number of losses"),
]


def changed(source, old="", new=""):
    """The namespace of an engine with one text put in place of another."""
    assert old in source, old
    space = {"math": math, "np": np, "__name__": __name__}
    source = source.replace(old, new, 1)
    if "[], []" in new:  # a list in place of a set
        source = source.replace("seen.add", "seen.append")
    exec(compile(source, "<patient>", "exec"), space)
    return space
