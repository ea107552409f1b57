"""PyTorch's graphs, the ``grad_fn`` of a tensor and what is behind it, read for a drawing."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from chainview.read.items import NodeFacts
from chainview.read.nodes import Nodes


def is_tensor(thing: Any) -> bool:
    """Return whether a thing is a PyTorch tensor, without importing PyTorch."""
    torch = sys.modules.get("torch")  # a tensor exists only once PyTorch is imported
    return torch is not None and isinstance(thing, torch.Tensor)


def operation(function: Any) -> str:
    """Return the name of the operation behind a ``grad_fn``: Tanh of TanhBackward0."""
    return type(function).__name__.rstrip("0123456789").removesuffix("Backward")


def edges(function: Any) -> list[tuple[Any, int] | None]:
    """Return where a ``grad_fn`` sends its shares: a leaf, or a ``grad_fn`` and which result.

    None stands for an operand to which it sends none.
    """
    return [
        None if f is None else (getattr(f, "variable", f), number)
        for f, number in function.next_functions
    ]


class Tensors(Nodes):
    """Reads tensors; a leaf is a node without parents, all else a ``grad_fn``."""

    def __init__(self, parameters: Iterable[Any] = ()) -> None:
        super().__init__(parameters)
        self._results: dict[int, Any] = {}

    def can_read(self, thing: Any) -> bool:
        return is_tensor(thing) or hasattr(thing, "next_functions")

    def source(self, thing: Any) -> Any:
        """Return a tensor's ``grad_fn``, and keep the tensor for its value."""
        if thing.grad_fn is None:
            return thing
        self._results[id(thing.grad_fn)] = thing
        return thing.grad_fn

    def roots(self, thing: Any, caller: str) -> Sequence[Any]:
        if not thing.requires_grad:
            raise ValueError(
                f"{caller}: nothing that this PyTorch tensor was computed from has requires_grad, "
                "so no graph was recorded"
            )
        return [self.source(thing)]

    def parents(self, thing: Any) -> Sequence[Any]:
        sent = edges(thing) if hasattr(thing, "next_functions") else ()
        return [edge[0] for edge in sent if edge is not None]

    def facts(self, thing: Any) -> NodeFacts:
        if not hasattr(thing, "next_functions"):
            return super().facts(thing)
        result: Any = self._results.get(id(thing))
        grad = result.grad if getattr(result, "retains_grad", False) else None
        return NodeFacts("operation", operation(thing), "", result, grad)
