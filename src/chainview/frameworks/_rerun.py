"""A watched function of PyTorch, run again in double precision for differences."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from chainview.frameworks._differences import (
    Moved,
    NotComparedError,
    Rerun,
    complexes,
    reals,
)
from chainview.frameworks._modes import Operations, guarded, tensors_in
from chainview.frameworks._private import name_of, reinterprets, shares_memory
from chainview.frameworks._restoring import Restoring, referred, roots
from chainview.frameworks.run import loss_in

SEEDS = range(1, 13)  # a layer that is kept one time in two is used in all but one of 4,096
WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}


class TorchRerun(Rerun):
    def __init__(
        self,
        f: Callable[..., Any],
        inputs: Sequence[Any],
        model: Any,
        leaves: Sequence[tuple[str, Any]],
        missed: Mapping[str, Any],
        is_low: bool,
    ) -> None:
        self._f, self._inputs, self._model = f, inputs, model
        self.names = [name for name, _ in leaves]
        self._leaves = [tensor for _, tensor in leaves]
        self._by_name = dict(leaves) | dict(missed)
        self.is_complex = [tensor.is_complex() for tensor in self._leaves]
        self.is_low = is_low

    def values(self) -> list[Any]:
        return [_array(_in_double(tensor.detach())) for tensor in self._leaves]

    def loss(self, moved: Moved) -> float:
        with self._doubled(moved) as run:
            return float(run().item())

    def gradients(self, moved: Moved) -> tuple[float, list[Any]]:
        with self._doubled(moved) as run:
            loss = run()
            for leaf in self._leaves:
                leaf.grad = None  # the function may have run a backward pass of its own
            loss.backward()
            found = [torch.zeros_like(x) if x.grad is None else x.grad for x in self._leaves]
            return float(loss.item()), [_array(_in_double(grad)) for grad in found]

    def reached_by_chance(self, names: Sequence[str]) -> set[str]:
        """Return those of these leaves that get a gradient when other random numbers are drawn."""
        found: set[str] = set()
        for seed in SEEDS:
            wanted = [name for name in names if name not in found]
            try:
                drew, reached = self._drawn(seed, wanted) if wanted else (False, set())
            except Exception:  # of the reader's function, which ran with the numbers it drew first
                break
            if not drew:
                break
            found |= reached
        return found

    def _drawn(self, seed: int, names: Sequence[str]) -> tuple[bool, set[str]]:
        """Run with this seed; return whether it drew numbers, and which leaves got a gradient.

        In double precision other numbers are drawn, and less is rounded to 0.
        """
        with self._restored() as run:
            torch.manual_seed(seed)
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002
            before = _generators()
            loss = run()
            drew = _generators() != before
            leaves = {name: self._by_name[name] for name in names}
            for leaf in leaves.values():
                leaf.grad = None
            if loss.requires_grad:
                loss.backward()
            grads = {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None}
            return drew, {name for name, grad in grads.items() if grad.to_dense().any()}

    def through_time(self) -> dict[str, list[float]]:
        """Return the norm of the gradient at each step that a recurrent layer reads, by layer."""
        modules = [m for root in roots(self._f, self._model) for m in root.modules()]
        layers = [m for m in dict.fromkeys(modules) if isinstance(m, torch.nn.RNNBase)]
        read: list[tuple[Any, _Steps]] = []
        if not layers:
            return {}
        try:
            with ExitStack() as stack:
                run = stack.enter_context(self._doubled({}))
                for layer in layers:
                    hook = layer.register_forward_pre_hook(partial(_note_steps, read))
                    stack.callback(hook.remove)
                run().backward()
        except Exception:  # of the reader's function, which may not take doubles
            return {}
        names = _by_call([self._name(layer) for layer, _ in read])
        return {name: steps.norms() for name, (_, steps) in zip(names, read, strict=True)}

    def _name(self, layer: Any) -> str:
        """Return a layer's path, as its parameters' names have it."""
        ids = {id(p): name for name, p in layer.named_parameters()}
        for name, tensor in self._by_name.items():
            if id(tensor) in ids:
                return name.removesuffix(ids[id(tensor)]).rstrip(".") or type(layer).__name__
        return str(type(layer).__name__)

    def _tensors(self) -> list[Any]:
        """Return the tensors that we know the function reads."""
        modules = roots(self._f, self._model)
        tensors = [t for m in modules for t in (*m.parameters(), *m.buffers())]
        tensors += [*self._leaves, *tensors_in(self._inputs)]
        tensors += [x for x in referred(self._f) if isinstance(x, torch.Tensor)]
        return list({id(tensor): tensor for tensor in tensors}.values())

    @contextmanager
    def _restored(self) -> Iterator[Callable[[], Any]]:
        """Run the function as it is, and put back what it changes."""
        restoring = Restoring(self._f, self._model)
        with restoring.restoring():
            for tensor in self._tensors():
                if tensor.is_floating_point() or tensor.is_complex():
                    restoring.leaf(tensor)
            with Operations(partial(guarded, restoring)):
                yield lambda: loss_in(self._f(*self._inputs))

    @contextmanager
    def _doubled(self, moved: Moved) -> Iterator[Callable[[], Any]]:
        """Put the leaves, the modules' tensors and the inputs in double precision for a while."""
        restoring = Restoring(self._f, self._model)
        leaves_moved = {id(self._leaves[number]) for number in moved}
        with restoring.restoring():
            for tensor in self._tensors():
                if tensor.is_floating_point() or tensor.is_complex():
                    restoring.leaf(tensor)
                    tensor.grad = None
                    if id(tensor) not in leaves_moved:
                        tensor.data = _in_double(tensor.data)
                else:
                    restoring.note_change(tensor)
            for number, array in moved.items():
                leaf = self._leaves[number]
                given = torch.from_numpy(complexes(array, self.is_complex[number]))
                leaf.data = torch.empty_like(leaf.data, dtype=given.dtype).copy_(given)
            torch.set_default_dtype(torch.float64)
            widening = _Widening(restoring)
            with Operations(widening.operation):
                yield lambda: widening.checked(loss_in(self._f(*self._inputs)))


@dataclass
class _Steps:
    """What a recurrent layer reads in one call: its entries, and how they belong to steps."""

    data: Any
    axis: int = 0
    sizes: Sequence[int] | None = None  # of a packed sequence: the rows of each step

    def norms(self) -> list[float]:
        """Return the norm of the gradient at each step."""
        if self.data.grad is None:
            return []
        sizes = [1] * self.data.shape[self.axis] if self.sizes is None else list(self.sizes)
        return [float(part.norm()) for part in self.data.grad.split(sizes, self.axis)]


def _note_steps(read: list[tuple[Any, _Steps]], layer: Any, args: Any) -> Any:
    """Note what a layer reads, with a gradient, as a hook before its call."""
    given, *others = args
    is_packed = isinstance(given, torch.nn.utils.rnn.PackedSequence)
    data = given.data if is_packed else given
    if not torch.is_grad_enabled():
        return args
    if data.requires_grad:
        data.retain_grad()
    else:
        data = data.detach().requires_grad_()
    if is_packed:
        read.append((layer, _Steps(data, 0, given.batch_sizes.tolist())))
        return given._replace(data=data), *others
    read.append((layer, _Steps(data, int(layer.batch_first and data.dim() == 3))))
    return data, *others


def _by_call(names: Sequence[str]) -> Iterator[str]:
    """Yield the names, and beside those of layers with several calls which call it is."""
    turns: Counter[str] = Counter()
    for name in names:
        turns[name] += 1
        yield name if names.count(name) == 1 else f"{name} (call {turns[name]})"


def _generators() -> tuple[Any, ...]:
    """Return the states of the generators that a function may draw from without naming one."""
    on_gpu = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    states = [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if on_gpu else [])]
    numpys = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    return random.getstate(), str(numpys), *(bytes(state.numpy()) for state in states)


def _in_double(tensor: Any) -> Any:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _array(tensor: Any) -> Any:
    return reals(tensor.to_dense().resolve_conj().resolve_neg().cpu().numpy().copy())


class _Widening:
    """Runs operations in double precision, even where they ask for single precision."""

    def __init__(self, restoring: Restoring) -> None:
        self._restoring = restoring
        self._narrowing = ""  # the first operation that made single precision of double

    def operation(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Run an operation in double precision, for its operands and for the dtype it asks for."""
        if not reinterprets(function):
            args, kwargs = _wide_arguments(function, args, kwargs)
        result = guarded(self._restoring, function, args, kwargs)
        if name_of(function) == "lift_fresh":  # torch.tensor calls it, and no mode sees its dtype
            return _wide(result)
        if any(map(_is_double, tensors_in([args, kwargs]))) and not self._narrowing:
            is_narrow = any(x.dtype in WIDE for x in tensors_in(result))
            self._narrowing = name_of(function) if is_narrow else ""
        return result

    def checked(self, loss: Any) -> Any:
        """Return the loss, if every step on the way to it has double precision."""
        if self._narrowing or not _is_double(loss):
            by = f" in {self._narrowing}" if self._narrowing else ""
            raise NotComparedError(f"the function computes in single precision{by}")
        return loss


def _wide_arguments(function: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Widen tensors and dtypes among the arguments, unless a result may share their memory."""
    shared = shares_memory(function)
    names = [name for name, _ in shared]
    is_shared = dict(shared)
    positional = [x if is_shared[name] else _wide(x) for name, x in zip(names, args, strict=False)]
    return positional, {k: x if is_shared.get(k) else _wide(x) for k, x in kwargs.items()}


def _wide(x: Any) -> Any:
    if isinstance(x, torch.dtype):
        return WIDE.get(x, x)
    if isinstance(x, torch.Tensor):
        return x.to(WIDE.get(x.dtype, x.dtype))
    return [_wide(part) for part in x] if isinstance(x, list | tuple) else x


def _is_double(tensor: Any) -> bool:
    return tensor.dtype in (torch.float64, torch.complex128)
