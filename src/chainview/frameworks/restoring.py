"""Put back what a PyTorch run changes: parameters, buffers, gradients, and generators."""

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from chaingrad._tree import flat
from chainview.frameworks.private import (
    StorageWeakRef,
    TorchDispatchMode,
    is_differentiating,
    storage_key,
    written,
)

Run = Callable[[Any, Any, Any], Any]  # of a function, its arguments, and those with names


class Restoring:
    """Notes what is about to change, and puts it back."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._made: dict[int, Any] = {}
        self._changed: dict[int, tuple[Any, Any]] = {}  # memory, and what it held
        self._leaves: dict[int, tuple[Any, Any, Any]] = {}  # each with its data and its .grad
        self._generators: dict[int, tuple[Any, Any]] = {}
        self._buffers: dict[int, tuple[Any, dict[str, Any]]] = {}  # of each module
        for root in roots:
            self.module(root)

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Restore everything at the end."""
        on_gpu = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        devices = range(torch.cuda.device_count()) if on_gpu else []
        numpys, pythons = np.random.get_state(), random.getstate()  # noqa: NPY002
        with ExitStack() as stack:
            stack.enter_context(torch.random.fork_rng(devices))
            stack.callback(np.random.set_state, numpys)
            stack.callback(random.setstate, pythons)
            stack.callback(self._restore)
            yield

    def note_made(self, tensor: Any) -> None:
        """Note a tensor that the run itself made."""
        key = storage_key(tensor)
        if key not in self._made and tensor.layout == torch.strided:
            self._made[key] = StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]

    def is_made(self, tensor: Any) -> bool:
        """Return whether the run itself made a tensor's memory."""
        return storage_key(tensor) in self._made

    def note_change(self, tensor: Any) -> None:
        """Save a tensor's memory before it changes in place."""
        key = storage_key(tensor)
        if not {key} & {*self._made, *self._changed} and tensor.layout == torch.strided:
            storage = tensor.untyped_storage()
            self._changed[key] = storage, storage.clone()

    def leaf(self, tensor: Any) -> None:
        """Save a leaf, whose gradient may change."""
        self._leaves.setdefault(id(tensor), (tensor, tensor.detach(), tensor.grad))

    def generator(self, generator: Any) -> None:
        """Save the state of a generator before its use."""
        self._generators.setdefault(id(generator), (generator, generator.get_state()))

    def module(self, root: Any) -> None:
        """Save a module, with everything in it."""
        for module in root.modules():
            if id(module) not in self._buffers:
                self._buffers[id(module)] = module, dict(module.named_buffers(recurse=False))
                for parameter in module.parameters(recurse=False):
                    if not is_lazy(parameter):
                        self.leaf(parameter)

    def forget_gradients(self) -> None:
        """Clear the gradients of the leaves, for a backward pass that starts from none."""
        for leaf, *_ in self._leaves.values():
            leaf.grad = None

    def _restore(self) -> None:
        with torch.no_grad():
            for module, buffers in self._buffers.values():
                for name, tensor in buffers.items():
                    now = getattr(module, name)
                    if now is not tensor and self.is_made(now):
                        setattr(module, name, tensor)
            for leaf, shown, grad in self._leaves.values():
                if storage_key(leaf) != storage_key(shown):
                    leaf.data = shown
                leaf.grad = grad
            for storage, held in self._changed.values():
                storage.copy_(held)
            for generator, state in self._generators.values():
                generator.set_state(state)


# --- modes in which PyTorch tells of its operations ---------------------------------------------


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Hands each operation, with its arguments, to a function that runs it."""

    def __init__(self, run: Run) -> None:
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

    def __init__(self, run: Run) -> None:
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
