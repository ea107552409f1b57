"""A watched function of PyTorch, run again in double precision for differences."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from chaingrad.frameworks._modes import Guard, Operations, tensors_in
from chaingrad.frameworks._restoring import Restoring, referred, roots
from chaingrad.frameworks.watched import Compared, compared


@dataclass(frozen=True)
class Again:
    """Runs the function again in double precision, for its gradient and for differences."""

    f: Callable[..., Any]
    inputs: Sequence[Any]
    model: Any
    leaves: Sequence[tuple[str, Any]]
    is_low: bool

    def __call__(self, samples: int) -> Compared | str:
        if self.is_low:
            return "some of its operations are in a lower precision"
        try:
            grads = self._gradients()
            return compared(
                [(name, grad) for (name, _), grad in zip(self.leaves, grads, strict=True)],
                samples,
                self._loss,
            )
        except Exception as error:  # of the reader's function, which may not take doubles
            return f"in double precision the function fails, with {type(error).__name__}: {error}"

    @contextmanager
    def _doubled(self) -> Iterator[Sequence[Any]]:
        """The leaves, the modules' tensors and the inputs in double precision, until it ends."""
        restoring = Restoring(self.f, self.model)
        modules = roots(self.f, self.model)
        tensors = [t for m in modules for t in (*m.parameters(), *m.buffers())]
        tensors += [tensor for _, tensor in self.leaves] + list(tensors_in(self.inputs))
        tensors += [x for x in referred(self.f) if isinstance(x, torch.Tensor)]
        with restoring.all():
            for tensor in {id(t): t for t in tensors}.values():
                if tensor.is_floating_point():
                    restoring.leaf(tensor)
                    tensor.data = tensor.data.double()
                    tensor.grad = None
                else:
                    restoring.changes(tensor)
            torch.set_default_dtype(torch.float64)
            with Operations(Guard(restoring)):
                yield [tensor for _, tensor in self.leaves]

    def _gradients(self) -> list[Any]:
        with self._doubled() as leaves:
            loss = self.f(*self.inputs)
            for leaf in leaves:
                leaf.grad = None  # the function may have run a backward pass of its own
            loss.backward()
            return [leaf.grad.to_dense().cpu().numpy().copy() for leaf in leaves]

    def _loss(self, number: int, entry: tuple[int, ...], by: float) -> float:
        with self._doubled() as leaves:
            with torch.no_grad():
                leaves[number][entry] += by
            return float(self.f(*self.inputs).item())
