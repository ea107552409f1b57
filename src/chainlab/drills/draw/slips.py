"""Mistakes that people make by hand, made on purpose.

Each is computed from what the engine computed, as a person would compute it who makes that mistake
in one place, and all before it right. What to say of each is in ``chainlab.mistakes``.
"""

import functools
import math
import operator
from collections.abc import Iterator

from chainlab.drills.draw.recording import Edge, Recording
from chainlab.drills.draw.small_numbers import exact, total
from chainlab.mistakes import Mistake
from chainview.player.names import is_plain_number
from chainview.read.items import Item
from chainview.read.words import listed

FRACTIONS = ("div", "log", "sqrt")  # whose slopes have a bar


def of_local(rec: Recording, edge: Edge) -> Iterator[Mistake[float]]:
    """Yield the mistakes in ∂child/∂parent."""
    child = edge.child
    y, x = rec.names.html(child), rec.names.html(edge.parent)
    right, local = rec.local(edge), rec.names.local(child, edge.parent)
    yield Mistake("sign", -right, f"the sign: {local} is {exact(right)}", edge.ends)
    yield from _of_formula(rec, edge)
    for position, parent in enumerate(rec.names.parents(child)):
        if position != edge.position and not is_plain_number(parent):
            other = rec.local(Edge(parent, child, position))
            says = f"that is {rec.names.local(child, parent)}, for the other operand"
            yield Mistake("swapped", other, says, edge.ends)
    yield Mistake("operand", rec.value(edge.parent), f"that is the value of {x} itself", edge.ends)
    yield Mistake("result", rec.value(child), f"that is the value of {y}", edge.ends)
    yield Mistake("unchanged", 1.0, f"1 is what a sum has; {y} is no sum", edge.ends)
    yield Mistake("zero", 0.0, f"0 would say that {y} does not depend on {x}", edge.ends)
    if child.op in FRACTIONS:
        inverse = 1.0 / right if right else math.inf
        yield Mistake("upside down", inverse, "that is one over it", edge.ends)


def _of_formula(rec: Recording, edge: Edge) -> Iterator[Mistake[float]]:
    """Yield the mistakes in the slope of a quotient, a power or a root, or of exp."""
    left, *others = (rec.value(parent) for parent in rec.names.parents(edge.child))
    if edge.child.op == "div" and edge.position == 1:
        x = rec.names.html(edge.parent)
        yield Mistake("denominator", -left / others[0], f"{x} is squared below the line", edge.ends)
    if edge.child.op == "pow" and edge.position == 0:
        n = others[0] if others else float(edge.child.node.parents[1].data)  # if no box of its own
        says = f"the exponent falls by 1, to {exact(n - 1)}"
        yield Mistake("exponent", n * left**n, says, edge.ends)
        says = f"the exponent {exact(n)} comes down as a factor"
        yield Mistake("brought down", left ** (n - 1), says, edge.ends)
    if edge.child.op == "sqrt":
        says = "√ is the power 1/2, and the 1/2 comes down as a factor"
        yield Mistake("brought down", 2.0 * rec.local(edge), says, edge.ends)
    if edge.child.op == "exp":
        says = "exp is no power of what it is applied to: it is its own slope"
        yield Mistake("exponential", left * math.exp(left - 1.0), says, edge.ends)


def of_message(rec: Recording, edge: Edge) -> Iterator[Mistake[float]]:
    """Yield the mistakes in the message along an edge."""
    above, local = rec.adjoint(edge.child), rec.local(edge)
    y, x = rec.names.html(edge.child), rec.names.html(edge.parent)
    came = rec.graph.uses[edge.child.id]
    for late in came if len(came) > 1 else ():
        early = total(rec.right[other] for other in came if other is not late)
        sent, sender = exact(rec.right[late]), rec.names.html(late.child)
        says = f"{y} passed on too early: the {sent} that {sender} sends had not come"
        yield Mistake("early", early * local, says, edge.ends)
    shared = len(rec.graph.uses[edge.parent.id]) > 1
    for slip in of_local(rec, edge):
        if slip.name != "zero" or not shared:  # there it is a share that is forgotten
            says = f"for ∂{y}/∂{x}: {slip.says}"
            yield Mistake(slip.name, above * slip.gives, says, edge.ends)
    adjoint = rec.names.adjoint(edge.child)
    says = f"that is the local gradient alone: it is multiplied by {adjoint}"
    yield Mistake("local", local, says, edge.ends)
    says = f"along an edge one multiplies: {adjoint} × local gradient"
    yield Mistake("added", above + local, says, edge.ends)
    says = f"that is the value of {y} × local gradient: it is {adjoint} that comes back"
    yield Mistake("data", rec.value(edge.child) * local, says, edge.ends)


def of_adjoint(rec: Recording, item: Item) -> Iterator[Mistake[float]]:
    """Yield the mistakes in the adjoint of a node that has children."""
    uses = rec.graph.uses[item.id]
    if len(uses) > 1:
        yield from _sums(rec, item, uses)
    for edge in uses:
        for slip in of_message(rec, edge):
            shares = (slip.gives if other is edge else rec.right[other] for other in uses)
            yield Mistake(slip.name, total(shares), slip.says, slip.edge)
    v = rec.names.html(item)
    yield Mistake("value", rec.value(item), f"that is the value of {v}, and not its adjoint")


def _sums(rec: Recording, item: Item, uses: list[Edge]) -> Iterator[Mistake[float]]:
    """Yield the mistakes in the sum of the shares, which are right themselves."""
    v, shares = rec.names.html(item), [rec.right[edge] for edge in uses]
    users = listed([rec.names.html(edge.child) for edge in uses], 6)
    for missing, edge in enumerate(uses):
        child = rec.names.html(edge.child)
        rest = total(share for place, share in enumerate(shares) if place != missing)
        sends = f"{child} sends {exact(shares[missing])}, too"
        says = f"a path is missing: {v} is used by {users}; {sends}"
        yield Mistake("forgotten", rest, says, edge.ends)
    for share, edge in zip(shares, uses, strict=True):
        says = f"that has the {exact(share)} from {rec.names.html(edge.child)} twice"
        yield Mistake("twice", total([*shares, share]), says, edge.ends)
    if len(uses) > 2:
        says = "the first share alone: those that come later are added to it"
        yield Mistake("first", shares[0], says, uses[0].ends)
    says = "the last share alone: shares are added up, with +="
    yield Mistake("last", shares[-1], says, uses[-1].ends)
    says = "shares of several paths are added, and not multiplied"
    yield Mistake("product", functools.reduce(operator.mul, shares), says)
    mean = total(shares) / float(len(shares))
    yield Mistake("mean", mean, "shares are added up, and not averaged")
