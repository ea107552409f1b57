"""The eight tests of *Break it*, line for line as on that page."""

from chainlab.lessons.engine import slopes


def neuron(w, b):
    z = w * 1.5 + b
    return (z + z.tanh() - 0.2) ** 2


def gradients(engine, f, *values):
    nodes = [engine(value) for value in values]
    f(*nodes).backward()
    return [node.grad for node in nodes]


def train(engine, f=neuron, steps=20):
    w, b, losses = engine(0.5), engine(-0.2), []
    for _ in range(steps):
        w.grad = b.grad = 0.0
        loss = f(w, b)
        loss.backward()
        w.data -= 0.05 * w.grad
        b.data -= 0.05 * b.grad
        losses.append(loss.data)
    return losses


def agrees(engine, f, *values):
    found = gradients(engine, f, *values)
    pairs = zip(found, slopes(f, values))
    return all(abs(grad - true) < 1e-6 for grad, true in pairs)


def training(engine):
    """Train for 20 steps, and ask for a loss below 0.01."""
    return train(engine)[-1] < 0.01


def each_alone(engine):
    """Try each operation by itself, with different numbers."""
    right = [
        agrees(engine, lambda a, c: a + c, 0.7, -1.3),
        agrees(engine, lambda a, c: a - c, 0.7, -1.3),
        agrees(engine, lambda a, c: a * c, 0.7, -1.3),
        agrees(engine, lambda a: a**3, 0.7),
        agrees(engine, lambda a: a.tanh(), 0.7),
    ]
    return all(right)


def same_twice(engine):
    """Put the same number into both places of a product."""
    return agrees(engine, lambda a: a * a, 0.7)


def the_neuron(engine):
    """Compare the gradients of the neuron's `w` and `b`."""
    return agrees(engine, neuron, 0.5, -0.2)


def swapped(w, b):
    z = w * 1.5 + b
    return (z.tanh() + z - 0.2) ** 2


def swapped_sum(engine):
    """Compare them again, with the sum `z.tanh() + z`."""
    return agrees(engine, swapped, 0.5, -0.2)


def two_passes(engine):
    """Run two passes, with `w` and `b` cleared in between."""
    w, b = engine(0.5), engine(-0.2)
    loss = neuron(w, b)
    loss.backward()
    w.grad = b.grad = 0.0
    loss.backward()
    _, right = slopes(neuron, (0.5, -0.2))
    return abs(b.grad - right) < 1e-6


def two_losses(engine):
    """Run a pass for each of two losses, and add up."""
    w, b = engine(0.5), engine(-0.2)
    neuron(w, b).backward()
    neuron(w, b).backward()
    _, right = slopes(neuron, (0.5, -0.2))
    return abs(b.grad - 2 * right) < 1e-6


def balanced(root):
    """Return whether each node holds what its children sent."""
    nodes = [root]
    for node in nodes:  # our own list: the engine's may lack some
        nodes += [p for p in set(node.parents) if p not in nodes]
    received = dict.fromkeys(nodes, 0.0) | {root: 1.0}
    for node in nodes:
        for parent, local in zip(node.parents, node.local_grads):
            received[parent] += node.grad * local
    off = [abs(node.grad - received[node]) for node in nodes]
    return max(off) < 1e-9


def the_books(engine):
    """Add up again, after one pass of the swapped neuron."""
    loss = swapped(engine(0.5), engine(-0.2))
    loss.backward()
    return balanced(loss)


TESTS = (
    each_alone, same_twice, the_neuron, swapped_sum, two_passes, two_losses, training, the_books,
)  # fmt: skip
