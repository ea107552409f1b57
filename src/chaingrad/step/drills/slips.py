"""Mistakes that people make by hand, made on purpose.

Each is computed from what the engine recorded, as a person would compute it who makes that mistake
in one place, and all before it right.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from chaingrad.draw.items import Item
from chaingrad.draw.words import listed
from chaingrad.step.drills.recording import Edge, Number, Recording, total

CHAIN = "foundations/chain-rule"
BATCH = "mlp/matrix-equations"
MLP = "mlp/forward-and-backward"
LESSONS = {  # of each mistake: the page and the section
    "forgotten": f"{CHAIN}#many-variables",
    "early": "foundations/computational-graph#the-order-matters",
    "last": f"{CHAIN}#many-variables",
    "swapped": f"{CHAIN}#four-patterns",
    "sign": f"{CHAIN}#four-patterns",
    "unchanged": f"{CHAIN}#four-patterns",
    "operand": f"{CHAIN}#only-local-gradients-are-needed",
    "value": f"{CHAIN}#one-variable",
    "result": f"{CHAIN}#only-local-gradients-are-needed",
    "local": f"{CHAIN}#one-variable",
    "added": f"{CHAIN}#one-variable",
    "product": f"{CHAIN}#sums-over-paths",
    "mean": f"{CHAIN}#many-variables",
    "zero": f"{CHAIN}#four-patterns",
    "upside down": f"{CHAIN}#only-local-gradients-are-needed",
    "transposed": f"{BATCH}#guessed-by-shapes",
    "order": f"{BATCH}#guessed-by-shapes",
    "untransposed": f"{BATCH}#derived-by-indices",
    "factor": f"{BATCH}#the-backward-pass-of-a-layer",
    "entry": f"{BATCH}#four-products",
    "batch": f"{BATCH}#why-the-gradient-of-w-adds-up-the-examples",
    "axis": f"{BATCH}#why-the-gradient-of-w-adds-up-the-examples",
    **dict.fromkeys(
        (
            "everything",
            "computed",
            "leaves",
            "no leaves",
            "operands",
            "swapped values",
            "frozen",
            "root",
        ),
        "cost/memory-and-rematerialization#what-is-kept-and-why",
    ),
    **dict.fromkeys(
        (
            *("multiply-add", "an entry", "entries added", "one row", "both products"),
            *("no product", "not asked", "two back", "products", "both passes", "inverse"),
        ),
        "cost/time-and-flops#two-products-back-for-each-one-forward",
    ),
    **dict.fromkeys(
        ("unread", "no bytes", "entries", "itemsize", "one example"),
        "cost/memory-and-rematerialization#what-is-kept-and-why",
    ),
    "term": f"{MLP}#the-forward-pass",
    "linear": f"{MLP}#the-forward-pass",
    "before": f"{MLP}#the-forward-pass",
    "early adjoint": f"{MLP}#before-the-activation",
    "slope": f"{MLP}#before-the-activation",
    "half": f"{MLP}#loss-and-penalty",
    "unsquared": f"{MLP}#loss-and-penalty",
    "matrix": f"{MLP}#loss-and-penalty",
    "doubled": f"{MLP}#loss-and-penalty",
    "decay": f"{MLP}#what-an-inactive-unit-receives",
    "loss": f"{MLP}#what-an-inactive-unit-receives",
    "inactive": f"{MLP}#what-an-inactive-unit-receives",
    "scale": f"{CHAIN}#one-variable",
}


@dataclass(frozen=True)
class Slip:
    """A mistake: what it is called, what it gives, what is said of it, and where it happens."""

    name: str
    gives: Number
    says: str
    edge: tuple[str, str, int] | None = None


def of_local(rec: Recording, child: Item, position: int) -> Iterator[Slip]:
    """For ∂child/∂operand."""
    edge = Edge(rec.names.parents(child)[position], child, position)
    y, x = rec.names.html(child), rec.names.html(edge.parent)
    right = rec.local(child, position)
    local = rec.names.local(child, edge.parent)
    for other, number in enumerate(rec.locals(child)):
        if other != position:
            named = rec.names.local(child, rec.names.parents(child)[other])
            yield Slip("swapped", number, f"that is {named}, for the other operand", edge.ends)
    yield Slip("sign", -right, f"the sign: {local} is {rec.tell(right)}", edge.ends)
    yield Slip("operand", rec.value(edge.parent), f"that is the value of {x} itself", edge.ends)
    yield Slip("result", rec.value(child), f"that is the value of {y}", edge.ends)
    yield Slip("unchanged", 1.0, f"1 is what a sum has; {y} is no sum", edge.ends)
    yield Slip("zero", 0.0, f"0 would say that {y} does not depend on {x}", edge.ends)
    yield Slip("upside down", 1.0 / right, "that is one over it", edge.ends)


def of_message(rec: Recording, edge: Edge) -> Iterator[Slip]:
    """For what is sent along an edge."""
    above, local = rec.adjoint(edge.child), rec.local(edge.child, edge.position)
    y, x = rec.names.html(edge.child), rec.names.html(edge.parent)
    came = rec.uses(edge.child)
    for late in came if len(came) > 1 else ():
        early = total(rec.right[other] for other in came if other is not late)
        sent, sender = rec.tell(rec.right[late]), rec.names.html(late.child)
        says = f"{y} passed on too early: the {sent} that {sender} sends had not come"
        yield Slip("early", early * local, says, edge.ends)
    for slip in of_local(rec, edge.child, edge.position):
        if slip.name != "zero":
            says = f"for ∂{y}/∂{x}: {slip.says}"
            yield Slip(slip.name, above * slip.gives, says, edge.ends)
    adjoint = rec.names.adjoint(edge.child)
    says = f"that is the local gradient alone: it is multiplied by {adjoint}"
    yield Slip("local", local, says, edge.ends)
    says = f"along an edge one multiplies: {adjoint} × local gradient"
    yield Slip("added", above + local, says, edge.ends)


def of_adjoint(rec: Recording, item: Item) -> Iterator[Slip]:
    """For the adjoint of a node that has children."""
    uses = rec.uses(item)
    if len(uses) > 1:
        yield from _sums(rec, item, uses)
    for edge in uses:
        for slip in of_message(rec, edge):
            shares = (slip.gives if other is edge else rec.right[other] for other in uses)
            yield Slip(slip.name, total(shares), slip.says, slip.edge)
    v = rec.names.html(item)
    yield Slip("value", rec.value(item), f"that is the value of {v}, and not its adjoint")


def _sums(rec: Recording, item: Item, uses: list[Edge]) -> Iterator[Slip]:
    """The shares are right, and not what is made of them."""
    v, shares = rec.names.html(item), [rec.right[edge] for edge in uses]
    users = listed([rec.names.html(edge.child) for edge in uses], 6)
    for missing, edge in enumerate(uses):
        child = rec.names.html(edge.child)
        rest = total(share for place, share in enumerate(shares) if place != missing)
        sends = f"{child} sends {rec.tell(shares[missing])}, too"
        says = f"a path is missing: {v} is used by {users}; {sends}"
        yield Slip("forgotten", rest, says, edge.ends)
    yield Slip(
        "last", shares[-1], "the last share alone: shares are added up, with +=", uses[-1].ends
    )
    product = shares[0]
    for share in shares[1:]:
        product = product * share
    yield Slip("product", product, "shares of several paths are added, and not multiplied")
    mean = total(shares) / float(len(shares))
    yield Slip("mean", mean, "shares are added up, and not averaged")
