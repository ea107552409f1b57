"""Modes in which PyTorch tells of its operations, and what is done about each."""

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from chaingrad._tree import flat
from chainview.frameworks._private import (
    TorchDispatchMode,
    is_differentiating,
    storage_key,
    written,
)
from chainview.frameworks._restoring import Restoring


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Hands each operation, with its arguments, to a function that runs it."""

    def __init__(self, run: Callable[[Any, Any, Any], Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._run = run

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return self._run(function, args, kwargs or {})


class Functions(TorchFunctionMode):
    """Hands each function of PyTorch that the reader calls to another, with its arguments.

    Derivatives inside the watched function are refused: their graph is gone before a pass can
    start.
    """

    def __init__(self, run: Callable[[Any, Any, Any], Any]) -> None:
        super().__init__()
        self._run = run

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if is_differentiating():
            raise RuntimeError(
                "watch_torch: the function uses torch.func.grad, or another transform that "
                "differentiates, whose own graph cannot be watched; watch the function inside it, "
                "or take its gradient by torch.autograd.grad with create_graph=True"
            )
        return self._run(function, args, kwargs or {})


def guarded(restoring: Restoring, function: Any, args: Any, kwargs: Any) -> Any:
    """Run an operation, and record what it changes and makes."""
    for tensor in written(function, args, kwargs):
        if isinstance(tensor, torch.Tensor):
            restoring.note_change(tensor)
    for generator in [*args, *kwargs.values()]:
        if isinstance(generator, torch.Generator):
            restoring.generator(generator)
    result = function(*args, **kwargs)
    known = {storage_key(tensor) for tensor in tensors_in([args, kwargs])}
    for tensor in tensors_in(result):
        if storage_key(tensor) not in known:
            restoring.note_made(tensor)
    return result


def tensors_in(things: Any) -> list[Any]:
    return [thing for thing in flat(things) if isinstance(thing, torch.Tensor)]
