"""Figures that move: their program comes to what the engine does, wherever the leaves are."""

import json
import re

import numpy as np
import pytest
from py_mini_racer import MiniRacer

import chaingrad
from chaingrad import Node, checkpoint, losses, rules, where
from chaingrad.backward import adjoints
from chainview import nudge, order, play
from chainview.figures.figure import HERE
from chainview.figures.program import OPERATIONS, follow, record
from chainview.read.reading import read
from tests.support import LOGIC, each

FUNCTIONS = {
    "add": lambda x, w: x + w + 2.0,
    "sub": lambda x, w: 1.0 - x - w,
    "mul": lambda x, w: 3.0 * x * w * x,
    "div": lambda x, w: (x / w) / 3.0 + 2.0 / x,
    "squares": lambda x, w: x**2 + w**3 + (x * w) ** 2.5 + (x * x) ** 0.5,
    "power": lambda x, w: x**w + 2.0**w + w**-1.5,
    "power zero": lambda x, w: x**0.0 + w,
    "neg": lambda x, w: -x * -w,
    "exp": lambda x, w: x.exp() * (x * w).expm1(),
    "log": lambda x, w: x.log() + (x * w).log1p(),
    "sqrt": lambda x, w: (x + w).sqrt(),
    "sin": lambda x, w: (x * w).sin() * x.cos(),
    "tanh": lambda x, w: (w * x + 0.1).tanh(),
    "sigmoid": lambda x, w: (w * x - 2.0).sigmoid(),
    "relu": lambda x, w: (w * x - 1.0).relu() + (1.0 - w * x).relu(),
    "abs": lambda x, w: abs(x - w),
    "maximum": lambda x, w: np.maximum(x, w) * np.minimum(x, w * w),
    "ties": lambda x, w: np.maximum(x, x) + np.minimum(w, w),
    "softplus": lambda x, w: (w - x).softplus() + (x * w).logsigmoid(),
    "logaddexp": lambda x, w: np.logaddexp(x, w),
    "norm": lambda x, w: (x * w).norm() + (x - w).squared_norm(),
    "reductions": lambda x, w: x.sum() * w.mean() * x.max() * w.min(),
}


def numbers(root, leaves):
    """The values and the gradients of a graph, in the order of its nodes, from the engine."""
    nodes = [item.node for item in read(root, "test", 10**6)]
    found = adjoints(root, root.seed(), nodes)
    return [float(n.data) for n in nodes], [float(found[n]) if n in found else None for n in nodes]


def written(root, leaves):
    nodes = [item.node for item in read(root, "test", 10**6)]
    return record(nodes, leaves, "test")


CHOOSING = {
    "where": lambda x, w: where(x > w, x * x, w) + where(x * w > 1.0, 0.0, x),
    "clip": lambda x, w: (x * w).clip(0.5, 1.5) * x.clip(high=1.0),
    "norm at 0": lambda x, w: (x - x * w).norm(),
    "a closure": lambda x, w: OUTSIDE * x + where(x < OUTSIDE, w, x),
}
OUTSIDE = Node(1.5, "outside", requires_grad=False)


def javascript(program, inputs):
    """The values that the script of the page computes."""
    context = MiniRacer()
    data = json.dumps({"constants": [str(x) for x in program.constants], "code": program.code})
    data = data.replace('"inf"', '"Infinity"').replace('"-inf"', '"-Infinity"')
    context.eval(LOGIC)
    text = f"JSON.stringify(run({data}, {json.dumps(inputs)}).map(v => String(Number(v))))"
    return [float(x.replace("Infinity", "inf")) for x in json.loads(context.eval(text))]


def agree(program, values, expected):
    data, grads = expected
    np.testing.assert_allclose([float(values[i]) for i in program.data], data, rtol=1e-12)
    for place, grad in zip(program.grads, grads, strict=True):
        assert (place is None) == (grad is None)
        if place is not None:
            np.testing.assert_allclose(float(values[place]), grad, rtol=1e-10, atol=1e-13)


@each("name", FUNCTIONS)
def test_the_program_follows_the_engine(name):
    """Recorded at one place, it is right at others, on the other side of a kink, too."""
    function = FUNCTIONS[name]
    x, w = Node(0.7, "x"), Node(1.3, "w")
    program = written(function(x, w), [x, w])
    for at in [(0.7, 1.3), (1.9, 0.4), (0.05, 3.1), (1.2, 1.2)]:
        leaves = [Node(value) for value in at]
        expected = numbers(function(*leaves), leaves)
        agree(program, program.run(at), expected)
        agree(program, javascript(program, at), expected)


@each("name", CHOOSING)
def test_in_a_function_what_chooses_follows(name):
    function, leaves = CHOOSING[name], [Node(2.0, "x"), Node(0.7, "w")]
    root, program = follow(lambda: function(*leaves), "test")
    nodes = [item.node for item in read(root, "test", 10**6)]
    program = program(nodes, leaves)
    for at in [(2.0, 0.7), (0.3, 1.9), (1.0, 1.0), (-1.0, 0.4)]:
        moved = [Node(value) for value in at]
        root = function(*moved)
        found = adjoints(root, root.seed(), moved)
        for values in (program.run(at), javascript(program, at)):
            assert values[program.data[-1]] == pytest.approx(root.data, rel=1e-12)
            for leaf, other in zip(leaves, moved, strict=True):
                place = program.grads[nodes.index(leaf)]
                expected = found.get(other, 0.0)
                assert values[place] == pytest.approx(expected, rel=1e-10, abs=1e-13)


def test_a_function_is_nudged_by_its_arguments():
    figure = nudge(lambda a, b: where(a > b, a * a, b), 2.0, 1.0)
    assert "a = 2.0, b = 1.0" in str(figure)
    with pytest.raises(TypeError, match=r"nudge: the function cannot be called with \(2.0,\)"):
        nudge(lambda a, b: a * b, 2.0)
    with pytest.raises(TypeError, match="values are for a function"):
        nudge(Node(1.0) * 2.0, 3.0)


ROWS = np.array([[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5]])
ARRAYS = {
    "a layer": lambda W, b: (ROWS @ W.T + b).tanh().sum(),
    "softmax": lambda W, b: chaingrad.losses.cross_entropy(ROWS @ W.T + b, [0, 1, 1]),
    "reductions": lambda W, b: (
        (W * W).mean() + W.max(axis=0).prod() + W.min() + W.norm(axis=1, keepdims=True).sum()
    ),
    "indices": lambda W, b: W[[0, 1, 0]].sum(axis=0)[1] * W[1, ::-1].squared_norm() + b[0] ** 2,
    "shapes": lambda W, b: (
        chaingrad.concatenate([W.T, W.reshape(2, 2)]).cumsum(axis=0) * chaingrad.stack([b, -b])[0]
    ).sum(),
    "choices": lambda W, b: where(b < W, W * W, b).sum() + W.clip(-0.5, 0.5).relu().sum(),
    "products": lambda W, b: chaingrad.einsum("ij,kj,j->ik", W, W, b).sum() + b @ b,
    "logsumexp": lambda W, b: W.logsumexp(axis=1).sum() + W.std() + (b - b.mean()).sigmoid().sum(),
    "casts": lambda W, b: ((W > 0).astype(float) * W).sum() + b.astype(np.float32).sum(),
}


@each("name", ARRAYS)
def test_arrays_are_written_out(name):
    """Recorded at one place, each entry of each value and gradient is right at others."""
    function, generator = ARRAYS[name], np.random.default_rng(5)
    leaves = [Node(generator.normal(size=shape)) for shape in ((2, 2), 2)]
    root, program = follow(lambda: function(*leaves), "test")
    nodes = [item.node for item in read(root, "test", 10**6)]
    leaves = [leaf for leaf in leaves if leaf in nodes]
    program = program(nodes, leaves)
    for _ in range(3):
        moved = [Node(generator.normal(size=(2, 2))), Node(generator.normal(size=2))]
        root = function(*moved)
        found = adjoints(root, root.seed(), moved)
        at = [x for leaf in moved if leaf in found for x in leaf.data.ravel().tolist()]
        for values in (program.run(at), javascript(program, at)):
            assert float(values[program.data[-1]]) == pytest.approx(float(root.data), rel=1e-6)
            for leaf, other in zip(leaves, [m for m in moved if m in found], strict=True):
                _, places = program.entries[nodes.index(leaf)]
                got = np.reshape([float(values[i]) for i in places], leaf.shape)
                np.testing.assert_allclose(got, found[other], rtol=1e-6, atol=1e-9)


def test_arrays_that_are_too_much():
    many = Node(np.ones((60, 60)), "X", requires_grad=False)
    with pytest.raises(TypeError, match="3,600 entries; a page takes 2,000: take fewer examples"):
        nudge(lambda w: (w * many).sum(), 2.0)
    rows = np.linspace(0.0, 1.0, 400)
    with pytest.raises(TypeError, match=r"'mul'.*more operations than that"):
        nudge(lambda w: (w * rows).tanh().exp().sum(), 2.0)
    with pytest.raises(ValueError, match="the leaves hold 20 numbers, more than 12 sliders"):
        nudge(lambda w: (w * w).sum(), np.ones(20))
    with pytest.raises(TypeError, match="has no argsort of arrays"):
        nudge(lambda w: w.sort() @ w, np.ones(3))


def test_an_array_has_a_slider_for_each_entry():
    w = Node([1.0, -2.0], "w")
    figure = nudge(((w * np.array([1.0, 3.0])).sum() - 1.0) ** 2, leaves=[w])
    assert [leaf["text"] for leaf in figure.data["leaves"]] == ["w[0]", "w[1]"]
    assert "w</i>[1]</span> = −36.0" in figure.html
    assert "‖data‖ 2.236" in figure.html


def random_function(seed):
    def function(*leaves):
        generator = np.random.default_rng(seed)
        nodes = list(leaves)
        for _ in range(14):
            a, b = (nodes[i] for i in generator.integers(len(nodes), size=2))
            made = [
                a + b, a * b, a - b, a.tanh(), 0.5 * a, a.relu(), a / (2.0 + b * b), a.sin(),
                np.maximum(a, b), a.sigmoid() ** 2,
            ]  # fmt: skip
            nodes.append(made[generator.integers(len(made))])
        return sum(nodes[1:], nodes[0])

    return function


@each("seed", range(20))
def test_random_graphs(seed):
    generator = np.random.default_rng(100 + seed)
    function = random_function(seed)
    leaves = [Node(float(value)) for value in generator.normal(size=3)]
    program = written(function(*leaves), leaves)
    for at in generator.normal(size=(3, 3)).tolist():
        moved = [Node(value) for value in at]
        expected = numbers(function(*moved), moved)
        agree(program, program.run(at), expected)
        agree(program, javascript(program, at), expected)


def test_a_rule_of_ones_own_is_followed():
    rule = rules.rule(
        "square of sine",
        lambda a: np.sin(a) ** 2,
        lambda g, out, a: (
            g * np.where(rules.value(a) > 9.0, 0.0, 2.0 * rules.sin(a)) * rules.cos(a)
        ),
    )
    try:
        x = Node(0.3, "x")
        program = written(rule(x) * x, [x])
        for at in (0.3, 2.0):
            moved = Node(at)
            agree(program, program.run([at]), numbers(rule(moved) * moved, [moved]))
    finally:
        del rules.RULES["square of sine"]


def test_python_and_the_page_know_the_same_operations():
    context = MiniRacer()
    context.eval(LOGIC)
    assert set(json.loads(context.eval("JSON.stringify(Object.keys(OPS))"))) == set(OPERATIONS)


def test_infinite_constants_reach_the_page():
    x = Node(2.0, "x")
    program = nudge(np.minimum(x, np.inf) * x).data["program"]
    assert "Infinity" in program["constants"]
    json.dumps(nudge(np.minimum(x, np.inf) * x).data, allow_nan=False)


# --- what is refused ----------------------------------------------------------------------------


def unknown_rule(compute):
    return rules.rule("mystery", compute, lambda g, out, a: g, replace=True)


@each(
    ("compute", "reason"),
    [
        (lambda a: np.arctan(a), "a page has no arctan"),
        (lambda a: float(np.float64(a)) if type(a) is float else float(a), "float"),
        (lambda a: a if a > 0 else 2 * a, "cannot branch on a traced value"),
        (lambda a: np.interp(a, [0, 9], [0, 9]), "np.interp is not written down"),
    ],
)
def test_an_operation_that_no_page_has_is_named(compute, reason):
    y = unknown_rule(compute)(Node(2.0, "x"))
    y.label = "y"
    try:
        with pytest.raises(TypeError, match=f"nudge: the operation 'mystery' of 'y' .*{reason}"):
            nudge(y)
    finally:
        del rules.RULES["mystery"]


def test_a_branch_that_was_taken_is_not_followed():
    x = Node(2.0, "x")
    with pytest.raises(TypeError, match=r"'where' cannot follow .*maximum, minimum and relu"):
        nudge(where(True, x, 2.0 * x))
    nudge(x.clip(0.0, 1.0))


@pytest.mark.parametrize("figure", [nudge, order])
def test_what_cannot_be_shown(figure):
    name = figure.__name__
    x = Node(1.0, "x")
    with pytest.raises(TypeError, match=f"{name} expected a chaingrad node, and got float"):
        figure(3.0)
    with pytest.raises(TypeError, match=f"{name}: the node depends on no leaf"):
        figure(Node(1.0, requires_grad=False))
    with pytest.raises(TypeError, match=rf"{name} .*X is an array of shape \(3,\)"):
        figure(Node(np.ones(3), "X"))
    with pytest.raises(ValueError, match=f"{name}: the graph has 101 nodes, more than the"):
        figure(sum([x] * 100, x))
    with pytest.raises(ValueError, match=f"{name}: the graph has 6 nodes, more than the"):
        figure(sum([x] * 5, x), max_nodes=5)
    figure(sum([x] * 5, x), max_nodes=6)


def test_a_checkpoint_is_refused():
    x = Node(0.5, "x")
    with pytest.raises(TypeError, match=r"nudge: the operation 'checkpoint' .*settled when"):
        nudge(checkpoint(lambda x: x.tanh() * x, x))


def test_what_nudge_refuses():
    x, other = Node(1.0, "x"), Node(2.0, "other")
    y = x * x
    with pytest.raises(ValueError, match="is not a leaf of the graph"):
        nudge(y, leaves=[other])
    with pytest.raises(ValueError, match="is not a leaf of the graph"):
        nudge(y, leaves=[y])
    x.data = 5.0
    with pytest.raises(ValueError, match="was a leaf changed after the graph was computed"):
        nudge(y)


# --- the figures --------------------------------------------------------------------------------


def example():
    x, b = Node(2.0, "x"), Node(-1.2, "b")
    u = x + b
    y = u.tanh() * (u * x) + 0.1 * b
    u.label, y.label = "u", "y"
    return y, x, b


@pytest.mark.parametrize("figure", [nudge, order])
def test_nothing_is_left_behind(figure):
    y, *_ = example()
    y.backward()
    before = [(node.grad, node.rule) for node in y.sorted_graph()]
    figure(y)
    assert before == [(node.grad, node.rule) for node in y.sorted_graph()]


def test_leaves_and_how_far_they_move():
    y, _, b = example()
    told = nudge(y).data["leaves"]
    assert {leaf["text"]: (leaf["at"], leaf["reach"]) for leaf in told} == {
        "x": (2.0, 3.0),
        "b": (-1.2, pytest.approx(1.8)),
    }
    (only,) = nudge(y, leaves=[b]).data["leaves"]
    assert only["text"] == "b"


@pytest.mark.parametrize("figure", [nudge, order])
def test_a_constant_exponent_stands_with_its_power(figure):
    x, two = Node(3.0, "x"), Node(2.0, requires_grad=False)
    alone = figure(x**2 + x**-0.5).html.partition('class="cg-live"')[0]
    assert "square<" in alone
    assert "power −0.5<" in alone
    assert "node cg-constant" not in alone
    shared = figure(x**two + two * x).html.partition('class="cg-live"')[0]
    assert "node cg-constant" in shared
    assert not {"square<", "power −"} & set(re.findall(r"square<|power −", shared))


def test_the_local_gradients_of_order_are_the_engines():
    y, x, b = example()
    nodes = {node["id"]: node for node in order(y).data}
    right = {node["text"]: node["right"] for node in nodes.values()}
    y.backward()
    assert right == {"x": x.grad, "b": b.grad} | {k: v for k, v in right.items() if k not in "xb"}
    # pushed in the order of creation backwards, the shares add up to what is right
    holds = dict.fromkeys(nodes, 0.0) | {next(reversed(nodes)): 1.0}
    for node in reversed(nodes.values()):
        assert holds[node["id"]] == pytest.approx(node["right"])
        for send in node["sends"]:
            holds[send["to"]] += holds[node["id"]] * send["local"]
    assert nodes[next(reversed(nodes))]["waits"] == 0


def test_a_still_stands_in_for_each():
    y, x, b = example()
    y.backward()
    for figure in (nudge(y), order(y)):
        still = figure.html.partition('<div class="cg-live"')[0]
        text = re.sub("<[^>]*>", " ", still.rpartition("</style>")[2])
        for leaf in (x, b):
            assert f"grad {leaf.grad:.4g}".replace("-", "−") in text
        assert "chaingrad-either" in still
        assert figure._repr_mimebundle_()["text/plain"] == figure.alt
    assert "chaingrad-either" not in nudge(y, direction="TB").html


def test_labels_of_any_text():
    x = Node(1.0, '</script><b>"x" & \\N')
    for figure in (nudge(x * x), order(x * x)):
        page = figure.html
        assert page.count("</script>") == 2
        assert "<b>&quot;x" not in page
        assert '<b>"x' not in page.replace("\\u003cb>", "")


def test_a_notebook_takes_no_text_for_a_formula():
    x = Node(1.0, "$x_1$")
    for piece in (nudge(x * x), order(x * x), play(x * x)):
        start = piece.html.partition(">")[0]
        assert {"tex2jax_ignore", "mathjax_ignore"} < set(
            re.search('class="(.*?)"', start)[1].split()
        )


def test_they_are_small():
    for kind in ("nudge", "order"):
        assert len((HERE / f"{kind}.bundle.js").read_bytes()) < 8_000
    assert len(nudge(example()[0]).html.encode()) < 60_000


@pytest.mark.parametrize("figure", [nudge, order])
def test_they_ask_for_nothing_and_leak_no_name(figure):
    page = figure(example()[0]).html
    assert not re.search(r"\sid=\"|https?://(?!www\.w3\.org)|\bsrc=|\bimport\b|currentScript", page)
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    selectors = re.findall(r"(?:^|[},{;])\s*([^{};@]+)\{", style)
    for selector in ",".join(selectors).split(","):
        assert "chaingrad-moving" in selector, selector


def test_a_graph_that_was_nudged_can_still_be_passed() -> None:
    z = Node([[1.0, 2.0]], "z")
    loss = losses.cross_entropy(z, [0])
    nudge(loss)
    loss.backward()
    np.testing.assert_allclose(z.grad, [[-0.7310586, 0.7310586]], rtol=1e-6)
