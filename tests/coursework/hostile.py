"""Replies that no honest process sends, from inside a real one, to a whole run of the grader.

``python -m tests.coursework.hostile FOLDER`` grades `FOLDER/in` and prints the exit status and the
grader's own peak memory in MiB.
"""

import base64
import json
import re
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from coursework.sandbox import wire
from tests.coursework.attacks import GOOD, notebook

NONCE = "@nonce"  # becomes the number that the grader asks to see again
CODES = ["|b1", "|i1", "<i8", "<u8", "<f2", "<f8", "<c16"]
SIZES = st.sampled_from([0, 1, 2, 3, 4, 7])
NAMES = st.sampled_from(["nonce", "value", "error", "dZ", "dW", "dX", "type", "message", "where"])
TEXTS = st.text(max_size=5) | NAMES | st.sampled_from([NONCE, "x" * 10**5, "relu_backward"])
EMPTY = [[0, 2**27, 1], [0, 2**27], [0, 4, 2**27], [2**27, 0], [2**39, 0, 3]]  # cost no byte
ARRAYS = (
    st.builds(
        lambda code, shape: ["a", code, *shape], st.sampled_from(CODES), st.lists(SIZES, max_size=6)
    )
    | st.integers(1, 17).map(lambda axes: ["a", "|i1", *[2] * axes])
    | st.sampled_from(EMPTY).map(lambda shape: ["a", "<f8", *shape])
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.floats()
    | TEXTS
    | st.sampled_from([0, -1, 2**63, 10**400, 2**61 - 1])
    | ARRAYS
    | st.builds(lambda real: ["c", real, 1], st.floats())
)
JUNK = st.sampled_from(
    [[], {}, ["a", "<f8", 2**39], ["a", "|O", 1], ["a", "<f8", -1], ["z", 1], ["d", [["l"], 1]]]
)


def _of(tag: str, items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(items, max_size=4).map(lambda found: [tag, *found])


def _many(tree: Any) -> Any:
    return ["l", *[tree] * min(2000, 10**5 // (1 + len(json.dumps(tree))))]


TREES = st.recursive(
    LEAVES,
    lambda inner: _of("l", inner) | _of("d", st.tuples(TEXTS, inner).map(list)) | inner.map(_many),
    max_leaves=8,
)
RESULTS = st.builds(
    lambda names, trees: ["d", *([a, b] for a, b in zip(names, trees, strict=False))],
    st.sampled_from([["dZ", "dW", "dX"], ["dW", "dX", "dZ"]]),
    st.lists(ARRAYS | TREES, min_size=1, max_size=3),
)
ODD = st.just(["a", "<f8", 2]) | LEAVES  # an array of two has no truth value
PLACES = st.builds(lambda file, line: ["l", ["l", "relu_backward", file, line]], ODD, ODD)
ERRORS = st.builds(
    lambda kind, message, where: ["d", ["type", kind], ["message", message], ["where", where]],
    ODD,
    ODD,
    _of("l", ODD),
)
FIELDS = {
    "value": RESULTS | RESULTS | TREES | PLACES | JUNK,
    "error": TREES | ERRORS | RESULTS,
    "points": st.just(99),
}


def _told(field: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[str]]:
    """An answer in the form that was asked for: only what is said in it is a lie."""
    return values.map(
        lambda value: ["whole", json.dumps(["d", ["nonce", NONCE], [field, value]]), "0"]
    )


def _dZ(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[str]]:  # noqa: N802
    return _told("value", values.map(lambda value: ["d", ["dZ", value]]))


FLOOD = ["flood", "", ""]
LONG_TEXTS = ["l", "x" * 10**5, *["a"] * 9_000]  # NumPy would make all as long as the first
MANY_AXES = ["a", "|i1", *[2] * 17]
# What each class has one of: how many honest answers come before it, and the lie.
AIMED = [
    (2, _dZ(st.sampled_from(EMPTY).map(lambda shape: ["a", "<f8", *shape]))),
    (2, _dZ(st.just(LONG_TEXTS))),
    (2, _dZ(st.just(MANY_AXES))),
    (2, _dZ(LEAVES | TREES)),
    (2, _told("value", LEAVES | TREES)),
    (2, _told("error", ERRORS)),
    (1, _told("value", PLACES)),
    (1, _told("value", LEAVES | TREES)),
    (2, ODD.map(lambda array: ["whole", json.dumps(["d", ["nonce", array]]), "0"])),
    (2, TREES.map(lambda tree: ["whole", json.dumps(tree), "0"])),
    (2, st.just(FLOOD)),
]


@st.composite
def replies(draw: st.DrawFn) -> list[str]:
    """What is written in place of an answer, and how: as it is, or with its bytes made right."""
    ways = ["raw", "twice", "flood", "hang up", "honest", "honest"]
    how = draw(st.sampled_from(["whole"] * 6 + ways))
    if how in ("flood", "hang up", "honest"):
        return [how, "", ""]
    if how == "raw":
        sizes = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
        noise = st.binary(max_size=20) | st.builds(lambda a, b: struct.pack(">IQ", a, b), *sizes)
        return [how, base64.b64encode(draw(noise)).decode(), ""]
    if draw(st.integers(0, 4)):
        nonce = draw(st.sampled_from([NONCE] * 3 + [None])) or draw(ARRAYS | TREES)
        chosen = draw(st.lists(st.sampled_from(["value", *FIELDS]), max_size=2, unique=True))
        tree: Any = ["d", ["nonce", nonce], *([name, draw(FIELDS[name])] for name in chosen)]
    else:
        tree = draw(TREES | JUNK)
    return [how, json.dumps(tree), str(draw(st.sampled_from([0] * 9 + [1, 8])))]


HONEST = ["honest", "", ""]
SCRIPT = st.builds(
    # The first answers say that the cell has run, and which names are defined.
    lambda honest, lies: [HONEST] * honest + lies,
    st.sampled_from([0, 1, 1, 2, 2, 2, 3, 5]),
    st.lists(replies(), min_size=1, max_size=12),
)


class Scripts(list[list[list[str]]]):
    """The scripts of a class of liars, megabytes of them, which say little of themselves."""

    def __repr__(self) -> str:
        return f"<{len(self)} scripts>"


SCRIPTS = st.tuples(
    *(lie.map(lambda lie, honest=honest: [HONEST] * honest + [lie]) for honest, lie in AIMED),
    *[SCRIPT] * 14,
).map(Scripts)

# Takes the place of the sandbox's own writing, from a cell that the sandbox runs.
LIAR = """
import base64, json, math, os, sys, zlib
frame = sys._getframe()
while 'request' not in frame.f_locals:
    frame = frame.f_back
student = frame.f_locals['self']
wire = sys.modules['coursework.sandbox.wire']
script = json.loads(zlib.decompress(base64.b64decode(SCRIPT)))
honestly = student._write


def room(node):
    if not isinstance(node, list):
        return 0
    if node[:1] == ['a']:
        try:
            return min(2**20, wire._ARRAYS[node[1]].itemsize * math.prod(node[2:]))
        except Exception:
            return 0
    return sum(map(room, node))


def lie(message):
    asked = wire.decode(message).get('nonce')
    how, text, extra = script.pop(0) if script else ('honest', '', '0')
    if how == 'honest':
        return honestly(message)
    if how == 'raw':
        os.write(student.link, base64.b64decode(text))
    if how == 'flood':
        honestly(wire.PREFIX.pack(2, 2**30))
        while True:
            honestly(bytes(2**20))
    if how in ('raw', 'hang up'):
        os._exit(0)
    tree = json.loads(text)
    data = bytes(max(0, room(tree)) + int(extra) * (extra != '0'))
    raw = text.replace(json.dumps(NONCE), json.dumps(asked)).encode()
    for _ in range(2 if how == 'twice' else 1):
        honestly(wire.PREFIX.pack(len(raw), len(data)) + raw + data)


student._write = lie
"""


def liar(script: list[list[str]]) -> str:
    """A notebook whose process answers by a script once its cells have run."""
    packed = base64.b64encode(zlib.compress(json.dumps(script).encode()))
    return notebook(*GOOD, LIAR.replace("SCRIPT", repr(packed)).replace("NONCE", repr(NONCE)))


def main(folder: Path) -> None:
    from tests.coursework.test_grade import run

    assert wire.MOST_BYTES > 2**20
    limits = ("--cpu", "2", "--wall", "20", "--life", "20", "--jobs", "4")
    status = run(folder, *limits)
    # Of this program alone: ru_maxrss would count the process that started it, too.
    (peak,) = re.findall(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    print(status, int(peak) >> 10)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
