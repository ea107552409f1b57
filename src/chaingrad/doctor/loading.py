"""Find an engine by its name in a file or a module."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def load(target: str) -> tuple[Any, ModuleType]:
    """The engine at ``file.py:Name`` or ``module:Name``, and the module.

    Raises:
        ValueError: the target has another form, or there is no such file, module or name.
    """
    place, colon, name = target.rpartition(":")
    if not colon or not name.isidentifier():
        raise ValueError(f"say where the engine is, as in my_engine.py:Value; got {target!r}")
    if place.endswith(".py"):
        path = Path(place).resolve()
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or not path.exists():
            raise ValueError(f"there is no file {place}")
        sys.path.insert(0, str(path.parent))
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        # Compiled here: what Python keeps compiled is out of date where a file changes in a second.
        exec(compile(path.read_bytes(), path, "exec"), vars(module))
    else:
        try:
            module = importlib.import_module(place)
        except ModuleNotFoundError as error:
            raise ValueError(f"there is no module {place}: {error}") from None
    if not hasattr(module, name):
        raise ValueError(f"{place} has no {name}")
    return getattr(module, name), module
