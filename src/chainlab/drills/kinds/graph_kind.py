"""Kinds whose boxes stand in the engine's graph of numbers."""

from collections.abc import Iterable, Sequence

from chainlab.drills.draw import fit
from chainlab.drills.draw.box import Box, Place
from chainlab.drills.draw.forms import DOMAINS
from chainlab.drills.draw.looks import formula_in, look, room
from chainlab.drills.draw.recording import FormGraph, Recording, graph_of
from chainlab.drills.draw.small_numbers import exact
from chainlab.drills.kinds.box_kind import BoxKind
from chainlab.drills.kinds.kind import Written
from chainview.player.formula import formula
from chainview.player.names import is_plain_number, plain
from chainview.player.picture import Look
from chainview.read.items import Item
from chainview.read.words import listed

ROOM = ("data −000", "data −0/00")  # the widest that is written into a node
CARRIED = ("−0/00", "× −0/00")  # and above and below an arrow


def set_up(text: str, level: int, choose: fit.Choose) -> Recording:
    """Draw the leaves of a graph from the numbers of its level."""
    graph = graph_of(text)
    domains = graph.form.domains
    leaves = [choose(domains.get(name, DOMAINS[level - 1])) for name in graph.form.leaves]
    return Recording(graph, leaves)


def data_of(rec: Recording) -> list[Written]:
    """Return the values of all nodes."""
    return [
        (item.id, "data", "data " * (not is_plain_number(item)) + exact(rec.value(item)))
        for item in rec.graph.items
    ]


class GraphKind(BoxKind):
    """A kind that asks for numbers of a graph, in which all values stand."""

    carried = CARRIED

    def set_up(self, text: str, level: int, choose: fit.Choose) -> Recording:
        return set_up(text, level, choose)

    def places(self, graph: FormGraph) -> Sequence[Place]:
        """Return what is asked of a graph, whatever its numbers are."""
        raise NotImplementedError

    def boxes(self, rec: Recording) -> Sequence[Box]:
        raise NotImplementedError

    def leaves(self, rec: Recording) -> Sequence[float]:
        return rec.leaves

    def is_small(self, rec: Recording, level: int) -> bool:
        return rec.is_small(self.most(level))

    def written(self, rec: Recording) -> Iterable[Written]:
        return data_of(rec)

    def looks(self, text: str) -> list[Look]:
        graph = graph_of(text)
        asked = dict[str, list[str]]()
        for place in self.places(graph):
            asked.setdefault(place.item.id, []).append(place.slot)
        return looks(graph, asked, [graph.root])


def looks(graph: FormGraph, asked: dict[str, list[str]], with_grads: Sequence[Item]) -> list[Look]:
    """Return nodes with their values and gradients, and room for the numbers to fill in."""
    drawing = []
    for item in graph.items:
        slots = asked.get(item.id, [])
        given = ["data", *["grad"] * (item in with_grads and not slots)]
        names = (
            ("", "", "000")
            if is_plain_number(item)
            else (graph.names.full_name(item), _formula_in(graph, item), *ROOM)
        )
        title, note, *widest = names
        drawing.append(look(item, title, note, room(given, slots), *widest))
    return drawing


def formula_of(graph: FormGraph, item: Item) -> str:
    """Write the operation of a node with the names of its operands, as HTML."""
    return formula(item, [graph.names.html(parent) for parent in graph.names.parents(item)])


def _formula_in(graph: FormGraph, item: Item) -> str:
    if item.is_leaf:
        return ""
    names = [graph.names.text(x).removesuffix(".0") for x in graph.names.parents(item)]
    return formula_in(item, names)


def computation(graph: FormGraph, item: Item) -> str:
    """Write how a node is computed, as plain text."""
    names = [graph.names.text(parent) for parent in graph.names.parents(item)]
    return f"{graph.names.text(item)} = {plain(formula(item, names))}"


def surroundings(graph: FormGraph, item: Item) -> str:
    """Describe a node among its operands and children."""
    children = [computation(graph, edge.child) for edge in graph.uses[item.id]]
    own = "a leaf" if item.is_leaf else computation(graph, item)
    return f"{own}; used in {listed(list(dict.fromkeys(children)), 6)}"
