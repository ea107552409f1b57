"""What `make lab` adds to the reader's own Jupyter settings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.lab import PageManager

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.ServerApp.contents_manager_class = PageManager
