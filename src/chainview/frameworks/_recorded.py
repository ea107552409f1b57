"""What a run of PyTorch is made of while it's recorded: leaves, and operations that ran."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chainview.frameworks._tensors import StoredTensor
from chainview.frameworks.run import ModuleCall
from chainview.read.lines import Line


@dataclass(eq=False)
class Leaf:
    """A tensor that no recorded operation of the run made.

    ``before`` is the operation whose memory it shows, where the run made that: one with a gradient
    for ``Parameter(t)``, one without for ``t.detach().requires_grad_()``.
    """

    tensor: Any
    entry: StoredTensor
    label: str
    call: ModuleCall
    ran: int = 0
    line: Line | None = None
    before: "Operation | None" = None

    @property
    def entries(self) -> list[StoredTensor]:
        """What it held."""
        return [self.entry]


class Called(NamedTuple):
    """The function of PyTorch that the reader called, such as ``Tensor.detach``; 0 is none."""

    number: int = 0
    name: str = ""


NOTHING = Called()


@dataclass(eq=False)
class Operation:
    """What an operation made: of one on which a gradient was recorded, with its ``grad_fn``."""

    name: str
    operands: "Sequence[Leaf | Operation]"
    call: ModuleCall
    function: Any = None
    recorded: bool = True
    packed: bool = False
    checkpoint: int = 0  # the number of the checkpoint that it's in
    given: Sequence[Any] = ()  # to the checkpoint: the tensors that came from outside
    floating: bool = True
    ran: int = 0
    line: Line | None = None
    called: Called = NOTHING
    is_checkpointed: bool = False  # without a gradient, in a reentrant checkpoint
    writes: Sequence[int] = ()  # the keys of memory that it changes
    results: dict[int, StoredTensor] = field(default_factory=dict)

    @property
    def entries(self) -> list[StoredTensor]:
        """What it gave."""
        return list(self.results.values())

    @property
    def place(self) -> str:
        """Its module and line."""
        module = f" in {self.call.name}" if self.call.name else ""
        return f"{self.name}{module}{f' ({self.line})' if self.line else ''}"


Source = Leaf | Operation


def has_gradient(thing: Source) -> bool:
    """Return whether a gradient goes back through it, or to it."""
    if isinstance(thing, Leaf):
        return bool(thing.tensor.requires_grad)
    return thing.function is not None
