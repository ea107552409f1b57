"""What crosses between grader and submission, and what does not."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursework.sandbox import wire

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.complex_numbers()
KEYS = st.text(st.characters(exclude_categories=("Cs",))) | st.integers(-(2**52), 2**52)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner) | st.lists(inner).map(tuple),
    max_leaves=20,
)


@given(PLAIN)
def test_plain_data_arrive_as_they_left(value: object) -> None:
    assert repr(wire.decode(wire.encode(value))) == repr(_without_surrogates(value))


@pytest.mark.parametrize("code", ["?", "i1", "u8", "f2", "f4", ">f8", "c8", "c16"])
def test_arrays_keep_their_dtype_and_shape(code: str) -> None:
    array = np.arange(6).reshape(2, 1, 3).astype(code)
    back = wire.decode(wire.encode([array, array[:, :, ::2].T, array[0, 0, 0]]))
    for ours, theirs in zip(back, (array, array[:, :, ::2].T, array[0, 0, 0]), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == array.dtype.newbyteorder("<")


def test_containers_and_numbers_of_other_classes_become_plain() -> None:
    class Float(float):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = float.__hash__

    class Dict(dict):
        pass

    value = wire.decode(wire.encode(Dict(a=Float(1.5), b=np.float32(2.0))))
    assert type(value) is dict
    assert type(value["a"]) is float
    assert value["a"] == 1.5
    assert value["b"] == 2.0


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (iter([1]), "list_iterator is not plain data"),
        (np.array([object()]), "dtype object"),
        (np.array(["a"]), "is not plain data"),
        (b"bytes", "bytes is not plain data"),
        ({(1, 2): 3}, "is neither a string nor"),
        ({2**61 - 1: 3}, "is neither a string nor"),
        (np.zeros(2**23 + 1), "too large"),
        ("x" * (2**26 + 1), "too large"),
        (np.broadcast_to(0.0, (10**6, 10**6)), "too large"),
    ],
)
def test_what_is_not_plain_does_not_leave(value: object, complaint: str) -> None:
    with pytest.raises(wire.WireError, match=complaint):
        wire.encode(value)


def test_depth_is_limited() -> None:
    value: list[object] = []
    for _ in range(100):
        value = [value]
    with pytest.raises(wire.WireError, match="nested"):
        wire.encode(value)
    cycle: list[object] = []
    cycle.append(cycle)
    with pytest.raises(wire.WireError, match="nested"):
        wire.encode(cycle)


def message(tree: object, arrays: bytes = b"") -> bytes:
    text = json.dumps(tree).encode() if not isinstance(tree, bytes) else tree
    return wire.PREFIX.pack(len(text), len(arrays)) + text + arrays


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"short",
        message(["a", "|O", 1], bytes(8)),
        message(["a", "<f8", 2], bytes(8)),
        message(["a", "<f8", -1], bytes(8)),
        message(["a", "<f8", True], bytes(8)),
        message(["a", "<f8", 2**30, 2**30, 2**30, 0]),
        message(["a", "<f8", 2**39, 2**39], bytes(8)),
        message(["a", "<f8"] + [1] * 40, bytes(8)),
        message(["a", "V8", 1], bytes(8)),
        message(["a"]),
        message(["a", ["<f8"], 1], bytes(8)),
        message(["z", 1]),
        message([["l"], 1]),
        message([]),
        message({"a": 1}),
        message(["d", [["l"], 1]]),
        message(["d", 5]),
        message(["d", [2**61, 1]]),
        message(["d", [1.5, 1]]),
        message(["c", "a", 1]),
        message(["c", 10**400, 1]),
        message(["l", 1], b"left over"),
        message(b"[" * 500_000),
        message(b'["l",' * 40 + b"1" + b"]" * 40),
        message(b"\xff\xfe"),
        message(b"1" * 5000),
        message(["l"])[:-1],
    ],
)
def test_a_forged_message_is_refused(bad: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.decode(bad)


@given(st.binary(max_size=60))
def test_noise_is_a_value_or_refused(noise: bytes) -> None:
    for data in (noise, message(noise)):
        try:
            wire.decode(data)
        except wire.WireError:
            continue


leaves = st.none() | st.floats() | st.text(max_size=3) | st.sampled_from([0, 1, -1, 2**63, 10**400])
tags = st.sampled_from(["c", "a", "d", "l", "t", "<f8", "|b1"]) | leaves
trees = st.recursive(leaves, lambda t: st.builds(lambda tag, ts: [tag, *ts], tags, st.lists(t)))


@given(trees, st.binary(max_size=16))
def test_a_tree_of_any_kind_is_a_value_or_refused(tree: object, arrays: bytes) -> None:
    with contextlib.suppress(wire.WireError):
        wire.decode(message(tree, arrays))


def test_a_lone_surrogate_can_be_written_to_a_file() -> None:
    assert wire.decode(message(b'"a\\ud800"')).encode() == b"a\\ud800"


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_without_surrogates, value))
    return value
