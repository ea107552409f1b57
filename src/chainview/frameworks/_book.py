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
        """Keep a summary in the place of the array, if it has more than a few entries."""
        if self.held is not None and self.held.numel() <= FEW:
            self.held = self.held.clone()
        elif self.summary is None:
            self.summary = summed_up(self.held)
            self.held = None

    def number(self) -> Any:
        """The array, as NumPy's, or the summary."""
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

    def enter(self, tensor: Any) -> StoredTensor:
        """Note what a tensor holds now."""
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
        """Copy what shows some memory that is about to be changed."""
        for entry in self._held.pop(key, ()):
            entry.held = entry.held.clone()


def dense(tensor: Any) -> Any:
    """A tensor with all of its entries."""
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


def summed_up(tensor: Any) -> Summary:
    """The summary of a tensor, computed where it lies."""
    tensor = dense(tensor)
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    if not tensor.numel():
        return Summary(shape, dtype, 0.0, 0.0, True)
    if tensor.is_complex():
        tensor = tensor.abs()
    if not tensor.is_floating_point() or tensor.element_size() < 4:
        tensor = tensor.float()
    norm = torch.linalg.vector_norm(tensor).item()
    if not 1e-15 < norm < 1e15:  # squares of single precision may be too small, or too large
        norm = torch.linalg.vector_norm(tensor, dtype=torch.float64).item()
    low, high = (end.item() for end in torch.aminmax(tensor))
    largest = high if high != high else max(-low, high)  # where one is not a number, both are nan
    is_finite = largest - largest == 0.0
    return Summary(shape, dtype, norm, largest, is_finite)


def same(one: Any, other: Any) -> bool:
    """Whether two tensors are equal to the last bit, where both have one that is not a number."""
    if one is other:
        return True
    one, other = dense(one), dense(other)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())
