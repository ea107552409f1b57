"""Which cells of a page run in the browser, told from their code."""

import sys
from typing import Any

import pytest

from tests.support import ROOT, each

sys.path.insert(0, str(ROOT / "_ext"))

from live import wait_notice
from live.carried import dotted, not_carried
from live.dependencies import (
    ambiguous_names,
    asserts,
    cells_without_effect,
    judge,
    origins,
    shared_need,
)


def why(*sources: str) -> list[str]:
    return [verdict.why for verdict in judge((source, {}) for source in sources)]


def test_foreign_modules_and_what_builds_on_them() -> None:
    assert why("import torch\ny = torch.ones(2)", "y + 1", "x = 1", "x") == [
        "needs torch", "builds on a cell that needs torch", "", "",
    ]  # fmt: skip


def test_names_given_anew_are_live_again() -> None:
    assert why("import torch\ny = torch.ones(2)", "y = 2", "y")[1:] == ["", ""]


@each(
    "uses",
    [
        "y += 1",
        "y = y + 1",
        "y: int = y + 1",
        "(y := y + 1)",
        "y = [y for y in y]",
        "for y in y:\n    pass",
        "async def f():\n    pass\n\nasync for y in y:\n    pass",
        "def y(a=y):\n    return a",
        "def y(*, a: y):\n    return a",
        "y = lambda a=y: a",
        "try:\n    z = y\nexcept ValueError as y:\n    pass\ny = z",
        "match y:\n    case [y, *_]:\n        pass",
        "del y\ny = len(str(1))",
        "def f():\n    global y\n    y += 1\n\nf()",
    ],
)
def test_a_name_that_is_read_before_it_is_given_is_needed(uses: str) -> None:
    needs = "builds on a cell that needs torch"
    assert why("import torch\ny = torch.ones(2)", uses, "y")[1:] == [needs, needs]


@each(
    "gives",
    [
        "async def y():\n    return z",
        "match [1, 2]:\n    case [first, *y]:\n        print(y)",
        "match {1: 2}:\n    case {**y}:\n        print(y)",
        "match 1:\n    case y:\n        print(y)",
        "print(y := 1)",
    ],
)
def test_a_name_is_given_by_whatever_binds_it(gives: str) -> None:
    assert why("import torch\ny = torch.ones(2)", gives, "y")[1:] == ["", ""]


@each(
    "leaves",
    [
        "y: int",
        "try:\n    1 / 0\nexcept ZeroDivisionError as y:\n    print(y)",
        "async def f():\n    y = 1\n    async for y in range(y):\n        pass",
        "y = 1\ndel y",
    ],
)
def test_what_is_gone_when_a_cell_ends_is_not_given(leaves: str) -> None:
    needs = "builds on a cell that needs torch"
    assert why("import torch\ny = torch.ones(2)", leaves, "y")[1:] == ["", needs]


def test_a_function_that_sets_a_global_name_changes_it() -> None:
    sources = "n = 0", "def count():\n    global n\n    n += 1", "count()", "n"
    assert [origin.cells for origin in origins(sources)] == [[], [0], [0, 1], [0, 2]]
    assert origins(sources)[1].late == {"n"}


@each("change", ["seen.append(1)", "seen['a'] = 1", "seen.a = 1", "del seen[0]", "keep(1)"])
def test_a_call_changes_what_its_function_changes(change: str) -> None:
    keep = "seen = []\ndef keep(x):\n    seen.append(x)"
    show = f"def show(x):\n    {change}"
    cells = [origin.cells for origin in origins([keep, show, "show(1)", "seen"])]
    assert cells == [[], [0], [0, 1], [0, 2]]


def test_a_function_may_call_those_that_are_defined_below_it() -> None:
    chain = "def f():\n    g()\ndef g():\n    h()\ndef h():\n    seen.append(1)"
    cells = [origin.cells for origin in origins(["seen = []", chain, "f()", "seen"])]
    assert cells == [[], [0], [0, 1], [0, 2]]


def test_a_call_does_not_change_what_its_function_calls_its_own() -> None:
    show = "def show(seen):\n    seen.append(1)\n    mine = []\n    mine.append(2)"
    cells = [
        origin.cells for origin in origins(["seen = mine = []", show, "show([])", "seen, mine"])
    ]
    assert cells == [[], [], [1], [0]]


@each("over", ["[y for {}]", "{{y for {}}}", "list(y for {})", "{{y: 1 for {}}}"])
def test_variables_of_comprehensions_are_their_own(over: str) -> None:
    needs = "builds on a cell that needs torch"
    sources = "import torch\ny = torch.ones(2)", over.format("y in range(2)"), "y"
    assert why(*sources)[1:] == ["", needs]


@pytest.mark.parametrize(
    "gives", ["def y():\n    return 1\n\ny()", "def f():\n    return y\n\ny = 1\nf()"]
)
def test_what_a_cell_defines_for_its_functions_is_its_own(gives: str) -> None:
    assert why("import torch\ny = torch.ones(2)", gives)[1] == ""


def test_a_dictionary_lacks_only_the_entry_that_a_cell_could_not_write() -> None:
    sources = (
        "found = {'ours': 1}",
        "import torch\nfound['PyTorch'] = torch.ones(2)",
        "found['differences'] = 2",
        "list(found)",
        "found['PyTorch']",
        "for name in ('ours', 'PyTorch'):\n    print(found[name])",
    )
    needs = "builds on a cell that needs torch"
    assert why(*sources) == ["", "needs torch", "", "", needs, needs]
    assert why(*sources[:2], "found = {'PyTorch': 3}", "found['PyTorch']")[2:] == ["", ""]


def test_functions_need_their_global_names() -> None:
    source = "def f():\n    return y\n\nf()"
    assert why("import torch\ny = torch.ones(2)", source)[1] == "builds on a cell that needs torch"


def test_threads_and_magics_are_not_for_the_browser() -> None:
    sources = "import threading", "%%bash\nls", "get_ipython().history"
    assert why(*sources) == ["needs threads", "needs Jupyter", "needs Jupyter"]


def test_of_pythons_modules_the_browser_has_those_of_its_own_python() -> None:
    sources = "import math, zlib\nfrom xml import etree", "import tkinter.ttk", "import _thread"
    assert why(*sources) == ["", "needs tkinter", "needs threads"]


def test_a_package_is_named_before_parts_of_the_standard_library() -> None:
    assert why("import multiprocessing\nimport torch") == ["needs torch"]


@each(
    ("reasons", "need"),
    [
        (["needs torch", *["builds on a cell that needs torch"] * 2, "", ""], "needs torch"),
        (["needs torch", "needs torch", "needs jax and torch", ""], ""),
        (["needs torch", "needs torch"], ""),
        (["takes minutes"] * 3, ""),
        ([], ""),
    ],
)
def test_what_most_cells_need_is_known_of_the_page(reasons: list[str], need: str) -> None:
    assert shared_need(reasons) == need


def test_modules_that_cells_write_can_be_imported() -> None:
    assert why("%%writefile a.py\nimport json", "import a", "import b") == ["", "", "needs b"]
    assert why("%%writefile a.txt\njson") == ["needs Jupyter"]


def test_what_a_written_module_needs_is_needed_by_those_that_import_it() -> None:
    writes = "%%writefile a.py\nimport torch", "%%writefile b.py\nfrom a import f"
    assert why(*writes, "import b") == ["needs torch", *["builds on a cell that needs torch"] * 2]


def test_a_cell_taken_out_says_its_reason() -> None:
    first, second = judge([("z = max(1, 2)", {"live": "too long"}), ("z", {})])
    assert (first.why, second.why) == ("too long", "builds on a cell that is left out")


def test_a_cell_depends_on_those_that_last_gave_or_changed_its_names() -> None:
    sources = [
        "x = 1\ny = [2]",  # 0
        "def f():\n    return x",  # 1
        "y.append(3)",  # 2
        "print(f(), y)",  # 3
        "x = 5",  # 4
        "x + 1",  # 5
        "%%writefile a.py\nz = 1",  # 6
        "from a import z",  # 7
        "%%bash\nls",  # 8
        "w = 1\nw",  # 9
        "examine('a.py:Value')",  # 10
    ]
    found = [origin.cells for origin in origins(sources)]
    assert found == [[], [0], [0], [0, 1, 2], [], [4], [], [6], [], [], [6]]


def test_names_are_contested_if_cells_give_them_values_of_their_own() -> None:
    sources = "import numpy as np\nx = 1", "import numpy as np\nx = 2\ny = 3", "def x(): pass"
    cells = origins([*sources, "x + y"])
    assert ambiguous_names(cells) == {"x"}
    assert cells[3].uses == {"x": [2], "y": [1]}


def test_what_a_function_reads_is_read_when_it_is_called() -> None:
    source = "def f():\n    return [x + y for y in z]\n\n[u for v in w if (lambda: t)()]"
    (cell,) = origins([source])
    assert cell.late == {"x", "z", "t"}


def test_a_driver_reads_names_of_the_page_through_its_first_argument() -> None:
    driver = "def driver(student, inputs):\n    return {'y': student.f(**inputs), 'x': inputs.x}\n"
    sources = "def f(x):\n    return x", "x = 1", f"{driver}check_results(None, driver, None)"
    checks = origins(sources)[2]
    assert (checks.cells, checks.late) == ([0], {"f"})
    assert why("import torch\nf = torch.relu", driver) == [
        "needs torch",
        "builds on a cell that needs torch",
    ]


@pytest.mark.slow
def test_what_carried_modules_import_is_asked_too() -> None:
    sources = "from chainlab.processes import torchrun", "import chaingrad.nn", "torchrun(2)"
    assert why(*sources) == [
        "needs processes", "", "builds on a cell that needs processes",
    ]  # fmt: skip
    assert {"torch", "threading"} <= not_carried("chainview.frameworks.record_torch")
    assert not_carried("numpy.linalg") == {"numpy"}


def test_what_waits_for_a_call_or_is_tried_is_not_imported_at_once() -> None:
    source = """\
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import a
try:
    import b
except ImportError:
    b = None
def f():
    import c
class C:
    import d
if C:
    from .e import f
"""
    assert dotted(source, "package") == {
        "typing", "typing.TYPE_CHECKING", "d", "package.e", "package.e.f",
    }  # fmt: skip


def test_cells_that_come_to_nothing_in_the_page_are_idle() -> None:
    """Neither they nor what builds on them and runs shows anything."""
    told: list[dict[str, Any]] = [
        {},  # 0 built on by 2 alone
        {},  # 1 built on by 4, which cannot run
        {"uses": [0]},  # 2 shows something
        {},  # 3 shows nothing
        {"uses": [1], "why": "needs torch"},  # 4 shows something
        {"within": "answer"},  # 5
        {"within": "answer"},  # 6 shows something
        {"within": "other"},  # 7
    ]
    assert sorted(cells_without_effect(told, [i in (2, 4, 6) for i in range(8)])) == [1, 3, 7]


def test_a_cell_asserts_where_it_does_so_itself() -> None:
    assert asserts("for x in y:\n    assert x")
    assert not asserts("def f(x):\n    assert x")
    assert not asserts("x = 1")


def test_a_reader_is_told_of_a_long_wait() -> None:
    assert [wait_notice(seconds) for seconds in (0.9, 2.8, 14)] == ["", "about 10 s", "about 30 s"]
