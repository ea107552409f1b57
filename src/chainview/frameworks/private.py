"""Everything private in PyTorch that may change: a function or a name for each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef as StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode
from torch.utils._python_dispatch import _disable_current_modes


def storage_key(tensor: Any) -> int:
    """Return a number that identifies a tensor's memory while that memory exists."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):  # a sparse tensor has none
        return id(tensor)


def saved_tensors(function: Any) -> Iterator[Any]:
    """Yield the tensors that a ``grad_fn`` keeps for its backward pass."""
    names = [name for name in dir(function) if name.startswith("_saved_")]
    for name in [*names, "saved_tensors"]:
        with suppress(RuntimeError):  # it was changed in place since
            saved = getattr(function, name, None)
            several = saved if isinstance(saved, list | tuple) else [saved]
            yield from (tensor for tensor in several if isinstance(tensor, torch.Tensor))


def without_modes() -> Any:
    """Return a context in which operations bypass dispatch modes."""
    return _disable_current_modes()


def made_by(tensor: Any) -> Any:
    """Return the ``grad_fn``, or None for a no_grad view whose base has gained a history since."""
    try:
        return tensor.grad_fn
    except RuntimeError:  # PyTorch raises it for such a view, and for nothing else
        return None


def next_sequence_number() -> int:
    """Return the number of the next ``grad_fn`` of this thread; those of before are smaller."""
    with torch.enable_grad(), _disable_current_modes():
        return int(torch.ones((), requires_grad=True).clone().grad_fn._sequence_nr()) + 1  # type: ignore[union-attr]


def begun_before(function: Any, number: int) -> bool:
    """Return whether a ``grad_fn`` has a smaller number."""
    return bool(function._sequence_nr() < number)


def packing_hook() -> Any:
    """Return the hook that packs what is saved now, of which each checkpoint has one, or None."""
    hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
    return None if hooks is None else hooks[0]


def is_differentiating() -> bool:
    """Return whether a transform of ``torch.func`` that differentiates is at work."""
    interpreter = torch._C._functorch.peek_interpreter_stack()
    kinds = torch._C._functorch.TransformType
    return interpreter is not None and interpreter.key() in (kinds.Grad, kinds.Jvp)


def has_post_accumulate_hooks(tensor: Any) -> bool:
    """Return whether a leaf has a hook that runs after its gradient is complete."""
    return bool(getattr(tensor, "_post_accumulate_grad_hooks", None))


def name_of(operation: Any) -> str:
    """Return PyTorch's name for an operation of a dispatch mode."""
    name: str = operation._schema.name
    return name.partition("::")[2]


def written(operation: Any, args: Any, kwargs: Any) -> Iterator[Any]:
    """Yield the tensors that an operation of a dispatch mode changes in place."""
    for position, argument in enumerate(operation._schema.arguments):
        given = args[position] if position < len(args) else kwargs.get(argument.name)
        # batch_norm's schema does not say that it updates its running statistics
        told = argument.alias_info is not None and argument.alias_info.is_write
        if told or argument.name.startswith("running_"):
            several = given if isinstance(given, list | tuple) else [given]
            yield from (tensor for tensor in several if isinstance(tensor, torch.Tensor))


@contextmanager
def applied_by(apply: Callable[[Any, Callable[..., Any], Any], Any]) -> Iterator[None]:
    """Hand each call of an ``autograd.Function``, with what runs it, to another function."""
    base: Any = torch.autograd.function._SingleLevelFunction

    def applied(cls: Any, *args: Any) -> Any:
        return apply(cls, super(base, cls).apply, args)

    base.apply = classmethod(applied)  # also for a Function.apply that was looked up before
    try:
        yield
    finally:
        del base.apply
