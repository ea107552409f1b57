"""A watched function of PyTorch, run again in double precision for differences."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from chaingrad.frameworks._modes import Operations, guarded, tensors_in
from chaingrad.frameworks._restoring import Restoring, referred, roots
from chaingrad.frameworks.watched import Again, Compared, compared


@dataclass(frozen=True)
class TorchAgain(Again):
    f: Callable[..., Any]
    inputs: Sequence[Any]
    model: Any
    leaves: Sequence[tuple[str, Any]]

    def compared(self, samples: int) -> Compared:
        names = [name for name, _ in self.leaves]
        return compared(list(zip(names, self._gradients(), strict=True)), samples, self._loss)

    @contextmanager
    def _doubled(self) -> Iterator[Sequence[Any]]:
        """The leaves, the modules' tensors and the inputs in double precision, until it ends."""
        restoring = Restoring(self.f, self.model)
        modules = roots(self.f, self.model)
        tensors = [t for m in modules for t in (*m.parameters(), *m.buffers())]
        tensors += [*(tensor for _, tensor in self.leaves), *tensors_in(self.inputs)]
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
            with Operations(partial(guarded, restoring)):
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
