"""Modes in which PyTorch tells of its operations, and what is done about each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch.overrides import TorchFunctionMode

from chaingrad.frameworks._private import (
    TorchDispatchMode,
    is_differentiating,
    storage_key,
    written,
)
from chaingrad.frameworks._restoring import Restoring


class Watcher(Protocol):
    """What is told of each operation, and runs it."""

    def operation(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Run an operation."""


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Hands each operation on."""

    def __init__(self, run: Watcher) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._run = run

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return self._run.operation(function, args, kwargs or {})


class Refusals(TorchFunctionMode):
    """Refuses derivatives within the function, whose graph is gone before a pass could start."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if is_differentiating():
            raise RuntimeError(
                "watch_torch: the function uses torch.func.grad, or another transform that "
                "differentiates, whose own graph cannot be watched; watch the function inside it, "
                "or take its gradient by torch.autograd.grad with create_graph=True"
            )
        return function(*args, **(kwargs or {}))


@dataclass(frozen=True)
class Guard:
    """Notes what operations change, and nothing else."""

    restoring: Restoring

    def operation(self, function: Any, args: Any, kwargs: Any) -> Any:
        for tensor in written(function, args, kwargs):
            if isinstance(tensor, torch.Tensor):
                self.restoring.changes(tensor)
        for generator in [*args, *kwargs.values()]:
            if isinstance(generator, torch.Generator):
                self.restoring.generator(generator)
        result = function(*args, **kwargs)
        known = {storage_key(tensor) for tensor in tensors_in([args, kwargs])}
        for tensor in tensors_in([result]):
            if storage_key(tensor) not in known:
                self.restoring.made(tensor)
        return result


def tensors_in(things: Iterable[Any]) -> Iterator[Any]:
    for thing in things:
        if isinstance(thing, torch.Tensor):
            yield thing
        elif isinstance(thing, list | tuple):
            yield from tensors_in(thing)
        elif isinstance(thing, dict):
            yield from tensors_in(thing.values())
