"""The figure's states and bytes, against the rules of placement on the same products."""

import numpy as np
import pytest

from chaingrad import Node
from chainlab.lessons.many_devices import DEVICES, PRODUCTS, SIZES, cut_along, written
from chainlab.lessons.placement import COLUMNS, ROWS, place
from tests.support import each


@pytest.mark.parametrize("axis", "ndh")
@pytest.mark.parametrize("devices", DEVICES)
def test_the_states_are_those_of_the_rules(axis: str, devices: int) -> None:
    for product, cut in zip(PRODUCTS, cut_along(axis, devices, n=5), strict=True):
        sizes = SIZES | {"n": 5}
        (_, a), (_, b), (_, out) = product
        A, B = (Node(np.ones([sizes[k] for k in axes])) for axes in (a, b))
        leaves = {
            node: ROWS if axes[0] == axis else COLUMNS
            for node, axes in ((A, a), (B, b))
            if axis in axes
        }
        result = A @ B
        states, reduced = place([result], leaves if devices > 1 else {})
        assert cut.states[:2] == (states[A], states[B])
        assert cut.states[2] == ("partial" if reduced else states[result])
        entries = sizes[out[0]] * sizes[out[1]]
        assert cut.sent == (2 * (devices - 1) / devices * 4 * entries if reduced else 0)


@pytest.mark.parametrize("axis", "ndh")
def test_exactly_one_of_the_three_is_partial(axis: str) -> None:
    states = [cut.states[2] for cut in cut_along(axis, 4)]
    assert states.count("partial") == 1
    assert "whole" not in states


@each(("number", "expected"), [(131_072, "131 kB"), (1_835_008, "1.84 MB"), (999_999, "1.00 MB")])
def test_bytes_have_three_digits(number: float, expected: str) -> None:
    assert written(number) == expected
