"""Rows of models, and how to see by plain PyTorch or JAX that a row is true."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chainview.frameworks import Diagnosis, diagnose, watch_jax, watch_torch

REFUSED = "refused"
STEP = 1e-2  # for differences of losses in float32


@dataclass(frozen=True)
class Run:
    """A loss, its inputs, and what should learn: a module, JAX's arguments, or tensors by name."""

    f: Callable[..., Any]
    inputs: tuple[Any, ...] = ()
    model: Any = None
    argnums: int | tuple[int, ...] | None = None
    leaves: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A model that is sound, or has a fault of a kind, which shows at some leaves.

    Attributes:
        build: makes it.
        kind: what `diagnose` has to say, and nothing else but what is in ``also``.
        where: words one of which has to be in the place, and the names of leaves begin with.
        also: a symptom that follows from the fault.
    """

    build: Callable[[], Run]
    kind: str = ""
    where: tuple[str, ...] = ()
    also: str = ""


def diagnosed(run: Run) -> Diagnosis:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is wrong, on purpose
        if run.argnums is not None:
            return diagnose(watch_jax(run.f, *run.inputs, argnums=run.argnums))
        return diagnose(watch_torch(run.f, *run.inputs, model=run.model))


def findings(run: Run) -> list[tuple[str, str]]:
    """Return what is said, of what: an error is a finding, too, for the reader gets its message."""
    try:
        return [(symptom.kind, symptom.where) for symptom in diagnosed(run).symptoms]
    except RuntimeError as error:
        return [(REFUSED, str(error))]


# --- the truth, by plain passes and differences -------------------------------------------------


def gradients(run: Run) -> dict[str, Any]:
    """Return what plain `backward()` or `jax.grad` gives each leaf; None is no gradient."""
    if run.argnums is not None:
        return dict(_of_arrays(run))
    named = dict(run.model.named_parameters()) if run.model is not None else {}
    inputs = {f"input {i}": x for i, x in enumerate(run.inputs)}
    leaves = {n: x for n, x in {**named, **inputs, **run.leaves}.items() if x.requires_grad}
    for leaf in leaves.values():
        leaf.grad = None
    run.f(*run.inputs).backward()
    grads = {name: leaf.grad for name, leaf in leaves.items()}
    return {n: None if g is None else np.asarray(g.to_dense().cpu()) for n, g in grads.items()}


def _of_arrays(run: Run) -> Iterator[tuple[str, Any]]:
    import jax

    chosen = (run.argnums,) if isinstance(run.argnums, int) else run.argnums
    found = jax.jit(jax.grad(run.f, argnums=chosen))(*run.inputs)
    for tree, place in zip(found, chosen or (), strict=True):
        for path, grad in jax.tree_util.tree_leaves_with_path(tree):
            yield f"{place}{jax.tree_util.keystr(path)}", np.asarray(grad)


def _slopes(run: Run) -> tuple[float, float]:
    """Return the loss's slope along a direction of all leaves: by gradients, by differences."""
    import torch

    found = {name: g for name, g in gradients(run).items() if g is not None}
    drawn = {n: np.random.default_rng(0).standard_normal(np.shape(g)) for n, g in found.items()}
    given = sum(float((g * drawn[name]).sum()) for name, g in found.items())
    ends = []
    for sign in (1, -1):
        if run.argnums is not None:
            (place,) = (run.argnums,) if isinstance(run.argnums, int) else run.argnums[-1:]
            own = list(run.inputs)
            own[place] = own[place] + sign * STEP * drawn[str(place)]
            ends.append(float(run.f(*own)))
            continue
        named = {**run.leaves, **dict(run.model.named_parameters() if run.model else ())}
        named |= {f"input {i}": x for i, x in enumerate(run.inputs)}
        with torch.no_grad():
            before = {name: named[name].clone() for name in found}
            for name in found:
                named[name].add_(torch.tensor(sign * STEP * drawn[name]))
            ends.append(float(run.f(*run.inputs)))
            for name, held in before.items():
                named[name].copy_(held)
    return given, (ends[0] - ends[1]) / (2 * STEP)


def shows(row: Row) -> bool:
    """Whether a model has its row's fault by plain passes, without a word of `diagnose`."""
    run = row.build()
    if row.kind == REFUSED:
        try:
            gradients(run)
        except RuntimeError as error:
            return "second time" in str(error)
        return False
    if row.kind == "wrong gradient":
        return not np.isclose(*_slopes(run), rtol=0.05)
    grads = gradients(run)
    own = {n: g for n, g in grads.items() if any(n.startswith(word) for word in row.where)}
    if row.kind == "no gradient":
        return bool(own) and all(g is None or not g.any() for g in own.values())
    sizes = {n: np.abs(g).max() for n, g in grads.items() if g is not None}
    if row.kind == "not finite":
        return not np.isfinite(list(sizes.values())).all()
    if row.kind == "dead units":
        rows = next(iter(own.values()))
        return 1 < sum(not each.any() for each in rows) < len(rows)
    if row.kind == "zero":
        return bool(own) and all(sizes[n] <= 1e-4 * max(sizes.values()) for n in own)
    return 1e6 * min(sizes.values()) < max(sizes.values())  # vanishing, exploding
