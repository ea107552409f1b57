"""The words and signs for what a graph is made of, the same in every picture and sentence."""

from chaingrad.facts import Facts
from chaingrad.rules import facts_of
from chainview.read.items import Item

# What other engines write for an operation, and the name of our rule for it.
RULES = {"+": "add", "-": "sub", "*": "mul", "/": "div", "@": "matmul"}


def written(op: str) -> Facts:
    """Return how an operation is written, whoever's it is: by our rule's name or by a sign."""
    return facts_of(RULES.get(op, op))


def exponent_of(item: Item) -> str:
    """Return the constant exponent of a power; nothing if it has none.

    An engine may have it in the name of the operation, as in ``**2``.
    """
    if item.op.startswith("**"):
        return item.op.removeprefix("**").replace("-", "−")
    return item.exponent


def word(item: Item) -> str:
    """Return what stands beside a node's name, such as ``parameter``, ``×`` or ``square``.

    A jaxpr keeps the names of its primitives, which JAX prints, too.
    """
    if item.is_leaf:
        return "input" if item.kind == "leaf" else item.kind
    if item.is_typed:
        return item.op
    if exponent := exponent_of(item):
        return "square" if exponent == "2" else f"power {exponent}"
    return "power" if item.op == "pow" else written(item.op).symbol or item.op
