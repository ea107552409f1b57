"""Nodes of this engine or of another, read for a drawing."""

from collections.abc import Iterable, Sequence
from typing import Any

from chainview.read.items import NodeFacts


class Nodes:
    """Reads whatever has ``data``, ``grad``, ``parents``, ``op`` and ``label``."""

    def __init__(self, parameters: Iterable[Any] = ()) -> None:
        self._trained = {id(thing) for thing in parameters}

    def can_read(self, thing: Any) -> bool:
        """Return whether a thing is of the kind that is read here."""
        return True

    def source(self, thing: Any) -> Any:
        """Return what stands for a thing in its graph."""
        return thing

    def roots(self, thing: Any, caller: str) -> Sequence[Any]:
        """Return where the search for the graph of a thing begins.

        Raises:
            TypeError: the thing has no graph.
        """
        if hasattr(thing, "parents") and hasattr(thing, "data"):
            return [thing]
        traced = hasattr(thing, "aval")
        raise TypeError(
            f"{caller} expected a node (with data, grad, parents, op and label), a PyTorch tensor, "
            f"a jaxpr, or a list of these, and got {type(thing).__name__}: {thing!r:.60}"
            + ("; a JAX array has no history: draw jax.make_jaxpr(f)(*arguments)" * traced)
        )

    def parents(self, thing: Any) -> Sequence[Any]:
        """Return what a thing was computed from."""
        return tuple(getattr(thing, "parents", ()))

    def facts(self, thing: Any) -> NodeFacts:
        """Return what we know about a thing."""
        is_leaf = not self.parents(thing)
        kind = self._kind_of_leaf(thing) if is_leaf else "operation"
        grad = None if kind == "constant" else getattr(thing, "grad", None)
        op = "" if is_leaf else str(getattr(thing, "op", ""))
        return NodeFacts(kind, op, getattr(thing, "label", None) or "", thing.data, grad)

    def _kind_of_leaf(self, thing: Any) -> str:
        if not getattr(thing, "requires_grad", True):
            return "constant"
        named = any(c.__name__ == "Parameter" for c in type(thing).__mro__)
        trained = named or getattr(thing, "is_parameter", False) or id(thing) in self._trained
        return "parameter" if trained else "leaf"
