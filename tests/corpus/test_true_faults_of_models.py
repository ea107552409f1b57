"""Each model of the table is what its row says, by plain PyTorch and JAX."""

import warnings
from collections import Counter

import pytest

from tests.corpus.models import faulty_torch, in_jax, sound_torch  # noqa: F401
from tests.corpus.models.table import MODELS, Model, daily


def test_table_is_large_and_from_many_places() -> None:
    kinds = Counter(model.fault is None for model in MODELS.values())
    assert kinds[True] >= 25
    assert kinds[False] >= 35
    assert len({model.source.split("/")[2] for model in MODELS.values()}) >= 10


@pytest.mark.parametrize("model", daily())
def test_row_is_true(model: Model) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is wrong, on purpose
        run = model.build()
        assert [check(run) for check in model.checks] == [True] * len(model.checks)
