"""What several test modules need."""

import os
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parent.parent


def lacking(what: str) -> NoReturn:
    """Skip a test that wants what this machine lacks; continuous integration must not lack it."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"this machine lacks {what}, which tests need when CI=true")
    pytest.skip(f"this machine lacks {what}")
