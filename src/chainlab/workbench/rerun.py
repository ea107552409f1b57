"""A text run again with its leaves moved, and what of its result the graph doesn't know."""

import ast
import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.node import Node
from chaingrad.rules import Traced
from chainlab.workbench.running import FILE, execute, initial_names, label, let_go
from chainlab.workbench.subject import Subject
from chainview.player.names import amount


@dataclass(frozen=True)
class Rerun:
    """A text as a function of its leaves.

    Attributes:
        places: for each leaf of the graph, which of the nodes that the text makes it is.
    """

    tree: ast.Module
    places: Sequence[int]

    @classmethod
    def of(cls, subject: Subject) -> "Rerun | None":
        """Return the function; None if a second run doesn't build the same graph and leaves.

        That is a text that draws random numbers, or that changes a leaf after it has made it.
        """
        tree = ast.parse(subject.text, FILE)
        made: list[Node] = []
        with _making({}, made):
            again = Subject(root) if (root := _run(tree)) is not None else None
        if again is None or not _same(again.root, subject.root):
            return None
        order = {id(node): place for place, node in enumerate(made)}
        places = [order.get(id(leaf)) for leaf in again.leaves]
        known = [place for place in places if place is not None]
        alike = len(known) == len(subject.leaves) and all(map(_same, again.leaves, subject.leaves))
        rerun = cls(tree, known)
        values = [np.array(x.data, float) for x in subject.leaves]
        settled = alike and np.isclose(
            rerun.number(values), subject.root.item(), 1e-5, equal_nan=True
        )
        return rerun if settled else None

    def root(self, values: Sequence[Any]) -> Node | None:
        """Run the text with other values of its leaves; None if that fails."""
        data = {
            place: x if isinstance(x, Traced) else np.array(x) if np.ndim(x) else float(x)
            for place, x in zip(self.places, values, strict=True)
        }
        with _making(data, []):
            return _run(self.tree)

    def number(self, values: Sequence[Any]) -> float:
        """Return the root's number at other values of the leaves; nan if there is none."""
        root = self.root(values)
        return root.item() if root is not None and root.size == 1 else np.nan


def _run(tree: ast.Module) -> Node | None:
    names = initial_names()
    quiet = io.StringIO()
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
    ):
        warnings.simplefilter("ignore")
        try:
            root = execute(tree, names)
        except Exception:
            root = None
    root = root if isinstance(root, Node) else None
    label(names, root)
    let_go(names)
    return root


@contextmanager
def _making(data: Mapping[int, Any], made: list[Node]) -> Iterator[None]:
    """Give the nodes that are made within the block other data, by their places; collect them."""
    init = Node.__init__
    count = 0

    def counted(self: Node, given: Any, *args: Any, **options: Any) -> None:
        nonlocal count
        init(self, data.get(count, given), *args, **options)
        count += 1
        if not data:
            made.append(self)

    Node.__init__ = counted  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        Node.__init__ = init  # type: ignore[method-assign]


def _same(a: Node, b: Node) -> bool:
    return np.array_equal(a.data, b.data, equal_nan=True)


def unrecorded(before: Node, after: Node | None, named: str) -> str:
    """Say what of a text depends on a leaf without the graph's knowing.

    Args:
        before: the root of the graph.
        after: the root when the leaf has moved.
        named: the leaf.
    """
    old, new = Subject(before).nodes, Subject(after).nodes if after else []
    if [node.op for node in old] != [node.op for node in new]:
        return f"the program takes another path when {named} moves: an if, a loop or an index"
    for was, now in zip(old, new, strict=True):
        if not was.parents and not was.requires_grad and not _same(was, now):
            reader = next(node for node in old if was in node.parents)
            what = str(was.label or _short(was))
            return (
                f"the program computes the constant {what} of {reader.label or reader.op} from "
                f"{named}, as {named}.data or float({named}) do, and through it no gradient flows"
            )
    return f"the program also reads {named} where no gradient flows, as {named}.data does"


def _short(node: Node) -> str:
    return amount(node.data) if not node.ndim else f"of shape {node.shape}"
