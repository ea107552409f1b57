"""One part of the record: what is kept of it, and how that differs from what there is now.

A part is a folder of text files. What stands before the first colon of an entry's name is the name
of its file, so that a diff of the folder reads as what changed for people.
"""

import json
import math
import shutil
from collections import defaultdict
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

from tests.site.walk import NUMBER, near

FOLDER = Path(__file__).parent
WIDTH = 100
Entry = tuple[str, Any]  # a name, and plain data
Entries = dict[str, Any]


def write(part: str, entries: Entries) -> int:
    """Keep the entries of a part; return how many bytes that takes."""
    files = defaultdict[str, Entries](dict)
    for name, data in entries.items():
        files[name.partition(":")[0]][name] = data
    shutil.rmtree(FOLDER / part, ignore_errors=True)
    for name, group in files.items():
        path = FOLDER / part / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(_lines(group)) + "\n", encoding="utf-8")
    return sum(path.stat().st_size for path in (FOLDER / part).rglob("*.json"))


def read(part: str) -> Entries:
    entries: Entries = {}
    for path in sorted((FOLDER / part).rglob("*.json")):
        entries |= json.loads(path.read_text(encoding="utf-8"))
    return entries


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


def _lines(data: Any, indent: str = "") -> list[str]:
    """JSON, with what fits on a line on one."""
    text = json.dumps(data, ensure_ascii=False, sort_keys=True)
    match data:
        case None:
            return []
        case dict() | list() if len(text) > WIDTH:
            named = isinstance(data, dict)
            pairs = sorted(data.items()) if named else [("", value) for value in data]
            inner = []
            for key, value in pairs:
                first, *rest = _lines(value, indent + " ") or ["null"]
                name = f"{json.dumps(key, ensure_ascii=False)}: " if named else ""
                inner += [f"{indent} {name}{first.lstrip()}", *rest]
                inner[-1] += ","
            inner[-1] = inner[-1].removesuffix(",")
            start, end = "{}" if named else "[]"
            return [indent + start, *inner, indent + end]
    return [indent + text]
