"""What tests of the grader need of the machine."""

import pytest

from coursework.sandbox.host import why_not_isolated
from tests.support import lacking


@pytest.fixture(scope="module")
def isolated() -> None:
    """Leaves out what runs submissions where the machine cannot isolate them."""
    if reason := why_not_isolated():
        lacking(f"user namespaces ({reason})")
