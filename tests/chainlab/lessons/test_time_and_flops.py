"""What *Time and FLOPs* draws: the products of a step, and a step over its bare products."""

from itertools import pairwise

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from chainlab.lessons.time_and_flops import INPUTS, OUTPUTS, products, step_over_products, written
from tests.support import each


@each(("n", "width", "depth"), [(1, 16, 1), (3, 32, 2), (5, 16, 4)])
@pytest.mark.parametrize("asked", [False, True])
def test_the_products_are_those_that_pytorch_calls(
    asked: bool, n: int, width: int, depth: int
) -> None:
    sizes = [INPUTS, *[width] * (depth - 1), OUTPUTS]
    A = torch.ones(n, INPUTS, requires_grad=asked)
    with FlopCounterMode(display=False) as forward:
        for fan_in, fan_out in pairwise(sizes):
            A = (A @ torch.ones(fan_out, fan_in, requires_grad=True).T).relu()
        loss = A.sum()
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    step = products(n, width, depth, input_gradient=asked)
    assert forward.get_total_flops() == sum(layer.forward for layer in step)
    assert backward.get_total_flops() == sum(layer.weights + layer.inputs for layer in step)


@each(
    ("flops", "expected"),
    [
        (320, "320"),
        (1000, "1.00 k"),
        (999_999, "1.00 M"),
        (12_845_056, "12.8 M"),
        (1.1e12, "1.10 T"),
    ],
)
def test_a_number_has_three_digits(flops: float, expected: str) -> None:
    assert written(flops) == expected


@pytest.mark.slow
def test_a_small_step_spends_its_time_beside_the_products() -> None:
    """Measured are 5 to 13 and 1.1 to 1.3; a factor of two is left for the machine."""
    assert step_over_products(16, turns=5) > 2 * step_over_products(512, turns=5)
