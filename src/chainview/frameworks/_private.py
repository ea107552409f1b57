"""All that is private of PyTorch and may change: a function or a name for each."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd import grad_mode
from torch.multiprocessing.reductions import StorageWeakRef as StorageWeakRef
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import is_lazy as is_parameter_lazy
from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode
from torch.utils._python_dispatch import _disable_current_modes


def storage_key(tensor: Any) -> int:
    """What stands for a tensor's memory while that is alive."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):  # a sparse tensor has none
        return id(tensor)


def saved_tensors(function: Any) -> Iterator[Any]:
    """The tensors that a ``grad_fn`` keeps for its backward pass."""
    names = [name for name in dir(function) if name.startswith("_saved_")]
    for name in [*names, "saved_tensors"]:
        try:
            saved = getattr(function, name, None)
        except RuntimeError:  # changed in place, which the backward pass will say
            continue
        several = saved if isinstance(saved, list | tuple) else [saved]
        yield from (tensor for tensor in several if isinstance(tensor, torch.Tensor))


def without_modes() -> Any:
    """A context in which operations are not handed to dispatch modes."""
    return _disable_current_modes()


def made_by(tensor: Any) -> Any:
    """The ``grad_fn``, None of a view made under no_grad whose base got a history since."""
    try:
        return tensor.grad_fn
    except RuntimeError:  # which PyTorch raises for such a view, and it has no other reason
        return None


def preserved_version(tensor: Any) -> Any:
    """A context after which a tensor counts as changed in place as often as before."""
    return grad_mode._unsafe_preserve_version_counter(tensor)


def is_packing() -> bool:
    """Whether hooks pack what is saved, as those of a checkpoint do."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True) is not None


def skips_or_scales(embedding: Any) -> bool:
    """Whether an embedding's ``grad_fn`` leaves out a row's gradient, or scales gradients."""
    padding = getattr(embedding, "_saved_padding_idx", -1)
    is_given = 0 <= padding < 2**63  # -1, where there is none, is read as 2**64 - 1
    return is_given or bool(getattr(embedding, "_saved_scale_grad_by_freq", False))


def is_differentiating() -> bool:
    """Whether a transform of ``torch.func`` that differentiates is at work."""
    interpreter = torch._C._functorch.peek_interpreter_stack()
    kinds = torch._C._functorch.TransformType
    return interpreter is not None and interpreter.key() in (kinds.Grad, kinds.Jvp)


def has_post_accumulate_hooks(tensor: Any) -> bool:
    """Whether a leaf has a hook that runs after its gradient is complete."""
    return bool(getattr(tensor, "_post_accumulate_grad_hooks", None))


def is_lazy(module: Any) -> bool:
    """Whether a module has parameters without a shape yet."""
    own: Any = module
    return isinstance(module, LazyModuleMixin) and any(map(is_parameter_lazy, own.parameters()))


def name_of(operation: Any) -> str:
    """What PyTorch calls an operation of a dispatch mode."""
    name: str = operation._schema.name
    return name.partition("::")[2]


def own_tensors(module: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The dictionaries in which a module holds its own parameters and buffers."""
    return module._parameters, module._buffers


def written(operation: Any, args: Any, kwargs: Any) -> Iterator[Any]:
    """The arguments that an operation of a dispatch mode changes in place."""
    for position, argument in enumerate(operation._schema.arguments):
        given = args[position] if position < len(args) else kwargs.get(argument.name)
        # batch_norm's schema does not say that it updates its running statistics
        told = argument.alias_info is not None and argument.alias_info.is_write
        if told or argument.name.startswith("running_"):
            yield from given if isinstance(given, list | tuple) else [given]


def shares_memory(operation: Any) -> list[tuple[str, bool]]:
    """The arguments of an operation of a dispatch mode, and whether results may share memory."""
    return [(a.name, a.alias_info is not None) for a in operation._schema.arguments]


def reinterprets(operation: Any) -> bool:
    """Whether an operation of a dispatch mode reads bits as another dtype."""
    return str(operation) == "aten.view.dtype"
