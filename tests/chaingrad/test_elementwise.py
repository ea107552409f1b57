"""The error function of arrays, held to the standard library's over its whole domain."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaingrad import erf

# At most half a unit in the last place for dtypes that are computed in float64, and two in float64.
UNITS = {np.float64: 2, np.float32: 0.51, np.float16: 0.51}
WHOLE = st.lists(st.floats(width=16) | st.floats(width=32) | st.floats(), min_size=1)
STEEP = st.lists(st.floats(-7, 7), min_size=1)


@pytest.mark.parametrize("dtype", UNITS)
@given(values=WHOLE | STEEP)
def test_erf_is_that_of_the_standard_library(dtype: Any, values: list[float]) -> None:
    with np.errstate(over="ignore", under="ignore"):
        x = np.array(values).astype(dtype)
    found = erf(x).data
    assert found.dtype == dtype
    assert found.shape == x.shape
    expected = np.array([math.erf(v) for v in x.tolist()])
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))
    unit = np.spacing(abs(expected[known]).astype(dtype)).astype(float)
    assert (abs(found[known].astype(float) - expected[known]) <= UNITS[dtype] * unit).all()


def test_erf_is_as_exact_between_all_places_of_its_table() -> None:
    x = np.linspace(-6.1, 6.1, 100_001)
    expected = np.array([math.erf(v) for v in x.tolist()])
    assert (abs(erf(x).data - expected) <= 2 * np.spacing(abs(expected))).all()
    assert erf(np.array([-np.inf, -6.0, 6.0, np.inf])).data.tolist() == [-1.0, -1.0, 1.0, 1.0]
