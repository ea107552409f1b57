"""Symbols without values, as a course asks: gradients builds adjoint nodes, an Executor computes."""


class Node:
    def __init__(self, op, inputs=(), const=None, name=""):
        self.op, self.inputs, self.const, self.name = op, list(inputs), const, name

    def __add__(self, other):
        return binary(ADD, self, other)

    def __mul__(self, other):
        return binary(MUL, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + other * -1

    def __rsub__(self, other):
        return self * -1 + other

    def __truediv__(self, other):
        return self * (RECIPROCAL(other) if isinstance(other, Node) else 1 / other)

    def __rtruediv__(self, other):
        return RECIPROCAL(self) * other


class Op:
    def __init__(self, compute, adjoint):
        self.compute, self.adjoint = compute, adjoint

    def __call__(self, *inputs):
        return Node(self, inputs)


def binary(op, a, b):
    return op(a, b if isinstance(b, Node) else Node(CONSTANT, const=b))


PLACEHOLDER = Op(None, lambda node, g: [])
CONSTANT = Op(None, lambda node, g: [])
ADD = Op(lambda a, b: a + b, lambda node, g: [g, g])
MUL = Op(lambda a, b: a * b, lambda node, g: [g * node.inputs[1], g * node.inputs[0]])
RECIPROCAL = Op(lambda a: 1 / a, lambda node, g: [g * node * node * -1])


def Variable(name):
    return Node(PLACEHOLDER, name=name)


def post_order(outputs):
    order, seen, todo = [], set(), [(n, False) for n in outputs]
    while todo:
        node, is_done = todo.pop()
        if is_done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            todo.append((node, True))
            todo += [(n, False) for n in node.inputs]
    return order


def gradients(output, wanted):
    shares = {id(output): [Node(CONSTANT, const=1.0)]}
    adjoints = {}
    for node in reversed(post_order([output])):
        total = shares[id(node)][0]
        for share in shares[id(node)][1:]:
            total = total + share
        adjoints[id(node)] = total
        for parent, share in zip(node.inputs, node.op.adjoint(node, total)):
            shares.setdefault(id(parent), []).append(share)
    return [adjoints.get(id(node)) or Node(CONSTANT, const=0.0) for node in wanted]


class Executor:
    def __init__(self, outputs):
        self.outputs = outputs

    def run(self, feed):
        values = {id(node): value for node, value in feed.items()}
        for node in post_order(self.outputs):
            if node.op is CONSTANT:
                values[id(node)] = node.const
            elif node.op is not PLACEHOLDER:
                values[id(node)] = node.op.compute(*(values[id(n)] for n in node.inputs))
        return [values[id(node)] for node in self.outputs]
