"""What the reader's function can reach before it runs: modules, and tensors by their names."""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from chaingrad._tree import is_container
from chainview.read.lines import owner_of

MOST = 20_000  # things to look at
DEEPEST = 6

Found = tuple[str, Any]  # a name, and a tensor or a module


def roots(f: Callable[..., Any], model: Any) -> list[Any]:
    """Return the modules that we know before a run: the model, and those to which ``f`` refers.

    Modules with many parameters come first, a loss after them.
    """
    functions: list[Any] = [f]
    while hasattr(functions[-1], "func"):  # functools.partial
        functions.append(functions[-1].func)
    held = [*functions, getattr(functions[-1], "__self__", None)]
    if inspect.isfunction(functions[-1]):
        variables = inspect.getclosurevars(functions[-1])
        held += [*variables.nonlocals.values(), *variables.globals.values()]
    modules = [x for x in held if isinstance(x, torch.nn.Module)]
    modules.sort(key=lambda module: -sum(1 for _ in module.parameters()))
    modules = [model, *modules] if model is not None else modules
    return list({id(module): module for module in modules}.values())


def named_inputs(f: Callable[..., Any], inputs: Sequence[Any]) -> Iterator[Found]:
    """Yield the tensors among the inputs, by the names of the function's arguments."""
    called = f.forward if isinstance(f, torch.nn.Module) else f
    try:
        names = list(inspect.signature(called).bind(*inputs).arguments)
    except (TypeError, ValueError):
        names = []
    if len(names) != len(inputs):
        names = [f"input {i + 1}" for i in range(len(inputs))]
    for name, given in zip(names, inputs, strict=True):
        members = Variables()._members(name, given, 0)
        yield from ((name, thing) for name, thing in members if isinstance(thing, torch.Tensor))


class Variables:
    """Finds tensors and modules that no module registers, in the reader's functions and objects."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}  # kept alive, so that no id is reused

    def of_function(self, f: Callable[..., Any]) -> Iterator[Found]:
        """Yield what a function's variables hold, and those of the reader's functions it calls."""
        while hasattr(f, "func"):  # functools.partial
            f = f.func
        owner = getattr(f, "__self__", None)
        if owner is not None:
            yield from self._members("self", owner, 0)
        f = getattr(f, "__func__", f)
        if not inspect.isfunction(f) or owner_of(f.__code__.co_filename) != "reader":
            return
        try:
            variables = inspect.getclosurevars(f)
        except ValueError:  # a variable has no value yet
            return
        for name, value in {**variables.nonlocals, **variables.globals}.items():
            if self._is_new(value):
                yield from self._members(name, value, 0)
                if inspect.isfunction(value):
                    yield from self.of_function(value)

    def of_module(self, path: str, module: Any) -> Iterator[Found]:
        """Yield what a module's attributes hold that it doesn't register."""
        for name, value in vars(module).items():
            if not name.startswith("_") and self._is_new(value):
                yield from self._members(f"{path}.{name}" if path else name, value, 0)

    def _is_new(self, thing: Any) -> bool:
        if id(thing) in self._seen or len(self._seen) > MOST:
            return False
        self._seen[id(thing)] = thing
        return True

    def _members(self, name: str, thing: Any, depth: int) -> Iterator[Found]:
        if isinstance(thing, torch.Tensor | torch.nn.Module):
            yield name, thing
        elif depth < DEEPEST:
            for key, member in _parts(thing):
                if self._is_new(member):
                    yield from self._members(f"{name}{key}", member, depth + 1)


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, dict):
        yield from ((f"[{key!r}]", value) for key, value in list(thing.items())[:MOST])
    elif is_container(thing):
        yield from ((f"[{i}]", value) for i, value in enumerate(thing))
    elif _is_readers(thing):
        yield from ((f".{name}", value) for name, value in list(vars(thing).items()))


def _is_readers(thing: Any) -> bool:
    """Return whether a thing is an object of a class that the reader wrote."""
    if isinstance(thing, type) or inspect.isroutine(thing) or not hasattr(thing, "__dict__"):
        return False
    module = sys.modules.get(type(thing).__module__)
    file = getattr(module, "__file__", None)
    return type(thing).__module__ == "__main__" or (file is not None and owner_of(file) == "reader")
