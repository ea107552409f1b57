"""Click the nodes in an order of one's own: do the gradients come out right?"""

from collections import Counter
from typing import Any

from chaingrad.backward import adjoints, local_gradients
from chaingrad.draw.boxes import Direction
from chaingrad.draw.words import cut, listed
from chaingrad.node import Node
from chaingrad.step.figure import Figure, graphs, read_numbers
from chaingrad.step.names import Names, amount

MOST_NODES = 40


def order(root: Node, *, direction: Direction | None = None, max_nodes: int = MOST_NODES) -> Figure:
    """Show the graph of ``root`` for the reader to run the backward pass, click by click.

    A node that is clicked passes on what it holds by then, along the next of its edges: in a right
    order when all its shares have come, in a wrong one before. When each edge has been used, the
    figure compares the gradients of the leaves with the engine's and names the nodes that were too
    early. The local gradients are the engine's, too. Gradients in the nodes stay what they were.

    Args:
        root: a node that holds a number; so must all that it was computed from.
        direction: which way the data flows, in Graphviz's terms; by default from left to right,
            and downwards where there is no room for that.
        max_nodes: a larger graph is refused.

    Raises:
        TypeError: ``root`` is not a node or requires no gradient, or the graph holds an array.
        ValueError: the graph has more than ``max_nodes`` nodes.

    >>> a = Node(3.0, "a")
    >>> b = a + a
    >>> c = b + b
    >>> b.label, c.label = "b", "c"
    >>> order(c)
    <Figure: Backward pass from c to click through: c, b; the gradients to find: a.>
    """
    items = read_numbers(root, "order", max_nodes)
    names = Names(items)
    found = adjoints(root, root.seed(), [item.node for item in items])
    shown = [item for item in items if item.node in found]
    sends: dict[str, list[dict[str, Any]]] = {item.id: [] for item in shown}
    shares: dict[tuple[str, int], float] = {}
    for item in shown:
        turns = Counter[str]()
        for position, (_, local) in enumerate(local_gradients(item.node)):
            parent = item.parents[position]
            if local is not None:
                sends[item.id].append({"to": parent, "which": turns[parent], "local": local})
                shares[item.id, position] = float(found[item.node]) * local
            turns[parent] += 1
    waits = Counter(send["to"] for sent in sends.values() for send in sent)
    data = [
        {
            "id": item.id,
            "html": names.html(item),
            "text": names.text(item),
            "sends": sends[item.id],
            "waits": waits[item.id],
            "right": float(found[item.node]),
        }
        for item in shown
    ]
    widest = max((amount(x) for x in [*shares.values(), *found.values()]), key=len)
    drawn = graphs(items, names, direction, found, f"{widest}0", shares)
    senders = [names.text(item) for item in reversed(shown) if not item.is_leaf]
    leaves = [item for item in shown if item.is_leaf]
    alt = (
        f"Backward pass from {names.text(items[-1])} to click through: {listed(senders, 8)}; "
        f"the gradients to find: {listed([names.text(item) for item in leaves], 8)}."
    )
    right = [f"{names.adjoint(item)} = {amount(found[item.node])}" for item in leaves]
    words = f"Each node passed on when all its shares had come: {listed(right, 12)}."
    controls = (
        f'<p class="cg-words" aria-live="polite" aria-atomic="true">{names.top} holds 1. Click a '
        "node, and it passes on what it holds along the next of its arrows.</p>"
        '<div class="cg-bar"><button type="button">Undo</button>'
        '<button type="button">Start again</button></div>'
    )
    return Figure(cut(alt), data, "order", f"{drawn}<p>{words}</p>", controls)
