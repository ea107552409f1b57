"""The parser, in many threads."""

import ast
import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from coursework.syntax import parse_module


def test_threads_parse_one_after_the_other():
    """What the collector calls in between lets another thread run."""
    source = "x = [f(a + (b * (c - d))) for a in z]\nclass A:\n    y = lambda: 0\n" * 300
    expected = ast.dump(parse_module(source))
    before = sys.getswitchinterval()

    def interrupt(phase, info):
        sum(range(1000))

    sys.setswitchinterval(1e-6)
    gc.callbacks.append(interrupt)
    try:
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda _: ast.dump(parse_module(source)), range(100)))
    finally:
        gc.callbacks.remove(interrupt)
        sys.setswitchinterval(before)
    assert set(found) == {expected}


def test_an_error_is_the_parsers_own():
    with pytest.raises(SyntaxError):
        parse_module("a b")
