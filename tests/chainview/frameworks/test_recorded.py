"""Tensors summed up where they lie, as NumPy's arrays are."""

import numpy as np
import pytest
import torch

from chainview.frameworks.recorded import TensorStore, same, summed_up
from chainview.frameworks.run import Summary, summary

TENSORS = {
    "usual": torch.randn(40, 3),
    "small": torch.full((9,), 1e-30),
    "large": torch.full((9,), 1e30),
    "not a number": torch.tensor([1.0, float("nan"), 2.0] * 4),
    "infinite": torch.tensor([1.0, -float("inf"), 2.0] * 4),
    "half": torch.randn(20, dtype=torch.float16),
    "whole": torch.arange(-12, 3),
    "truth": torch.tensor([True, False] * 5),
    "sparse": torch.eye(5).to_sparse(),
    "none": torch.zeros(0, 3),
    "double": torch.full((9,), 1e-200, dtype=torch.float64),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_is_summed_up_as_an_array_is(name):
    tensor = TENSORS[name]
    ours, right = summed_up(tensor), summary(tensor.to_dense().numpy())
    assert (ours.shape, ours.dtype, ours.is_finite) == (right.shape, right.dtype, right.is_finite)
    assert (ours.norm, ours.largest) == pytest.approx(
        (right.norm, right.largest), rel=1e-5, abs=0.0, nan_ok=True
    )


def test_complex_numbers_by_their_absolute_values():
    assert summed_up(torch.tensor([3 + 4j] * 9)).largest == pytest.approx(5.0)


def test_a_full_book_keeps_summaries_of_all_and_few_entries():
    book = TensorStore(100)
    entries = [book.store(torch.ones(n)) for n in (3, 20, 2, 30, 4)]
    kinds = [type(entry.number()) for entry in entries]
    assert kinds == [np.ndarray, Summary, np.ndarray, Summary, np.ndarray]
    assert book.is_full


def test_what_shows_changed_memory_is_copied_before():
    from chainview.frameworks.private import storage_key

    book, x = TensorStore(10**6), torch.zeros(4)
    entries = book.store(x), book.store(x[1:])
    book.before_change(storage_key(x))
    x.add_(1.0)
    assert [entry.number().sum() for entry in (*entries, book.store(x))] == [0.0, 0.0, 4.0]


def test_equal_to_the_bit_with_what_is_no_number():
    nan = float("nan")
    assert same(torch.tensor([nan, 1.0]), torch.tensor([nan, 1.0]))
    assert not same(torch.tensor([nan, 1.0]), torch.tensor([1.0, nan]))
    assert not same(torch.ones(2), torch.ones(2, dtype=torch.float64))
