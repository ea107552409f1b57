"""Plain data as bytes, to and from a process that is not trusted.

A message is a JSON tree followed by the raw bytes of its arrays; nothing in it is ever executed or
looked up by name. Plain data are `None`, booleans, numbers, strings, arrays of numbers, and lists,
tuples and dicts of these. `decode` accepts exactly that, within limits, and nothing else.
"""

import importlib.util
import json
import math
import struct
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from coursework.sources import package


def _checks() -> ModuleType:
    """Load `chaingrad.checks` by itself: the engine beside it may have to stay out of memory."""
    path = package("chaingrad") / "checks.py"
    spec = importlib.util.spec_from_file_location(f"{__name__}.checks", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


checks = _checks()
DEPTH, KEY_BOUND, PLAIN = checks.DEPTH, checks.KEY_BOUND, checks.PLAIN

PREFIX = struct.Struct(">IQ")  # bytes of the tree, bytes of the arrays
MOST_BYTES = 2**26  # of a message, where no smaller bound is given

_ARRAYS = {
    np.dtype(code).str: np.dtype(code)
    for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
}


class WireError(ValueError):
    """What should cross is not plain data, or too large, or not a message at all."""


def encode(value: Any, most: int = MOST_BYTES) -> bytes:
    """Encode plain data; raise `WireError` for anything else or for more than `most` bytes.

    >>> decode(encode({"dW": np.ones((1, 2)), "order": ("a", "b")}))
    {'dW': array([[1., 1.]]), 'order': ('a', 'b')}
    """
    arrays: list[bytes] = []
    tree = json.dumps(_flatten(value, arrays, 0, most), separators=(",", ":")).encode()
    size = sum(map(len, arrays))
    if len(tree) + size > most:
        raise WireError(f"the result is too large: at most {most >> 10} KiB")
    return PREFIX.pack(len(tree), size) + tree + b"".join(arrays)


def decode(message: bytes) -> Any:
    """Decode a message, which may come from anyone; raise `WireError` if it is not valid."""
    try:
        tree_bytes, array_bytes = PREFIX.unpack_from(message)
        start = PREFIX.size + tree_bytes
        if len(message) != start + array_bytes:
            raise WireError("the sizes of the message do not add up")
        tree = json.loads(message[PREFIX.size : start])
        arrays = memoryview(message)[start:]
        value, used = _build(tree, arrays, 0, 0)
        if used != array_bytes:
            raise WireError("bytes were left over")
    except WireError:
        raise
    except Exception as error:  # a hostile message may raise any error
        raise WireError("not a message") from error
    return value


def _flatten(value: Any, arrays: list[bytes], depth: int, most: int) -> Any:
    """Return the tree of a value: every list in it starts with a tag; arrays go to `arrays`."""
    if depth > DEPTH:
        raise WireError(f"the result is nested more than {DEPTH} levels deep")
    if isinstance(value, str) and len(value) > most:
        raise WireError(f"a string is too large: at most {most >> 10} KiB")
    if isinstance(value, (np.ndarray, np.generic)):
        return _flatten_array(np.asarray(value), arrays, most)
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, complex):
        return ["c", value.real, value.imag]
    if isinstance(value, (list, tuple)):
        tag = "l" if isinstance(value, list) else "t"
        return [tag, *(_flatten(item, arrays, depth + 1, most) for item in value)]
    if isinstance(value, dict):
        pairs = value.items()
        return ["d", *(_flatten_pair(key, item, arrays, depth + 1, most) for key, item in pairs)]
    raise WireError(f"{type(value).__name__} is not {PLAIN}")


def _flatten_pair(key: Any, item: Any, arrays: list[bytes], depth: int, most: int) -> list[Any]:
    if not _is_key(key):
        raise WireError(f"the key {key!r:.50} is neither a string nor a small integer")
    return [_flatten(key, arrays, depth, most), _flatten(item, arrays, depth, most)]


def _flatten_array(array: np.ndarray, arrays: list[bytes], most: int) -> Any:
    little = array.dtype.newbyteorder("<") if array.dtype.byteorder == ">" else array.dtype
    if little.str not in _ARRAYS:
        raise WireError(f"an array of dtype {array.dtype} is not plain data: numbers are")
    if array.nbytes > most:
        raise WireError(f"an array of shape {array.shape} is too large: at most {most >> 10} KiB")
    arrays.append(array.astype(little).tobytes())
    return ["a", little.str, *array.shape]


def _build(node: Any, arrays: memoryview, used: int, depth: int) -> tuple[Any, int]:
    if depth > DEPTH:
        raise WireError("nested too deep")
    if isinstance(node, str):
        # A lone surrogate would make every file that quotes it unwritable.
        return node.encode("utf-8", "backslashreplace").decode(), used
    if node is None or isinstance(node, (bool, int, float)):
        return node, used
    if not isinstance(node, list) or not node:
        raise WireError("an untagged node")
    tag, *items = node
    if tag == "c":
        real, imaginary = items
        return complex(real, imaginary), used
    if tag == "a":
        return _build_array(items, arrays, used)
    if tag == "d":
        return _build_dict(items, arrays, used, depth)
    sequence: Callable[[list[Any]], Any] = {"l": list, "t": tuple}[tag]
    values = []
    for item in items:
        value, used = _build(item, arrays, used, depth + 1)
        values.append(value)
    return sequence(values), used


def _is_key(key: Any) -> bool:
    """Accept a string or a small integer: larger ones could share a hash and cost endless time."""
    return isinstance(key, str) or (isinstance(key, int) and abs(key) < KEY_BOUND)


def _build_dict(
    items: list[Any], arrays: memoryview, used: int, depth: int
) -> tuple[dict[Any, Any], int]:
    pairs = {}
    for key, item in items:
        if not _is_key(key):
            raise WireError("a key that is neither a string nor a small integer")
        name, used = _build(key, arrays, used, depth + 1)
        pairs[name], used = _build(item, arrays, used, depth + 1)
    return pairs, used


def _build_array(items: list[Any], arrays: memoryview, used: int) -> tuple[Any, int]:
    """Build an array, or for the empty shape a NumPy scalar."""
    code, *shape = items
    dtype = _ARRAYS[code]
    if len(shape) > 32 or not all(type(size) is int and 0 <= size < 2**40 for size in shape):
        raise WireError("not a shape")
    size = dtype.itemsize * math.prod(shape)
    if size > len(arrays) - used:
        raise WireError("an array longer than its bytes")
    array = np.frombuffer(arrays[used : used + size], dtype).reshape(shape).copy()
    return (array if shape else array[()]), used + size
