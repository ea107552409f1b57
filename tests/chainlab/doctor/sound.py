"""Right engines of many designs, sources of files, and the places where one may forget to add.

Each does all six milestones of *Your own engine*. `CLOSURES` has a line for each share that an
operand gets, so that each can say `=` for `+=`: `overwriting` gives these engines.
"""

from collections.abc import Iterator

from tests.chainlab.doctor import patients


def changed(source: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    return source


TRAIN = "\n\ndef train" + patients.TABLE.partition("def train")[2]
SORT = patients.CLOSURES.partition("    def backward(self):\n")[2].partition("        for node")[0]
LIKE = "\n\ndef like" + patients.TABLE.partition("def like")[2].partition("\n\n\ndef train")[0]

_RULES = """
    def __add__(self, other):
        return computed(np.add, lambda g, y, a, b: (g, g), self, other)

    def __mul__(self, other):
        return computed(np.multiply, lambda g, y, a, b: (g * b, g * a), self, other)

    def __sub__(self, other):
        return computed(np.subtract, lambda g, y, a, b: (g, -g), self, other)

    def __rsub__(self, other):
        return computed(np.subtract, lambda g, y, a, b: (g, -g), other, self)

    def __truediv__(self, other):
        return computed(np.divide, lambda g, y, a, b: (g / b, -g * y / b), self, other)

    def __rtruediv__(self, other):
        return computed(np.divide, lambda g, y, a, b: (g / b, -g * y / b), other, self)

    def __neg__(self):
        return computed(np.negative, lambda g, y, a: (-g,), self)

    def __pow__(self, n):
        if isinstance(n, Value):
            return NotImplemented
        share = lambda g, y, a: (g * n * a ** (n - 1) if n else 0 * g,)
        return computed(lambda a: a**n, share, self)

    def __matmul__(self, other):
        return computed(np.matmul, lambda g, y, a, b: (g @ b.T, a.T @ g), self, other)

    def sum(self, axis=None, keepdims=False):
        def share(g, y, a):
            g = g if axis is None or keepdims else np.expand_dims(g, axis)
            return (np.broadcast_to(g, a.shape),)

        return computed(lambda a: a.sum(axis=axis, keepdims=keepdims), share, self)

    def exp(self):
        return computed(np.exp, lambda g, y, a: (g * y,), self)

    def log(self):
        return computed(np.log, lambda g, y, a: (g / a,), self)

    def relu(self):
        return computed(lambda a: np.maximum(a, 0.0), lambda g, y, a: (g * (a > 0),), self)

    __radd__, __rmul__ = __add__, __mul__
"""

TAPE = f"""
import numpy as np

TAPE = []  # results, operands and rules, in the order in which they were computed


class Value:
    __array_ufunc__ = None

    def __init__(self, data):
        self.data = np.asarray(data, float)
        self.grad = np.zeros_like(self.data)
{_RULES}
    def backward(self):
        for out, _, _ in TAPE:
            out.grad = np.zeros_like(out.data)
        self.grad = self.grad + 1.0
        for out, operands, rule in reversed(TAPE):
            if out.grad.any():
                shares = rule(out.grad, out.data, *(x.data for x in operands))
                for x, share in zip(operands, shares):
                    x.grad = x.grad + like(share, x.data)


def computed(f, rule, *operands):
    operands = [x if isinstance(x, Value) else Value(x) for x in operands]
    out = Value(f(*(x.data for x in operands)))
    TAPE.append((out, operands, rule))
    return out
{LIKE}{TRAIN}"""

# What nobody holds any more is taken off the tape at the start of each pass.
CLEARED = changed(
    TAPE,
    ("import numpy as np\n", "import weakref\n\nimport numpy as np\n"),
    ("TAPE.append((out, operands, rule))",
     "out.record = operands, rule\n    TAPE.append(weakref.ref(out))"),
    ("        for out, _, _ in TAPE:\n            out.grad",
     "        TAPE[:] = [entry for entry in TAPE if entry()]\n"
     "        tape = [(entry(), *entry().record) for entry in TAPE]\n"
     "        for out, _, _ in tape:\n            out.grad"),
    ("in reversed(TAPE)", "in reversed(tape)"),
)  # fmt: skip

# A pass clears the tape: it refuses to go back, or on, from what was computed before.
ONCE = changed(
    TAPE,
    ("self.data = np.asarray", "self.spent = False\n        self.data = np.asarray"),
    ("        for out, _, _ in TAPE:\n",
     "        refuse_spent(self)\n        for out, _, _ in TAPE:\n"),
    ("like(share, x.data)\n\n\ndef computed",
     "like(share, x.data)\n"
     "        for out, _, _ in TAPE:\n            out.spent = True\n"
     "        TAPE.clear()\n\n\n"
     "def refuse_spent(*nodes):\n    if any(node.spent for node in nodes):\n"
     "        raise RuntimeError('the tape has been cleared')\n\n\ndef computed"),
    ("    out = Value(f", "    refuse_spent(*operands)\n    out = Value(f"),
)  # fmt: skip

RECURSION = (
    changed(
        patients.ARRAYS,
        ("import numpy as np\n",
         "import sys\n\nimport numpy as np\n\nsys.setrecursionlimit(10**5)\n"),
    ).partition("def sorted_graph")[0]
    + '''def sorted_graph(root):
    order, visited = [], set()

    def visit(node):
        visited.add(node)
        for parent in node.parents:
            if parent not in visited:
                visit(parent)
        order.append(node)

    visit(root)
    return order[::-1]


def train'''
    + patients.ARRAYS.partition("def train")[2]
)  # fmt: skip

DATACLASS = changed(
    patients.ARRAYS,
    ("import numpy as np\n", "from dataclasses import dataclass\n\nimport numpy as np\n"),
    ("\nclass Value", "\n@dataclass  # whose == compares data, and which has no hash\nclass Value"),
    ("    def __init__(self, data, parents=(), shares=()):\n"
     "        self.data = np.asarray(data, float)\n",
     "    data: np.ndarray\n    parents: tuple = ()\n    shares: tuple = ()\n\n"
     "    def __post_init__(self):\n        self.data = np.asarray(self.data, float)\n"),
    ("        self.parents, self.shares = parents, shares\n", ""),
    ("elif node not in visited:\n            visited.add(node)",
     "elif id(node) not in visited:\n            visited.add(id(node))"),
)  # fmt: skip

# A method's head, its result, and the share of its operand.
UNARY = [
    ("__rsub__(self, number)", "number - self.data", "like(-out.grad, self.data)"),
    ("__rtruediv__(self, number)", "number / self.data",
     "like(-out.grad * out.data / self.data, self.data)"),
    ("__rpow__(self, number)", "number**self.data", "out.grad * out.data * np.log(number)"),
    ("__neg__(self)", "-self.data", "-out.grad"),
    ("sum(self, axis=None, keepdims=False)", "self.data.sum(axis=axis, keepdims=keepdims)",
     "spread(out.grad, self.data, None if keepdims else axis)"),
    ("mean(self, axis)", "self.data.mean(axis=axis)",
     "spread(out.grad, self.data, axis) / self.data.shape[axis]"),
    ("max(self, axis)", "self.data.max(axis=axis)",
     "spread(out.grad, self.data, axis) * (self.data == spread(out.data, self.data, axis))"),
    ("reshape(self, *shape)", "self.data.reshape(*shape)", "out.grad.reshape(self.data.shape)"),
    ("T(self)", "self.data.T", "out.grad.T"),
    ("__getitem__(self, index)", "self.data[index]", "put(out.grad, self.data, index)"),
    ("exp(self)", "np.exp(self.data)", "out.grad * out.data"),
    ("log(self)", "np.log(self.data)", "out.grad / self.data"),
    ("tanh(self)", "np.tanh(self.data)", "out.grad * (1 - out.data**2)"),
    ("sigmoid(self)", "0.5 + 0.5 * np.tanh(self.data / 2)",
     "out.grad * out.data * (1 - out.data)"),
    ("relu(self)", "np.maximum(self.data, 0.0)", "out.grad * (self.data > 0)"),
    ("sqrt(self)", "np.sqrt(self.data)", "out.grad / (2 * out.data)"),
    ("sin(self)", "np.sin(self.data)", "out.grad * np.cos(self.data)"),
    ("cos(self)", "np.cos(self.data)", "-out.grad * np.sin(self.data)"),
]  # fmt: skip
# A method's name, its operator, the shares of its operands, and that of a node beside a number.
BINARY = [
    ("add", "+", "out.grad", "out.grad", "out.grad"),
    ("sub", "-", "out.grad", "-out.grad", "out.grad"),
    ("mul", "*", "out.grad * other.data", "out.grad * self.data", "out.grad * other"),
    ("truediv", "/", "out.grad / other.data", "-out.grad * out.data / other.data",
     "out.grad / other"),
    ("pow", "**", "out.grad * other.data * self.data ** (other.data - 1)",
     "out.grad * out.data * np.log(self.data)",
     "(out.grad * other * self.data ** (other - 1) if other else 0 * out.grad)"),
]  # fmt: skip


def of_one(head: str, result: str, share: str) -> str:
    return f"""
    def {head}:
        out = Value({result}, (self,))

        def send():
            self.grad = self.grad + {share}

        out.send = send
        return out
"""


def of_two(name: str, operator: str, first: str, second: str, alone: str) -> str:
    return f"""
    def __{name}__(self, other):
        out = Value(self.data {operator} plain(other), nodes(self, other))

        def send():
            self.grad = self.grad + like({first}, self.data)
            other.grad = other.grad + like({second}, other.data)

        def send_beside_a_number():
            self.grad = self.grad + like({alone}, self.data)

        out.send = send if isinstance(other, Value) else send_beside_a_number
        return out
"""


CLOSURES = f"""
import numpy as np


class Value:
    __array_ufunc__ = None

    def __init__(self, data, parents=()):
        self.data = np.asarray(data, float)
        self.grad = np.zeros_like(self.data)
        self.parents, self.send = parents, lambda: None
{"".join(of_two(*rule) for rule in BINARY)}{"".join(of_one(*rule) for rule in UNARY)}
    T = property(T)

    def __matmul__(self, other):
        out = Value(self.data @ other.data, (self, other))

        def send():
            a, b = np.atleast_2d(self.data), other.data.reshape(len(other.data), -1)
            g = out.grad.reshape(len(a), b.shape[1])
            self.grad = self.grad + (g @ b.T).reshape(self.data.shape)
            other.grad = other.grad + (a.T @ g).reshape(other.data.shape)

        out.send = send
        return out

    __radd__, __rmul__ = __add__, __mul__

    def backward(self):
{SORT}        for node in order:
            if node.parents:
                node.grad = np.zeros_like(node.data)
        self.grad = self.grad + 1.0  # the seed
        for node in reversed(order):
            node.send()


def plain(x):
    return x.data if isinstance(x, Value) else x


def nodes(*operands):
    return tuple(x for x in operands if isinstance(x, Value))


def spread(g, data, axis):
    return np.broadcast_to(g if axis is None else np.expand_dims(g, axis), data.shape)


def put(g, data, index):
    share = np.zeros_like(data)
    np.add.at(share, index, g)
    return share
{LIKE}{TRAIN}"""

IN_PLACE = changed(patients.ARRAYS, ("parent.grad = parent.grad + fitted", "parent.grad += fitted"))

DESIGNS = {
    "closures": CLOSURES,
    "closures that return shares": patients.ARRAYS,
    "gradients that are added to in place": IN_PLACE,
    "a table of rules": patients.TABLE,
    "a tape": TAPE,
    "a tape that is cleared": CLEARED,
    "recursion": RECURSION,
    "a dataclass": DATACLASS,
}


def overwriting() -> Iterator[tuple[str, str]]:
    """Each share that is given in `CLOSURES`, by its line, and the engine that keeps it alone."""
    lines = CLOSURES.splitlines(keepends=True)
    method = ""
    for place, line in enumerate(lines):
        if line.startswith("    def "):
            method = line.split("def ")[1].partition("(")[0]
        owner = line.strip().partition(".")[0]
        old = f"{owner}.grad = {owner}.grad "
        if old in line and "seed" not in line:
            new = line.replace(f"{old}+ ", f"{owner}.grad = ")
            source = "".join([*lines[:place], new, *lines[place + 1 :]])
            yield f"{place} {method} {owner}", source
