"""Notebooks with large outputs, and files that are no notebooks, as they are read."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursework.collect.notebooks import ALL_WORDS, UnreadableError, read_notebook
from coursework.collect.outputs import without_outputs

WORDS = ["outputs", "attachments", '"', "\\", "[", "]", "{", "}", ":", ", ", "a", "\n", "ä"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map("".join)
VALUES = st.recursive(
    TEXTS | st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=9,
)


def emptied(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(emptied, value))
    if not isinstance(value, dict):
        return value
    dropped = {"outputs", "attachments", "widgets"}
    return {
        key: None if key in dropped and isinstance(item, (list, dict)) else emptied(item)
        for key, item in value.items()
    }


def notebook(source: Any = "x = 1", outputs: Any = (), **more: Any) -> dict[str, Any]:
    cell = {"cell_type": "code", "metadata": {}, "outputs": list(outputs), "source": source}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


@given(TEXTS, st.lists(VALUES), VALUES, st.sampled_from([None, 1]), st.booleans())
def test_what_is_left_is_all_but_the_outputs(
    source: str, outputs: list[Any], other: Any, indent: int | None, ascii: bool
) -> None:
    made = notebook(source, outputs, other={"x": other, source: 1})
    text = json.dumps(made, indent=indent, ensure_ascii=ascii)
    lean = without_outputs(text.encode())
    assert json.loads(lean) == emptied(made)
    assert lean.count(b"\n") == text.count("\n")


@pytest.mark.parametrize(
    "output",
    [
        {"data": {"image/png": "A" * 50_000_000}},
        {"name": "stdout", "text": ["1\n"] * 2_000_000},
        {"data": {"application/vnd.plotly": [[k, {}] for k in range(200_000)]}},
    ],
    ids=["a picture", "lines", "brackets"],
)
def test_a_notebook_of_large_outputs_is_read(output: Any) -> None:
    content = json.dumps(notebook(outputs=[output])).encode()
    assert [cell.source for cell in read_notebook(content).cells] == ["x = 1"]


def test_a_page_has_room_for_the_text_of_a_notebook() -> None:
    text = {"cell_type": "markdown", "metadata": {}, "source": "word " * 300}
    made = notebook() | {"cells": [text] * 1000}
    words = [said for _, said in read_notebook(json.dumps(made).encode()).words]
    assert ALL_WORDS - 1500 < sum(map(len, words[:-1])) <= ALL_WORDS
    assert "passes 50,000 characters" in words[-1]


@pytest.mark.parametrize(
    "inside", [b"[]", b"[", b'"",', b'"\\n', b'"outputs":[', b'"outputs":[],', b'"outputs"  ', b" "]
)
def test_no_outputs_cost_more_than_their_length(inside: bytes) -> None:
    began = time.process_time()
    without_outputs(b'{"outputs": [' + inside * (2**22 // len(inside)))
    assert time.process_time() - began < 5  # it takes a tenth of a second; a square, hours


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_editors_may_save_in_other_encodings(encoding: str) -> None:
    content = json.dumps(notebook("ä = 1"), ensure_ascii=False).encode(encoding)
    assert [cell.source for cell in read_notebook(content).cells] == ["ä = 1"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf \n", "the file is empty"),
        (b"\n<!DOCTYPE html>\n<html>", "a page of the web"),
        (b"<html lang='en'>", "a page of the web"),
        (b"PK\x03\x04\x00", "a zip archive"),
        (b'{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> b\n}', "git could not merge"),
        (b'{"nbformat": 4,\n"cells": [1,\n]}', r"not JSON \(line 3\)"),
        (b'{"outputs": [\n\n],\n"cells": [1,\n]}', r"not JSON \(line 5\)"),
        (b"\xff\xfd", "the file is not text in UTF-8"),
        (b"[1]", "names no notebook format"),
        (b'{"nbformat": 4, "x": "' + b"a" * 2**24 + b'"}', "16 MiB besides its outputs"),
    ],
)
def test_what_is_no_notebook_is_called_what_it_is(content: bytes, said: str) -> None:
    with pytest.raises(UnreadableError, match=said):
        read_notebook(content)
