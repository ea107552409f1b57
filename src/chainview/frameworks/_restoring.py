"""Put back what a PyTorch run changes: tensors, gradients, modules, modes and generators."""

import inspect
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from torch.nn.parameter import is_lazy

from chainview.frameworks._private import (
    StorageWeakRef,
    own_tensors,
    preserved_version,
    storage_key,
)


class Restoring:
    """Notes what is about to change, and puts it back."""

    def __init__(self, f: Callable[..., Any], model: Any) -> None:
        self._made: dict[int, Any] = {}
        self._changed: dict[int, tuple[Any, Any]] = {}  # memory, and what it held
        # Another backward pass, not yet run, refuses tensors that count as changed since.
        self._versions = ExitStack()
        self._counted: dict[int, Any] = {}  # kept alive, so that no id is reused
        self._leaves: dict[int, tuple[Any, Any, Any]] = {}  # each with its data and its .grad
        self._generators: dict[int, tuple[Any, Any]] = {}
        self._modules: dict[int, tuple[Any, ...]] = {}
        for root in roots(f, model):
            self.module(root)

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Restore everything at the end."""
        on_gpu = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        devices = range(torch.cuda.device_count()) if on_gpu else []
        numpys, pythons = np.random.get_state(), random.getstate()  # noqa: NPY002
        grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
        with ExitStack() as stack:
            stack.enter_context(torch.random.fork_rng(devices))
            stack.callback(np.random.set_state, numpys)
            stack.callback(random.setstate, pythons)
            stack.callback(torch.set_default_dtype, dtype)
            stack.callback(torch.set_grad_enabled, grad)
            stack.callback(self._restore)
            yield

    # --- what a run reports ---------------------------------------------------------------------

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
        if key in self._made or tensor.layout != torch.strided:
            return
        if key not in self._changed:
            storage = tensor.untyped_storage()
            self._changed[key] = storage, storage.clone()
        if id(tensor) not in self._counted and not tensor.is_inference():
            self._counted[id(tensor)] = tensor
            self._versions.enter_context(preserved_version(tensor))

    def leaf(self, tensor: Any) -> None:
        """Save a leaf, whose gradient may change."""
        if id(tensor) not in self._leaves:
            self._leaves[id(tensor)] = tensor, tensor.detach(), tensor.grad

    def generator(self, generator: Any) -> None:
        """Save the state of a generator before its use."""
        if id(generator) not in self._generators:
            self._generators[id(generator)] = generator, generator.get_state()

    def module(self, root: Any) -> None:
        """Save a module, with everything in it."""
        for module in root.modules():
            if id(module) not in self._modules:
                held = own_tensors(module)
                own = [p for p in held[0].values() if p is not None and not is_lazy(p)]
                for parameter in own:
                    self.leaf(parameter)
                flags = {id(p): (p, p.requires_grad) for p in own}
                tensors = [(t, dict(t)) for t in held]
                self._modules[id(module)] = module, module.training, tensors, flags

    def forget_gradients(self) -> None:
        """Clear the gradients of the leaves, for a backward pass that starts from none."""
        for leaf, *_ in self._leaves.values():
            leaf.grad = None

    # --- putting it back ------------------------------------------------------------------------

    def _restore(self) -> None:
        with torch.no_grad():
            for module, training, tensors, flags in self._modules.values():
                module.training = training
                for now, before in tensors:
                    self._entries(now, before)
                for parameter, flag in flags.values():
                    if parameter.is_leaf and parameter.requires_grad is not flag:
                        parameter.requires_grad_(flag)
            for leaf, shown, grad in self._leaves.values():
                if storage_key(leaf) != storage_key(shown):
                    leaf.data = shown
                leaf.grad = grad
            for storage, held in self._changed.values():
                storage.copy_(held)
            for generator, state in self._generators.values():
                generator.set_state(state)
        self._versions.close()

    def _entries(self, now: dict[str, Any], before: dict[str, Any]) -> None:
        """Put a module's own tensors back where the run made others.

        Anything the run did not make belongs to someone else, such as ``functional_call``.
        """
        for name in list(now.keys()):  # a scripted module's own kind of dictionary
            if now[name] is not before.get(name) and (now[name] is None or self.is_made(now[name])):
                if name in before:
                    now[name] = before[name]
                else:
                    del now[name]


def roots(f: Callable[..., Any], model: Any) -> list[Any]:
    """Return the modules that we know before a run: the model, and those to which ``f`` refers.

    Modules with many parameters come first, a loss after them.
    """
    held = [x for x in referred(f) if isinstance(x, torch.nn.Module)]
    held.sort(key=lambda module: -sum(1 for _ in module.parameters()))
    found = [model, *held] if model is not None else held
    return list({id(module): module for module in found}.values())


def referred(f: Callable[..., Any]) -> list[Any]:
    """Return what a function is, belongs to, and refers to by name."""
    functions = [f]
    while hasattr(functions[-1], "func"):  # functools.partial
        functions.append(functions[-1].func)
    held: list[Any] = [*functions, getattr(functions[-1], "__self__", None)]
    if inspect.isfunction(functions[-1]):
        variables = inspect.getclosurevars(functions[-1])
        held += [*variables.nonlocals.values(), *variables.globals.values()]
    return held
