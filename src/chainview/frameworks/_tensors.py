"""The arrays of a watched run: kept as they were, or summed up where there are too many."""

from typing import Any

import torch

from chainview.frameworks._private import storage_key
from chainview.frameworks.run import Summary
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
        self._most = most
        self._bytes = 0
        self._held: dict[int, list[StoredTensor]] = {}  # by the memory that they show
        self.is_full = False
        self.is_low = False  # whether there are numbers of 16 bits

    def store(self, tensor: Any) -> StoredTensor:
        """Record what a tensor holds now."""
        self.is_low |= tensor.dtype in (torch.float16, torch.bfloat16)
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
            for entries in self._held.values():
                for held in entries:
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
    is_finite = largest - largest == 0.0
    return Summary(shape, dtype, norm, largest, is_finite)


def same(one: Any, other: Any) -> bool:
    """Return whether two tensors are equal to the last bit; NaN equals NaN."""
    if one is other:
        return True
    one, other = dense(one), dense(other)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())
