"""The valley's formulas are the engine's."""

import pytest

from chainlab.lessons.engine import Node
from chainlab.lessons.valley import gradient_at, loss_at, z_where


@pytest.mark.parametrize("knobs", [(0.5, -0.2), (-0.6, -1.1), (1.6, 0.6), (0.277, -0.349)])
def test_the_loss_and_its_gradient_are_the_engines(knobs: tuple[float, float]) -> None:
    w, b = map(Node, knobs)
    z = w * 1.5 + b
    loss = (z + z.tanh() - 0.2) ** 2
    loss.backward()
    assert loss_at(*knobs) == pytest.approx(loss.data)
    assert gradient_at(*knobs) == pytest.approx((w.grad, b.grad))


@pytest.mark.parametrize("error", [-3.0, 0.0, 1.5])
def test_a_contour_has_its_loss(error: float) -> None:
    assert loss_at(1.0, z_where(error) - 1.5) == pytest.approx(error**2)
