"""What a run of PyTorch is made of while it's recorded: tensors, leaves, operations, calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from chainview.frameworks.custom_rules import CustomRule
from chainview.frameworks.private import storage_key
from chainview.frameworks.restoring import tensors_in
from chainview.frameworks.run import ModuleCall, Summary
from chainview.read.lines import Line
from chainview.read.words import FEW


class StoredTensor:
    """What a tensor held at one moment."""

    __slots__ = ("held", "key", "summary")

    def __init__(self, tensor: Any) -> None:
        self.held = tensor.detach()
        self.key = storage_key(tensor)
        self.summary: Summary | None = None

    def sum_up(self) -> None:
        """Replace the array by a summary, if it has more than a few entries."""
        if self.held is not None and self.held.numel() <= FEW:
            self.held = self.held.clone()
        elif self.summary is None:
            self.summary = summed_up(self.held)
            self.held = None

    def number(self) -> Any:
        """Return the array, as a NumPy array, or the summary."""
        if self.summary is not None:
            return self.summary
        tensor = dense(self.held).resolve_conj().resolve_neg()
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.float()  # which holds all of its values
        return tensor.cpu().numpy().copy()


class TensorStore:
    """Entries, until they are more than ``most`` bytes; from then on summaries, of all."""

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._held: dict[int, list[StoredTensor]] = {}  # by the memory that they show
        self.is_full = False

    def store(self, tensor: Any) -> StoredTensor:
        """Record what a tensor holds now."""
        entry = StoredTensor(tensor)
        if self.is_full:
            entry.sum_up()
            return entry
        known = self._held.setdefault(entry.key, [])
        if not known:
            self._bytes += tensor.numel() * tensor.element_size()
        known.append(entry)
        if self._bytes > self._most:
            self.is_full = True
            for held in (held for entries in self._held.values() for held in entries):
                held.sum_up()
            self._held.clear()
        return entry

    def before_change(self, key: int) -> None:
        """Copy the tensors that show some memory, before it changes."""
        for entry in self._held.pop(key, ()):
            entry.held = entry.held.clone()


def refuse_several_arrays(tensor: Any) -> None:
    """Refuse a tensor that has rows of several lengths, or parts on several devices.

    Raises:
        TypeError: it isn't one array.
    """
    if tensor.is_nested:
        raise TypeError("watch_torch: cannot watch a nested tensor; give rows of one length")
    if hasattr(tensor, "to_local"):
        raise TypeError("watch_torch: cannot watch a sharded tensor; watch the model on one device")


def dense(tensor: Any) -> Any:
    """Return a tensor with all its entries."""
    refuse_several_arrays(tensor)
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


def summed_up(tensor: Any) -> Summary:
    """Compute the summary of a tensor on its own device."""
    tensor = dense(tensor)
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    if not tensor.numel():
        return Summary(shape, dtype, 0.0, 0.0, True)
    if tensor.is_complex():
        tensor = tensor.abs()
    if not tensor.is_floating_point() or tensor.element_size() < 4:
        tensor = tensor.float()
    norm = torch.linalg.vector_norm(tensor).item()
    if not 1e-15 < norm < 1e15:  # in single precision the squares may underflow or overflow
        norm = torch.linalg.vector_norm(tensor, dtype=torch.float64).item()
    low, high = (end.item() for end in torch.aminmax(tensor))
    largest = high if high != high else max(-low, high)  # if one entry is NaN, both ends are
    return Summary(shape, dtype, norm, largest, largest - largest == 0.0)


def same(one: Any, other: Any) -> bool:
    """Return whether two tensors are equal to the last bit; NaN equals NaN."""
    if one is other:
        return True
    one, other = dense(one), dense(other)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())


# --- leaves and operations ----------------------------------------------------------------------


@dataclass(eq=False)
class Leaf:
    """A tensor that no recorded operation of the run made."""

    tensor: Any
    entry: StoredTensor
    label: str
    call: ModuleCall
    ran: int = 0
    line: Line | None = None


@dataclass(eq=False)
class Operation:
    """What an operation made: of one on which a gradient was recorded, with its ``grad_fn``."""

    name: str
    operands: "Sequence[Leaf | Operation]"
    call: ModuleCall
    function: Any = None
    recorded: bool = True
    packed: Any = None  # the hook of the checkpoint that it's in
    given: Sequence[Any] = ()  # to the checkpoint: the tensors that came from outside
    floating: bool = True
    ran: int = 0
    line: Line | None = None
    called: str = ""  # the function of PyTorch that the reader called
    in_custom: bool = False  # in the forward of a function with a backward of its own
    writes: Sequence[int] = ()  # the keys of memory that it changes
    results: dict[int, StoredTensor] = field(default_factory=dict)


Source = Leaf | Operation


def has_gradient(thing: Source) -> bool:
    """Return whether a gradient goes back through it, or to it."""
    if isinstance(thing, Leaf):
        return bool(thing.tensor.requires_grad)
    return thing.function is not None


# --- functions with a backward of their own -----------------------------------------------------


@dataclass(frozen=True)
class CustomCall:
    """A call of an ``autograd.Function``, and what it was given."""

    function: Any  # the class
    args: Sequence[Any]
    places: Sequence[int]  # of the arguments that take a gradient
    state: Any  # of the generator
    grad_fn: Any

    def rule(self) -> CustomRule:
        """Return its rule, on copies of these arguments."""
        for x in self.args:
            if isinstance(x, StoredTensor) and x.held is not None:
                x.held = x.held.clone()  # what training changes later
        return CustomRule(self.function.__name__, self._points, partial(_apply, self))

    def _points(self) -> Iterator[list[Any]]:
        held = [self.args[place].held for place in self.places]
        if all(tensor is not None and tensor.is_floating_point() for tensor in held):
            yield [_array(tensor.double()) for tensor in held]
            if all(tensor.dtype == torch.float32 for tensor in held):
                yield [_array(tensor) for tensor in held]


def _apply(
    call: CustomCall, inputs: Sequence[Any], cotangents: Sequence[Any] | None
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Apply a function alone, with the same random numbers, and pull cotangents back through it."""
    with torch.random.fork_rng(), torch.enable_grad():
        torch.set_rng_state(call.state)
        args = [_in_precision(x, inputs[0].dtype.itemsize) for x in call.args]
        leaves = []
        for place, x in zip(call.places, inputs, strict=True):
            leaves.append(torch.tensor(x, device=args[place].device, requires_grad=True))
            args[place] = leaves[-1] * 1  # which may be changed in place
        made = tensors_in([call.function.apply(*args)])
        results = [tensor for tensor in made if tensor.requires_grad]
        grads: Sequence[Any] = ()
        if cotangents is not None:
            sent = [torch.tensor(x, device=leaves[0].device) for x in cotangents]
            grads = torch.autograd.grad(results, leaves, sent, allow_unused=True)
        return [_array(x) for x in results], [None if x is None else _array(x) for x in grads]


def _in_precision(x: Any, itemsize: int) -> Any:
    """Return a copy of what an argument held, in double precision or single."""
    if not isinstance(x, StoredTensor):
        return x
    if x.held is None:
        raise ValueError("its inputs weren't kept (most=)")
    if x.held.is_floating_point():
        return x.held.to(torch.float64 if itemsize == 8 else torch.float32, copy=True)
    return x.held.clone()


def _array(tensor: Any) -> Any:
    return dense(tensor.detach()).resolve_neg().cpu().numpy().copy()
