"""Find an engine by its name in a file or a module."""

import functools
import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


def load(target: str) -> tuple[Any, ModuleType]:
    """Return the engine at ``file.py:Name`` or ``module:Name``, and the module; run a file anew.

    Raises:
        ValueError: the target has another form, or there is no such file, module or name.
    """
    place, colon, name = target.rpartition(":")
    if not colon or not name.isidentifier():
        raise ValueError(f"say where the engine is, as in my_engine.py:Value; got {target!r}")
    module = _run(place) if is_file(target) else _imported(place)
    if not hasattr(module, name):
        raise ValueError(f"{place} has no {name}")
    return getattr(module, name), module


def is_file(target: str) -> bool:
    """Return whether a target names a file, and not a module."""
    return target.rpartition(":")[0].endswith(".py")


def _run(place: str) -> ModuleType:
    """Run a file as a new module, and import the modules beside it anew; return the module."""
    path = Path(place).resolve()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or not path.exists():
        raise ValueError(f"there is no file {place}")
    if sys.path[:1] != [str(path.parent)]:
        sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    before = {*sys.modules, path.stem}
    sys.modules[path.stem] = module
    exec(_compiled(path.read_bytes(), path), vars(module))
    new = set(sys.modules) - before
    beside = _modules_in(new, path.parent) - before
    for name in new:
        if name.partition(".")[0] in beside:
            del sys.modules[name]
    return module


@functools.lru_cache(maxsize=1)
def _compiled(source: bytes, path: Path) -> CodeType:
    """Compile a source ourselves: Python's cache is out of date if a file changes in a second."""
    return compile(source, path, "exec")


def _modules_in(names: Iterable[str], folder: Path) -> set[str]:
    """Return the first names of the modules and packages that lie in a folder."""
    roots = {name.partition(".")[0] for name in names}
    files = {root: Path(getattr(sys.modules.get(root), "__file__", None) or "") for root in roots}
    return {root for root, file in files.items() if folder in (file.parent, file.parent.parent)}


def _imported(place: str) -> ModuleType:
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        raise ValueError(f"there is no module {place}: {error}") from None
