"""The reader's own function: what a text comes to in each view, and what is said where it fails."""

import json
import re
import subprocess
import sys
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest

from chaingrad import Node, checkpoint
from chaingrad.account import Ledger
from chaingrad.backward import adjoints
from chaingrad.rules import RULES, rule
from chainlab.workbench import VIEWS, Answer, respond
from chainlab.workbench.checked import checked
from chainlab.workbench.costs import best_segment
from chainlab.workbench.running import run
from chainlab.workbench.subject import Subject
from tests.support import each

NEURON = """\
w, x, b = Node(-0.5), Node(2.0), Node(1.5)
z = w * x + b
h = z * np.tanh(z)
h
"""
NET = """\
rng = np.random.default_rng(0)
X = rng.normal(size=(4, 3))
W1, W2 = Node(rng.normal(size=(5, 3))), Node(rng.normal(size=(2, 5)))
H = (X @ W1.T).relu()
J = losses.cross_entropy(H @ W2.T, [0, 1, 1, 0]) + 0.1 * W1.squared_norm()
"""


def problem(text: str) -> tuple[int, str]:
    [found] = respond(text, "graph").problems
    return found.line, f"{found.message} {found.hint}"


def root_of(text: str) -> Node:
    root = run(text).root
    assert root is not None
    return root


# --- what is run, and what is its root ----------------------------------------------------------


@each(
    "end",
    ["y", "y = x * x", "y.backward()", "play(y)", "print(y)\ny", "draw_graph(y, direction='TB')"],
)
def test_the_root_is_what_the_last_line_gives(end: str) -> None:
    imports = "from chainview import play\nfrom chainview import draw_graph\n"
    root = root_of(f"{imports}x = Node(3.0)\ny = x * x\n{end}")
    assert (root.data, root.label) == (9.0, "y")


def test_names_become_labels_and_labels_stay() -> None:
    root = root_of("a = Node(1.0, 'own')\nX = np.ones(2)\n_b = a * X\ny = _b.sum()")
    assert [node.label for node in root.sorted_graph()[::-1]] == ["own", "X", None, "y"]


def test_what_is_printed_has_the_labels_that_the_text_gives() -> None:
    answer = respond("x = Node(2.0)\nprint(x, Node(3.0, 'own'))\nx * x", "graph")
    assert answer.printed == "Node(2.0) Node(3.0, label='own')\n"


def test_each_run_starts_anew() -> None:
    assert respond("x = Node(2.0)\nx * x", "graph").html
    assert problem("x * x")[0] == 1


def test_what_is_printed_is_told() -> None:
    answer = respond("print('here')\nx = Node(2.0)\nx * x", "graph")
    assert answer.printed == "here\n"
    assert answer.html


# --- what goes wrong, at its line ---------------------------------------------------------------


@each(
    ("text", "line", "says"),
    [
        ("x = Node(2.0)\ny = x +", 2, "invalid syntax"),
        ("x = Node(2.0)\ny = x * z", 2, "NameError: name 'z'"),
        ("x = Node(2.0)\ny = exp(x)", 2, "Write np.exp"),
        ("def f(x):\n    return x.clamp(0)\n\nf(Node(2.0))", 2, "say x.clip(0, 1)"),
        (
            "A = Node(np.ones((2, 3)))\nB = 2 * A\nA @ B",
            3,
            "node 'A' of shape (2, 3) and node 'B' of shape (2, 3)",
        ),
        ("x = Node(2.0)\nprint(x)", 2, "End with what is to be shown, as in: x"),
        ("x = Node(2.0)\n[x, x * x]", 2, "several values"),
        ("2.0 + 2.0", 1, "x = Node(2.0)"),
        ("x = Node(2.0)\n1 / 0", 2, "ZeroDivisionError"),
        ("raise SystemExit", 1, "SystemExit"),
        ("x = torch.tensor(2.0, requires_grad=True)", 1, "Write Node(2.0)"),
        ("x = torch.tensor([1.0, 2.0])", 1, "or np.array([1.0, 2.0]) for data"),
        ("import torch", 1, "Leave the line out"),
        ("from jax import numpy as jnp", 1, "Leave the line out"),
        ("x = Node(2.0)\ny = jnp.sin(x)", 2, "Write np.sin(x)"),
        ("x = Node(2.0)\ny = torch.relu(x)", 2, "torch.relu is not here. Leave the line out"),
        ("x = Node(2.0)\ny = x^2", 2, "write x ** 2 for a power"),
        ("x = Node(2.0)\ny = 2x", 2, "write 2 * x"),
        ("x = Node(2.0)\ny = 2(x + 1)", 2, "write 2 * (x + 1)"),
        ("x = Node(2.0)\nif 3 if x:\n    pass", 2, "'else' after 'if'|invalid syntax. $"),
        ("x = Node(2.0)\ny = sin x", 2, "Write np.sin(x)"),
        ("x = node(2.0)", 1, "Write Node, with its capitals"),
        ("x = Node(2.0)\ny = sigmoid(x)", 2, "Write x.sigmoid()"),
        ("x = Node(2.0)\ny = ln(x)", 2, "Write np.log"),
        ("x = Node(2.0)\ny = softmax(x)", 2, "Write losses.softmax"),
        ("x = Node(2.0)\ny = x.tahn()", 2, "Perhaps you meant x.tanh"),
        ("x = Node(2.0)\ny = np.tahn(x)", 2, "Perhaps you meant np.tanh"),
        ("x = Node(2.0)\ny = xx", 2, "Perhaps you meant x"),
        ("x = Node(2.0)\ny = qqqqq", 2, "is not defined. $"),
        ("x = Node(2.0)\nF = torch.nn.Softmax(x)", 2, "Say chaingrad.losses.softmax"),
    ],
)
def test_an_error_stands_at_its_line(text: str, line: int, says: str) -> None:
    assert problem(text)[0] == line
    assert says in problem(text)[1] or re.search(says, problem(text)[1])


def test_a_gradient_that_is_lost_is_told_at_its_line() -> None:
    answer = respond("import math\nx = Node(2.0)\ny = x * math.sin(x)", "graph")
    [lost] = answer.problems
    assert (lost.line, lost.severity, lost.hint) == (3, "warning", "Write np.sin(x)")
    assert answer.html
    assert respond("import math\nx = Node(2.0)\ny = x * math.pi", "graph").problems == []


@each(
    ("text", "line", "says"),
    [
        ("x = Node(-1.0)\ny = np.log(x)\nz = y + 1.0", 2, "y is nan: the log of 0 is −inf"),
        ("x = Node(0.0)\ny = 1 / x", 2, "y is inf: this is a division by 0"),
        ("x = Node(0.0)\ny = x.sqrt()", 2, "The gradient of x is inf: sqrt has no finite slope"),
        ("x = Node([1.0, 0.0])\ny = (1 / x).sum()", 2, "is inf in an entry: this is a division"),
    ],
)
def test_what_is_no_finite_number_is_told_where_it_begins(text: str, line: int, says: str) -> None:
    [found] = respond(text, "graph").problems
    assert (found.line, found.severity) == (line, "warning")
    assert says in found.message


def test_finite_numbers_need_no_word() -> None:
    assert respond(NET, "graph").problems == []
    assert respond("m = Node([0.0, -np.inf], requires_grad=False)\nx = Node([1.0, 2.0])\n"
                   "losses.softmax(x + m)[0]", "graph").problems == []  # fmt: skip


def test_problems_stand_in_the_order_of_their_lines() -> None:
    text = "import math\nx = Node(2.0)\ny = math.sin(x)\ny + 1.0"
    assert [found.line for found in respond(text, "graph").problems] == [3, 4]


def test_a_name_of_ones_own_is_no_library() -> None:
    assert respond("tf = Node(2.0)\ny = tf.exp()", "graph").problems == []


# --- the views ----------------------------------------------------------------------------------


@each("view", VIEWS)
@each("text", [NEURON, NET, NEURON.replace("z = w", "z = 0.0 * w")])
def test_a_view_is_shown_or_says_why_not(view: str, text: str) -> None:
    answer = respond(text, view)
    assert answer.alt
    assert not answer.problems
    if answer.html:
        assert answer.html.count("<div") == answer.html.count("</div")
    else:
        assert text == NET
        assert view in ("order", "nudge")
    told = Answer(**json.loads(json.dumps(answer._repr_mimebundle_()["application/json"])))
    assert told == answer


@each(
    ("view", "text", "says"),
    [
        *((view, "x = Node(np.ones(3))\nx * x", "sum it") for view in VIEWS if view != "graph"),
        *(
            (view, "Node(2.0, requires_grad=False) * 2.0", "as in x = Node")
            for view in VIEWS
            if view != "graph"
        ),
        ("graph", "x = Node(0.5)\nfor _ in range(200):\n    x = x * 2.0\nx", "use arrays"),
        ("play", "x = Node(0.5)\nfor _ in range(300):\n    x = x + x\nx", "use arrays"),
        ("order", "x = Node(0.5)\nfor _ in range(11):\n    x = x + x\nx", "see play"),
        ("order", NET, "single numbers, and X is an array of shape"),
        ("nudge", "x = Node(np.ones(13))\nx.sum()", "requires_grad=False"),
        ("written out", "x = Node(0.5)\nfor _ in range(200):\n    x = x + x\nx", "fewer turns"),
        ("check", "x = Node(np.ones(201))\nx.sum()", "smaller arrays"),
        ("check", "x = Node(0.5)\ncheckpoint(lambda x: x * x, x)", "leave checkpoint out"),
        ("costs", "x = Node(0.5)\nfor _ in range(301):\n    x = x + x\nx", "at most 300"),
    ],
)
def test_a_view_that_cannot_take_a_graph_says_what_to_do(view: str, text: str, says: str) -> None:
    answer = respond(text, view)
    assert not answer.html
    assert not answer.problems
    assert re.search(says, answer.alt)


@pytest.mark.parametrize("text", [NEURON, NET, "x = Node(np.float32([1, 2]))\n(x * x).sum()"])
def test_what_is_written_out_runs_alone_and_gives_the_gradients(text: str) -> None:
    root = root_of(text)
    leaves = Subject(root).leaves
    grads = adjoints(root, root.seed(), leaves)
    code = respond(text, "written out").code.replace("print(", "result = (", 1)
    code += "import json\nvalue, g = result\ng = g if isinstance(g, tuple) else (g,)\n"
    code += "print(json.dumps([float(value), *[getattr(x, 'tolist', lambda: x)() for x in g]]))"
    run_alone = [sys.executable, "-I", "-c", code]
    said = subprocess.run(run_alone, capture_output=True, text=True, check=True).stdout
    value, *found = json.loads(said)
    assert value == pytest.approx(root.item())
    for got, leaf in zip(found, leaves, strict=True):
        np.testing.assert_allclose(got, grads[leaf], rtol=1e-6)


def test_lines_name_the_nodes_of_the_drawing() -> None:
    html = respond(NEURON, "written out").html
    rows = re.findall(r'<tr[^>]* data-nodes="([^"]*)"[^>]*><td[^>]*><code>(.*?)</code>', html)
    boxes = dict(re.findall(r'data-node="(\w+)"><title>([^<,:]*)', html))
    told = {unescape(source).strip().split(" =")[0]: ids.split() for ids, source in rows}
    for name in ("z", "h"):
        assert any(boxes[node] == name for node in told[name])
    assert set().union(*told.values()) <= set(re.findall(r'data-node="(\w+)"', html))
    assert "db" in told
    assert "z" not in {boxes[node] for node in told["h"]}


def test_a_wrong_rule_is_found_at_its_first_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaingrad.rules.RULES", dict(RULES))  # it is to be forgotten
    wrong = rule("wrong", lambda a: a * a, lambda g, out, a: g * a)  # without the 2
    x = Node(np.array([0.0, 1.0, 3.0]), "x")
    shown = checked(Subject(x.apply(wrong, (x,), {}).sum()))
    assert shown.alt == "The first entry that differs is x[1]: gradient 1.0, differences 2.000."


def test_a_kink_is_told_with_both_slopes() -> None:
    answer = respond("x = Node(0.0)\ny = x.relu() + x", "check")
    assert "x is at a kink" in answer.alt
    assert "The slope is 1.0 on the left, 2.0 on the right, and the engine takes 1.0" in answer.html
    assert "The gradient agrees" in respond("x = Node(0.3)\ny = x.relu() + x", "check").alt


@each(
    ("text", "says"),
    [
        ("x = Node(3.0)\ny = x * x.data", "computes the constant 3.0 of y from x"),
        ("x = Node(3.0)\nc = float(x.item())\ny = x * c", "computes the constant 3.0 of y from x"),
        ("x = Node([3.0, 1.0])\ny = (x * x.data).sum()", "the constant of shape (2,) of mul"),
        ("x = Node([0.0, 0.0])\nx.norm()", "The slope is −1.0 on the left, 1.0 on the right"),
        ("x = Node(2.0)\nz = x * x if x.data > 2.0 else x * 3.0", "a kink"),
        ("x = Node(0.0)\ny = x.sqrt()", "no finite value on one side"),
    ],
)
def test_check_runs_the_program_again_at_the_moved_leaf(text: str, says: str) -> None:
    answer = respond(text, "check")
    assert says in unescape(answer.html)
    assert "recorded graph" not in answer.html


@pytest.mark.parametrize(
    "text",
    [
        "x = Node(np.random.default_rng().normal())\ny = x * x",
        "x = Node(3.0)\nx.data = x.data - 1.0\ny = x * x",
    ],
)
def test_check_says_where_only_the_graph_was_checked(text: str) -> None:
    answer = respond(text, "check")
    assert "agrees" in answer.alt
    assert "only the recorded graph was checked" in answer.html


@pytest.mark.parametrize(
    "text", ["v = Node([0.0, 0.0])\nv.norm()", "x = Node(2.0)\nwhere(x > 1, x * x, x)"]
)
def test_nudge_follows_a_choice_that_the_graph_has_settled(text: str) -> None:
    answer = respond(text, "nudge")
    assert answer.html, answer.alt
    assert re.search(r"to move: (v\[0\]|x) =", answer.alt)


def test_views_that_a_graph_is_not_for_are_known_from_any_other() -> None:
    assert respond(NEURON, "graph").refused == {}
    refused = respond(NET, "graph").refused
    assert refused.keys() == {"order", "nudge"}
    assert refused["order"] == respond(NET, "order").alt
    assert respond("x = Node(np.ones(3))", "graph").refused.keys() == VIEWS.keys() - {"graph"}


def test_a_drawing_can_be_taken_along_as_a_picture() -> None:
    svg = respond(NEURON, "graph").svg
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert not re.search(r"var\(|light-dark|href=|url\(|<script", svg)


def test_long_programs_end_as_short_ones_do() -> None:
    lists = "l = []\nfor _ in range(200_000):\n    l = [l]\nx = Node(2.0)\ny = x * x"
    assert respond(lists, "graph").html
    loop = "x = Node(1.0)\nfor _ in range(2000):\n    x = x * 1.0 + 0.5\nx"
    assert "8,001 nodes" in respond(loop, "graph").alt


def test_a_checkpoint_saves_what_is_said() -> None:
    def first(x: Node) -> Node:
        return x.tanh().exp().sin().tanh()

    def graph(wrap: bool) -> Node:
        x = Node(np.linspace(0.1, 1.0, 10), "x")
        middle = checkpoint(first, x) if wrap else first(x)
        middle.label = "m"
        return (middle.exp() * 2.0).sum()

    found = best_segment(Ledger(graph(False)))
    assert found is not None
    assert found.top.name == "m"
    kept, wrapped = (Ledger(graph(wrap)).needed_bytes for wrap in (False, True))
    assert found.saves == kept - wrapped > 0
    assert found.again == 40
