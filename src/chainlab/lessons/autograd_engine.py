"""What *An autograd engine* draws: a backward pass of the reader's engine, still and in steps."""

from collections.abc import Mapping

from chainlab.lessons.chain_rule import Arrow, Box, draw
from chainlab.lessons.engine import Node
from chainview import Drawing, Player, play
from chainview.player.names import brief


def draw_pass(named: Mapping[str, Node]) -> Drawing:
    """Draw what a backward pass has left in these nodes, and what came along each arrow.

    Args:
        named: the nodes by their names, each with ``data``, ``grad``, ``parents``, ``local_grads``.
    """
    names = {node: name for name, node in named.items()}
    boxes, arrows, words = [], [], []
    for node, name in names.items():
        kind = "" if node.parents else "leaf"
        boxes.append(Box(name, brief(node.data), brief(node.grad), kind))
        for parent, local in zip(node.parents, node.local_grads, strict=True):
            share = brief(node.grad * local)
            arrows.append(Arrow(names[parent], name, brief(local), share))
            words.append(f"{names[parent]} gets {share} from {name}")
    return draw(boxes, arrows, f"A graph after its backward pass: {'; '.join(words)}.")


def play_pass(root: Node, named: Mapping[str, Node]) -> Player:
    """Play the backward pass of the reader's engine from a root, one write to a gradient a step.

    Leaves called ``w`` and ``b`` are parameters.
    """
    for name, node in named.items():
        node.label = name
    parameters = [node for name, node in named.items() if name in ("w", "b")]
    return play(root, local_gradient=lambda node, i: node.local_grads[i], parameters=parameters)
