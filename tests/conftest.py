"""Fixtures and rules that every test shares."""

import os
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings

# Deadlines measure the machine, not the code; the same examples each time make a red run repeatable.
settings.register_profile("chaingrad", deadline=None, derandomize=True)
settings.load_profile("chaingrad")

ROOT = Path(__file__).resolve().parent.parent


def lacking(what: str) -> NoReturn:
    """Skip a test that wants what this machine lacks; continuous integration must not lack it."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}: needed when CI=true")
    pytest.skip(what)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
