"""Files that others, or a later run, may read while they are written."""

import os
import threading
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all, however this process ends."""
    part = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
