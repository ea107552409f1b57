"""`diagnose` finds nothing in models of libraries, at their start and after fifty steps.

The libraries are none of the pinned packages: the weekly run installs them.
"""

import warnings

import pytest
import torch

from tests.corpus.libraries.table import LIBRARY_MODELS
from tests.corpus.models.table import Run, diagnosed


@pytest.mark.full
@pytest.mark.parametrize("steps", [0, 50])
@pytest.mark.parametrize("name", LIBRARY_MODELS, ids=" ".join)
def test_no_false_finding(name: tuple[str, str], steps: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the libraries' own
        pytest.importorskip(name[0])
        run = LIBRARY_MODELS[name]()
        if run.model is not None:
            train(run, steps)
        found = diagnosed(run)
    assert not found.symptoms, str(found)


def train(run: Run, steps: int) -> None:
    """Take some steps of descent on the run's one batch."""
    optimizer = torch.optim.Adam(run.model.parameters(), lr=1e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        run.f(*run.inputs).backward()
        optimizer.step()
    optimizer.zero_grad()
