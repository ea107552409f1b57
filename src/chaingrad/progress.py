"""An older name for `chaingrad.notebook`."""

from chaingrad.notebook import OneLine

__all__ = ["OneLine"]
