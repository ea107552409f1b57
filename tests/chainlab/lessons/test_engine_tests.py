"""The tests of *Break it* in the figure are those of the page."""

import inspect

from chainlab.lessons import engine_tests
from chainlab.lessons.bug_museum import break_it
from chainlab.lessons.engine import Node
from tests.support import ROOT


def test_the_page_shows_each_of_them_line_for_line() -> None:
    page = (ROOT / "chapters" / "foundations" / "bug-museum.md").read_text("utf-8")
    functions = [
        function
        for _, function in inspect.getmembers(engine_tests, inspect.isfunction)
        if function.__module__ == engine_tests.__name__
    ]
    assert len(functions) == 14
    for function in functions:
        assert inspect.getsource(function) in page, function.__name__


def test_the_game_asks_about_them_and_the_right_engine_passes() -> None:
    names = [test["name"] for test in break_it().data["tests"]]
    assert names == [test.__name__.replace("_", " ") for test in engine_tests.TESTS]
    assert all(test(Node) for test in engine_tests.TESTS)
