"""What *Sharing weights* draws: one weight that two examples use."""

from collections.abc import Sequence

from chainlab.lessons.autograd_engine import draw_pass
from chainlab.lessons.engine import Node
from chainview import Drawing


def draw_two_examples(weight: float, xs: Sequence[float], ys: Sequence[float]) -> Drawing:
    """Draw the model ``w * x`` on two examples, after a backward pass from its squared error.

    Args:
        weight: the weight that the examples share.
        xs: the inputs, one for each example.
        ys: what the model should answer.
    """
    (w,) = map(Node, (weight,))
    named = {"w": w}
    squares = []
    for i, (x, y) in enumerate(zip(xs, ys, strict=True), 1):
        inputs, wanted = map(Node, (x, y))
        product = w * inputs
        error = product - wanted
        square = error**2
        squares.append(square)
        branch = {"x": inputs, "y": wanted, "p": product, "e": error, "e²": square}
        named |= {f"{name}{i}" if len(name) == 1 else f"e{i}²": n for name, n in branch.items()}
    loss = squares[0] + squares[1]
    loss.backward()
    return draw_pass(named | {"loss": loss})
