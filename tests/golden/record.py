"""One part of the record: what is kept of it, and how that differs from what there is now."""

import gzip
import json
import math
import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

from tests.site.walk import NUMBER, near

FOLDER = Path(__file__).parent
Entry = tuple[str, Any]  # a name, and plain data
Entries = dict[str, Any]


def path(part: str) -> Path:
    return FOLDER / f"{part}.json.gz"


def write(part: str, entries: Entries) -> int:
    """Keep the entries of a part; return how many bytes that takes."""
    text = json.dumps(entries, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    packed = gzip.compress(text.encode(), 9, mtime=0)
    return path(part).write_bytes(packed)


def read(part: str) -> Entries:
    found: Entries = json.loads(gzip.decompress(path(part).read_bytes()))
    return found


def plain(data: Any) -> Any:
    """The same as JSON gives it back."""
    return json.loads(json.dumps(data, ensure_ascii=False, sort_keys=True))


def same(one: Any, other: Any) -> bool:
    """Whether two entries are the same, up to the last digits of numbers that were rounded.

    >>> same(["0.3333", 1 / 3], ["0.3334", 0.1 + 0.7 / 3]), same({"a": 1}, {"a": 2})
    (True, False)
    """
    match one, other:
        case (dict(), dict()):
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        case (list(), list()):
            return len(one) == len(other) and all(map(same, one, other))
        case (str(), str()):
            return one == other or _alike(one, other)
        case (float(), float()):
            return one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return type(one) is type(other) and one == other


def _alike(one: str, other: str) -> bool:
    numbers, others = NUMBER.findall(one), NUMBER.findall(other)
    return NUMBER.sub("#", one) == NUMBER.sub("#", other) and all(map(near, numbers, others))


def differences(kept: Entries, now: Entries) -> Iterator[tuple[str, list[str]]]:
    """The entries that are not the same, each with a diff."""
    for name in sorted(kept.keys() | now.keys()):
        if name not in now or name not in kept or not same(kept[name], now[name]):
            before, after = _lines(kept.get(name)), _lines(now.get(name))
            yield name, list(unified_diff(before, after, "kept", "now", lineterm="", n=1))[2:]


def _lines(data: Any) -> list[str]:
    if data is None:
        return []
    return re.sub(
        r"^\s*[{}\[\]],?\n", "", json.dumps(data, ensure_ascii=False, indent=1), flags=re.M
    ).splitlines()
