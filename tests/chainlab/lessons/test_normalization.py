"""What *Normalization* draws: the parts that a layer norm deletes, and what is left."""

import numpy as np
import torch

from chainlab.lessons.normalization import EPS, parts
from tests.support import each


@each("seed", range(5))
def test_the_parts_are_all_of_the_gradient(seed: int) -> None:
    x, d = np.random.default_rng(seed).normal(size=(2, 4))
    found = parts(x, d)
    t = torch.tensor(x, requires_grad=True)
    y = torch.nn.functional.layer_norm(t, (4,), eps=EPS)
    y.backward(torch.tensor(d))
    np.testing.assert_allclose(found["hat"], y.detach())
    np.testing.assert_allclose(found["out"], t.grad)
    assert np.ptp(found["mean"]) == 0
    assert abs(np.linalg.det([found["along"][:2], found["hat"][:2]])) < 1e-12
