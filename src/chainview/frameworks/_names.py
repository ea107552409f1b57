"""Names for tensors that no module registers: the reader's variables and attributes."""

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from chaingrad._tree import is_container
from chainview.read.lines import owner_of

MOST = 20_000  # things to look at
DEEPEST = 6

Found = tuple[str, Any]  # a name, and a tensor or a module


class Names:
    """Finds tensors and modules in what the reader's functions and objects hold."""

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
