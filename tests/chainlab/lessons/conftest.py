"""What lessons draw, as it is told to those who don't see it."""

import pytest

from chainview.plots import Plot


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is told of each plot."""
    told: list[str] = []
    monkeypatch.setattr(Plot, "show", lambda _, alt: told.append(alt))
    return told
