"""What the reader's function can reach before it runs: modules, and tensors by their names."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

MOST = 20_000  # members of a container to look at
DEEPEST = 3  # containers in one another

Found = tuple[str, Any]  # a name, and a tensor or a module


def roots(f: Callable[..., Any], model: Any) -> list[Any]:
    """Return the modules that we know before a run: the model, and those to which ``f`` refers.

    Modules with many parameters come first, a loss after them.
    """
    function = _unwrapped(f)
    held = [f, function, getattr(function, "__self__", None), *_closure(function).values()]
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
        members = _members(name, given)
        yield from ((name, thing) for name, thing in members if isinstance(thing, torch.Tensor))


def in_variables(f: Callable[..., Any]) -> Iterator[Found]:
    """Yield the tensors and modules that a function's variables hold."""
    for name, value in _closure(_unwrapped(f)).items():
        yield from _members(name, value)


def in_attributes(path: str, module: Any) -> Iterator[Found]:
    """Yield the tensors and modules that a module's attributes hold and it doesn't register."""
    for name, value in vars(module).items():
        if not name.startswith("_"):
            yield from _members(f"{path}.{name}" if path else name, value)


def _unwrapped(f: Any) -> Any:
    while hasattr(f, "func"):  # functools.partial
        f = f.func
    return f


def _closure(f: Any) -> dict[str, Any]:
    """Return the variables that a function reads from around it."""
    try:
        variables = inspect.getclosurevars(f)
    except (TypeError, ValueError):  # it's no function, or a variable has no value yet
        return {}
    return {**variables.nonlocals, **variables.globals}


def _members(name: str, thing: Any, depth: int = 0) -> Iterator[Found]:
    if isinstance(thing, torch.Tensor | torch.nn.Module):
        yield name, thing
    elif isinstance(thing, dict | list | tuple) and depth < DEEPEST and len(thing) <= MOST:
        parts = thing.items() if isinstance(thing, dict) else enumerate(thing)
        for key, member in list(parts):
            yield from _members(f"{name}[{key!r}]", member, depth + 1)
