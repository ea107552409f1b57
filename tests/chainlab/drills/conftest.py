"""What the page computes with."""

import pytest
from py_mini_racer import MiniRacer

from tests.support import LOGIC


@pytest.fixture(scope="module")
def page():
    """What the page computes with, without a page."""
    engine = MiniRacer()
    engine.eval(LOGIC)
    return engine
