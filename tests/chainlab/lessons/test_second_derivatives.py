"""What *Second derivatives* draws: where the two steps end, and the heights in the picture."""

import numpy as np
import pytest
import torch
from torch.autograd.functional import hessian, jacobian

from chainlab.lessons.second_derivatives import SURFACES, landings, two_steps
from tests.support import each


@each("name", [*SURFACES])
def test_steps_end_where_pytorchs_derivatives_lead(name: str) -> None:
    surface = SURFACES[name]
    rng = np.random.default_rng(0)
    for at in rng.uniform(-1, 1, (5, 2)):
        x = torch.tensor(at)
        slope = jacobian(surface.loss, x)
        newton = x - torch.linalg.solve(hessian(surface.loss, x), slope)
        ours = landings(surface, tuple(at), 0.03)
        np.testing.assert_allclose(ours[0], x - 0.03 * slope, rtol=1e-9)
        np.testing.assert_allclose(ours[1], newton, rtol=1e-9, atol=1e-12)


def test_marked_minima_are_flat_and_lower_than_what_is_round_them() -> None:
    for surface in SURFACES.values():
        for x in surface.minima:
            at = torch.tensor(x, dtype=torch.float64)
            assert not jacobian(surface.loss, at).any()
            assert (torch.linalg.eigvalsh(hessian(surface.loss, at)) > 0).all()


@pytest.mark.parametrize("named", ["narrow bowl", "4.120", "2.942"])
def test_the_picture_says_where_it_begins(named: str) -> None:
    assert named in str(two_steps())
