"""`diagnose` finds nothing in models of libraries, at their start and after fifty steps.

The libraries are none of the pinned packages: the weekly run installs them.
"""

import warnings
from typing import Any

import pytest

from tests.corpus.libraries.table import Row, parameters
from tests.corpus.models.judge import diagnosed
from tests.corpus.models.table import Run

RATE = 1e-3


@pytest.mark.full
@pytest.mark.parametrize(("row", "steps"), parameters())
def test_no_false_finding(row: Row, steps: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the libraries' own
        pytest.importorskip(row.library)
        found = diagnosed(trained(row.build(), steps))
    assert not found.symptoms, str(found)


def trained(run: Run, steps: int) -> Run:
    """Return a run after some steps of descent on its one batch."""
    return _trained_arrays(run, steps) if run.argnums is not None else _trained_module(run, steps)


def _trained_module(run: Run, steps: int) -> Run:
    import torch

    torch.manual_seed(0)
    optimizer = torch.optim.Adam(run.model.parameters(), lr=RATE)
    for _ in range(steps):
        optimizer.zero_grad()
        run.f(*run.inputs).backward()
        optimizer.step()
    optimizer.zero_grad()
    return run


def _trained_arrays(run: Run, steps: int) -> Run:
    import jax

    @jax.jit
    def step(parameters: Any) -> Any:
        grads = jax.grad(run.f)(parameters, *run.inputs[1:])
        return jax.tree.map(lambda value, grad: value - 0.05 * grad, parameters, grads)

    parameters = run.inputs[0]
    for _ in range(steps):
        parameters = step(parameters)
    return Run(run.f, (parameters, *run.inputs[1:]), argnums=0)
