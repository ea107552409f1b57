"""The table of models: where each comes from, what is wrong with it, and how to see that plainly.

A model is a function that builds a `Run`. `sound` and `faulty` are its row of the table: the public
description it was written from, the kind of its fault, the places where a reader would look for
it, and a check of the fault by plain PyTorch or JAX. A row that `diagnose` gets wrong says what is
said `today`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

Gradients = dict[str, np.ndarray | None]
STEP = 1e-2  # for differences of losses in float32
TINY = 1e-7  # of the largest gradient: what rounding leaves of a sum that is 0
KINDS = (  # of true faults
    "broadcast loss", "clamped", "constant", "cut", "dead", "exploding", "flat", "nan",
    "no logarithm", "outside", "overflow", "saturated", "softmax over the batch", "stale graph",
    "two sigmoids", "two softmaxes", "unused", "vanishing", "wrong rule", "zero weights",
)  # fmt: skip


@dataclass(frozen=True)
class Run:
    """A loss, its inputs, and the leaves that should learn.

    `model` is a module of PyTorch, or None; `argnums` are the arguments that JAX differentiates;
    `leaves` are tensors that `f` reads and no module knows.
    """

    f: Callable[..., Any]
    inputs: tuple[Any, ...] = ()
    model: Any = None
    argnums: int | tuple[int, ...] | None = None
    leaves: Mapping[str, Any] = field(default_factory=dict)


Check = Callable[[Run], bool]


@dataclass(frozen=True)
class Model:
    """A row of the table. A sound model has no fault; `checks` says what is checked plainly."""

    name: str
    source: str
    build: Callable[[], Run]
    checks: tuple[Check, ...]
    fault: str | None = None
    where: tuple[str, ...] = ()
    today: str | None = None


MODELS: dict[str, Model] = {}
DAILY = (  # those that each run of the tests takes; the others are for the long one
    "zero_bias_and_padding_rows",
    "attention_over_padded_keys",
    "twenty_sigmoid_layers",
    "attention_row_masked_and_not_read",
    "jax_where_after_a_root",
    "rule_without_its_factor_on_an_argument",
)


def daily(*, strict: bool = False) -> list[Any]:
    """Return the models as parameters of a test, those that aren't `DAILY` marked as full.

    With `strict`, those that are judged wrongly today are expected to fail.
    """
    return [
        pytest.param(model, id=name, marks=_marks(model, strict)) for name, model in MODELS.items()
    ]


def _marks(model: Model, strict: bool) -> list[pytest.MarkDecorator]:
    full = [] if model.name in DAILY else [pytest.mark.full]
    wrong = strict and model.today is not None
    return full + ([pytest.mark.xfail(reason=model.today, strict=True)] if wrong else [])


def _add(model: Model) -> None:
    assert model.name not in MODELS
    assert model.fault is None or model.fault in KINDS
    MODELS[model.name] = model


def sound(
    source: str,
    still: str = "",
    *,
    smooth: bool = True,
    today: str | None = None,
) -> Callable[[Callable[[], Run]], Callable[[], Run]]:
    """Add a sound model. `still` names leaves, by spaces, that get nothing on purpose.

    The gradients of a model that isn't `smooth` at its point aren't held to differences.
    """

    def add(build: Callable[[], Run]) -> Callable[[], Run]:
        checks = (learns(*still.split()),) + ((agrees,) if smooth else ())
        _add(Model(build.__name__, source, build, checks, today=today))
        return build

    return add


def faulty(
    source: str,
    fault: str,
    where: str,
    *checks: Check,
    today: str | None = None,
) -> Callable[[Callable[[], Run]], Callable[[], Run]]:
    """Add a model whose `fault` a finding may place at any of `where`, divided by bars."""

    def add(build: Callable[[], Run]) -> Callable[[], Run]:
        places = tuple(where.split("|"))
        _add(Model(build.__name__, source, build, checks, fault, places, today))
        return build

    return add


def leaves_of(run: Run) -> dict[str, Any]:
    """Return the tensors or arrays that should learn, by name."""
    if run.argnums is not None:
        return dict(_arrays(run))
    named = dict(run.model.named_parameters()) if run.model is not None else {}
    inputs = {
        f"input {place}": given
        for place, given in enumerate(run.inputs)
        if getattr(given, "requires_grad", False)
    }
    return {
        name: leaf for name, leaf in {**named, **inputs, **run.leaves}.items() if leaf.requires_grad
    }


def _arrays(run: Run) -> Iterator[tuple[str, Any]]:
    import jax

    chosen = (run.argnums,) if isinstance(run.argnums, int) else run.argnums or ()
    for place in chosen:
        for path, leaf in jax.tree_util.tree_leaves_with_path(run.inputs[place]):
            yield f"{place}{jax.tree_util.keystr(path)}", leaf


def gradients(run: Run) -> Gradients:
    """Return what plain `backward()` or `jax.grad` gives each leaf; None is no gradient."""
    if run.argnums is not None:
        return dict(_array_gradients(run))
    leaves = leaves_of(run)
    for leaf in leaves.values():
        leaf.grad = None
    run.f(*run.inputs).backward()
    return {name: _numbers(leaf.grad) for name, leaf in leaves.items()}


def _numbers(grad: Any) -> np.ndarray | None:
    if grad is None:
        return None
    dense = grad.to_dense() if grad.is_sparse else grad
    return np.array((dense if dense.is_complex() else dense.double()).numpy())


def _array_gradients(run: Run) -> Iterator[tuple[str, np.ndarray]]:
    import jax

    chosen = (run.argnums,) if isinstance(run.argnums, int) else run.argnums or ()
    found = jax.jit(jax.grad(run.f, argnums=chosen))(*run.inputs)
    for place, tree in zip(chosen, found, strict=True):
        for path, grad in jax.tree_util.tree_leaves_with_path(tree):
            yield f"{place}{jax.tree_util.keystr(path)}", np.asarray(grad, dtype=float)


def slopes(run: Run, *names: str) -> Iterator[tuple[float, float]]:
    """Yield each leaf's derivative along a direction: by `gradients`, and by differences."""
    found, leaves = gradients(run), leaves_of(run)
    for name in names:
        direction = np.random.default_rng(0).standard_normal(tuple(leaves[name].shape))
        grad = found[name]
        given = 0.0 if grad is None else float(np.sum(np.real(grad) * direction))
        ends = [_loss_beside(run, name, sign * STEP * direction) for sign in (1, -1)]
        yield given, (ends[0] - ends[1]) / (2 * STEP)


def _loss_beside(run: Run, name: str, change: np.ndarray) -> float:
    if run.argnums is not None:
        return _loss_beside_array(run, name, change)
    import torch

    leaf = leaves_of(run)[name]
    kept = leaf.data.clone()
    leaf.data.add_(torch.as_tensor(change).to(leaf.dtype))
    try:
        return float(run.f(*run.inputs).detach())
    finally:
        leaf.data.copy_(kept)


def _loss_beside_array(run: Run, name: str, change: np.ndarray) -> float:
    import jax

    def moved(place: int, path: Any, leaf: Any) -> Any:
        return np.asarray(leaf) + change if f"{place}{jax.tree_util.keystr(path)}" == name else leaf

    given = [
        jax.tree_util.tree_map_with_path(partial(moved, place), argument)
        for place, argument in enumerate(run.inputs)
    ]
    return float(jax.jit(run.f)(*given))


def agrees(run: Run) -> bool:
    """Whether each leaf's gradient is the slope of the loss."""
    pairs = slopes(run, *leaves_of(run))
    return all(np.isclose(given, seen, rtol=0.03, atol=3e-3) for given, seen in pairs)


def learns(*still: str) -> Check:
    """Check that each leaf gets a finite gradient, and all but `still` one that isn't 0."""

    def check(run: Run) -> bool:
        found = gradients(run)
        assert set(still) <= set(found), (still, list(found))
        sizes = {name: 0.0 if g is None else np.abs(g).max() for name, g in found.items()}
        least = TINY * max(sizes.values())
        return bool(np.isfinite(list(sizes.values())).all()) and all(
            size <= least if name in still else size > 0 for name, size in sizes.items()
        )

    return check


def missing(*names: str) -> Check:
    """Check that leaves get no gradient at all, not even zeros."""
    return lambda run: all(gradients(run)[name] is None for name in names)


def zero(*names: str) -> Check:
    """Check that leaves get a gradient of zeros."""

    def check(run: Run) -> bool:
        found = gradients(run)
        return all(found[name] is not None and not np.any(found[name]) for name in names)

    return check


def rows_zero(name: str, *rows: int) -> Check:
    """Check that these rows, and no other, of a leaf's gradient are all 0."""

    def check(run: Run) -> bool:
        found = gradients(run)[name]
        assert found is not None
        still = ~found.reshape(len(found), -1).any(axis=1)
        return set(np.flatnonzero(still)) == set(rows)

    return check


def nan(*names: str) -> Check:
    """Check that leaves get a gradient with entries that are not finite."""

    def check(run: Run) -> bool:
        found = gradients(run)
        return all(found[name] is not None and not np.isfinite(found[name]).all() for name in names)

    return check


def finite_loss(run: Run) -> bool:
    """Whether the loss itself shows nothing."""
    value = run.f(*run.inputs)
    return bool(np.isfinite(float(value.detach() if run.argnums is None else value)))


def smaller(first: str, last: str, times: float = 1e6) -> Check:
    """Check that a leaf's largest gradient is `times` smaller than another's, and not 0."""

    def check(run: Run) -> bool:
        found = gradients(run)
        sizes = [float(np.abs(found[name]).max()) for name in (first, last)]
        return 0 <= sizes[0] * times < sizes[1]

    return check


def wrong(*names: str) -> Check:
    """Check that the gradients of leaves are not the slope of the loss."""
    return lambda run: not any(np.isclose(*pair, rtol=0.1) for pair in slopes(run, *names))


def unlisted(*names: str) -> Check:
    """Check that `model.parameters()` lacks leaves that get a gradient."""

    def check(run: Run) -> bool:
        found, listed = gradients(run), dict(run.model.named_parameters())
        return all(found[name] is not None and name not in listed for name in names)

    return check


def raises(words: str) -> Check:
    """Check that the backward pass fails, and in which words."""

    def check(run: Run) -> bool:
        try:
            gradients(run)
        except RuntimeError as error:
            return words in str(error)
        return False

    return check
