"""The player's steps: what the engine did, and nothing left behind."""

import re

import numpy as np
import pytest

from chaingrad import Node, rules
from chaingrad.graph import CycleError, toposort
from chaingrad.messages import Message, local_gradients
from chaingrad.modes import no_grad
from chainlab.lessons import engine
from chainview import play, play_toposort
from chainview.player.names import entries_of, plain
from chainview.player.player import SCRIPT
from chainview.player.steps import BACKWARD
from chainview.player.watch import Written, backward_events, foreign_events, sort_events
from chainview.read.reading import read
from tests.support import each


def neuron():
    w, x, b = Node(-0.5, "w"), Node(2.0, "x"), Node(1.5, "b")
    z = w * x + b
    h = z * z.sigmoid()
    z.label, h.label = "z", "h"
    return h


def network():
    generator = np.random.default_rng(3)
    X = Node(generator.normal(size=(4, 3)), "X", requires_grad=False)
    W, b = Node(generator.normal(size=(5, 3)), "W"), Node(np.zeros(5), "b")
    V = Node(generator.normal(size=(2, 5)), "V")
    O = (X @ W.T + b).relu() @ V.T  # noqa: E741
    loss = O.logsumexp(axis=1).mean() - O[:, 0].mean()
    return loss + 0.1 * (W.squared_norm() + V.squared_norm())


def random_graph(seed):
    generator = np.random.default_rng(seed)
    nodes = [Node(float(value)) for value in generator.normal(size=3)]
    for _ in range(12):
        a, b = (nodes[i] for i in generator.integers(len(nodes), size=2))
        nodes.append([a + b, a * b, a - b, a.tanh(), 2.0 * a][generator.integers(5)])
    return sum(nodes[1:], nodes[0])


GRAPHS = [neuron, network, *(lambda seed=seed: random_graph(seed) for seed in range(5))]


def words(player):
    return [plain(step.words) for step in player.steps]


def recorded(events):
    """The last total that the messages gave each node."""
    last = {}
    for event in events:
        if isinstance(event, Message):
            last[event.parent] = event.total
        else:
            last[event.node] = event.value
    return last


# --- what was recorded is what the engine did ---------------------------------------------------


@each("make", GRAPHS)
def test_the_messages_add_up_to_the_gradients_of_the_engine(make):
    root = make()
    totals = recorded(backward_events(root))
    assert totals.keys() == {node for node in root.sorted_graph() if node.requires_grad}
    root.backward()
    for node, total in totals.items():
        np.testing.assert_array_equal(total, node.grad)


@each("make", GRAPHS)
def test_nodes_send_in_the_order_of_the_sort(make):
    root = make()
    order = [node for event, node in sort_events(root) if event == "push"][::-1]
    events = backward_events(root)
    senders = dict.fromkeys(event.child for event in events if isinstance(event, Message))
    assert list(senders) == order


@each("make", GRAPHS)
def test_one_message_for_each_edge_that_carries_a_gradient(make):
    root = make()
    events = backward_events(root)
    sent = [(e.child, e.position) for e in events if isinstance(e, Message)]
    edges = {
        (node, position)
        for node in root.sorted_graph()
        for position, parent in enumerate(node.parents)
        if parent.requires_grad
    }
    assert len(sent) == len(edges)
    assert set(sent) == edges


def state(root):
    return [
        (node.grad, node.data, node.rule, *node.parents, node.label) for node in root.sorted_graph()
    ]


def same(before, after):
    return all(
        x is y
        for old, new in zip(before, after, strict=True)
        for x, y in zip(old, new, strict=True)
    )


@each("make", GRAPHS)
def test_everything_stays_as_it_was(make):
    root = make()
    root.backward()  # so that there are gradients to lose
    before = state(root)
    play(root)
    assert same(before, state(root))


def test_also_when_a_rule_fails():
    def fail(g, out, a):
        raise ArithmeticError("no derivative today")

    broken = rules.Rule("broken", lambda a: a, (fail,))
    x = Node(2.0, "x")
    root = broken(x * x) * x
    before = state(root)
    with pytest.raises(ArithmeticError, match="today"):
        play(root)
    assert same(before, state(root))


def test_a_wrong_rule_shows_wrong():
    original = rules.RULES["tanh"]
    try:
        wrong = rules.rule(
            "tanh", original.compute, lambda g, out, a: g * (1.0 - out), replace=True
        )
        x = Node(0.5, "x")
        y = wrong(x)
        y.label = "y"
        final = words(play(y))[-1]
    finally:
        rules.RULES["tanh"] = original
    found, true = 1 - np.tanh(0.5), 1 - np.tanh(0.5) ** 2
    assert final == f"The leaves have their gradients: ∂y/∂x = {found:.4g}."
    assert f"{true:.4g}" not in final


def test_a_wrong_rule_of_arrays_is_given_no_formula():
    wrong = rules.Rule("matmul", np.matmul, (lambda g, o, a, b: g @ b.T * 2, None))
    X = Node(np.ones((2, 3)), "X")
    root = wrong(X, np.ones((3, 1))).sum()
    told = words(play(root))
    assert any("∂v2/∂X" in text.replace("_", "") for text in told)
    assert "(2 × 3) of norm 4.899" in " ".join(told)  # and not half of it


def test_it_plays_where_recording_is_off():
    root = neuron()
    expected = words(play(root))
    with no_grad():
        assert words(play(root)) == expected


# --- what is said -------------------------------------------------------------------------------


def test_the_words_of_a_neuron():
    told = words(play(neuron()))
    assert told[0] == "Leaves have their values: w = −0.5, x = 2.0, b = 1.5."
    assert told[1] == "v_2 = w × x = (−0.5) × 2.0 = −1.0"
    assert told[3] == "v_5 = σ(z) = σ(0.5) = 0.6225"
    assert (
        "∂h/∂z += ∂h/∂h · ∂h/∂z = 1.0 × 0.6225 = 0.6225, now 0.6225 (message 1 of 2 to z)" in told
    )
    second = "∂h/∂z += ∂h/∂v_5 · ∂v_5/∂z = 0.5 × 0.235 = 0.1175, now 0.74 = 0.6225 + 0.1175"
    assert f"{second} (message 2 of 2 to z)" in told
    assert told[-1] == (
        "The leaves have their gradients: ∂h/∂b = 0.74, ∂h/∂w = 1.48, ∂h/∂x = −0.37."
    )


def test_a_power_of_the_readers_engine_is_told_as_one():
    x = engine.Node(-3.0)
    x.label = "x"
    told = " ".join(step.words for step in play(x**2).steps)
    assert "x^2 = (−3.0)^2 = 9.0" in plain(told)


def test_matrix_products_are_told_as_formulas():
    told = words(play(network()))
    assert any("Xᵀ ∂" in text for text in told)
    assert any(text.endswith("of shape (4 × 5)") and "X Wᵀ" in text for text in told)


def test_powers_and_constants_are_written_as_on_paper():
    x = Node(3.0, "x")
    y = (x * -2.0) ** 2 + x**-1.0
    told = words(play(y))
    assert told[1].endswith("= x × (−2.0) = 3.0 × (−2.0) = −6.0")
    assert "^2 = (−6.0)^2 = 36.0" in told[2]
    assert "= x^−1 = 3.0^−1 = 0.3333" in told[3]


def test_the_shares_of_penalties_are_told_as_formulas():
    W = Node(np.arange(6.0).reshape(2, 3), "W⁽¹⁾")
    J = (W**2.0).sum() + (W**3.0).mean()
    J.label = "J"
    told = words(play(J))
    assert any("= (W⁽¹⁾)^2 entry by entry, of shape (2 × 3)" in text for text in told)
    for share in [
        " · 1 for each entry summed", " · 1/6 for each entry averaged", " ⊙ 2 W⁽¹⁾",
        " ⊙ 3 (W⁽¹⁾)^2",
    ]:  # fmt: skip
        assert sum(share + "," in text for text in told) == 1, share


def test_entries_are_limited():
    assert entries_of(np.eye(2)).split("\n")[0].split() == ["1.0", "0.0"]
    lines = entries_of(np.zeros((50, 40))).split("\n")
    assert len(lines) == 7
    assert max(map(len, lines)) < 80


def test_the_sum_at_a_node_is_told_term_by_term():
    x, w = Node(3.0, "x"), Node(4.0, "w")
    y = x * 2.0 + x * w
    told = [{plain(a): b for a, b in step.entries} for step in play(y).steps]
    sums = [entries["The sum at x"] for entries in told if "The sum at x" in entries]
    assert sums == ["1.0 × 2.0 = 2.0, and 1 more to come", "1.0 × 2.0 + 1.0 × 4.0 = 6.0"]


def test_the_sum_of_arrays_is_told_in_formulas():
    W = Node(np.eye(2), "W")
    J = (W @ np.ones((2, 1))).sum() + (W**2.0).sum()
    told = [
        text
        for step in play(J).steps
        for title, text in step.entries
        if plain(title) == "The sum at W"
    ]
    first, second = told
    assert first.endswith(", and 1 more to come")
    assert second.count(" + ") == 1
    assert "⊙ 2 W" in second


LABELS = [
    "<img src=x>", "&amp;", "'\"", "a\nb\t c", "$x_1$", "\\(x\\)", "x_1", "重み", "שלום", "🎉",
    "data", "grad", "#1", "{g}", "{0}", "%s", "  ", "\x00", "\ud800", "</script>", "]]>", "v" * 90,
]  # fmt: skip


@each("label", LABELS)
def test_a_label_of_any_text_is_text(label):
    x = Node(1.0, label)
    player = play(x * x + 1.0)
    text = plain(player.steps[0].words)
    shown = " ".join("".join(c if c.isprintable() else " " for c in label).split())
    told = text.removeprefix("Leaves have their values: ").removeprefix("…")  # cut at the left
    assert told.startswith(shown[:23] if shown else "v_0 = 1.0")
    full = [entry for _, entry in player.steps[0].entries]
    assert [x.split() for x in full] == [label.split()] * (shown not in ("", label[:24]))
    player.html.encode()
    assert "<img" not in player.html
    assert player.html.count("</script>") == 2
    for picture in player._pictures:
        names = [name.text for name in picture.iter("tspan") if name.get("class") == "cg-name"]
        assert any((shown or "v0").startswith(name.strip("…")) for name in names if name)


def test_a_label_in_a_formula_of_arrays_is_not_read_as_one():
    X, W = Node(np.ones((1, 2)), "{b}"), Node(np.ones((2, 1)), "{g}")
    told = words(play((X @ W).sum()))
    assert any("∂/∂" not in text and "{g}ᵀ" in text for text in told)
    assert any("{b}ᵀ" in text for text in told)


# --- sorts --------------------------------------------------------------------------------------

SORTED = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": ["c"]}


def test_a_sort_is_played_as_it_runs():
    events = []
    order = toposort("d", SORTED, trace=lambda *event: events.append(event))
    told = words(play_toposort(SORTED, "d"))
    assert [tuple(re.split(r"[ :,.]+", text)[:2]) for text in told] == [
        (event.capitalize(), name) for event, name in events
    ]
    assert told[6].endswith("End of the sorted list: […, c, b, a]")
    assert told[-1].endswith(f"Sorted list: [{', '.join(order)}]")


def test_a_sort_of_nodes():
    assert len(play_toposort(neuron()).steps) == 14


def test_a_cycle_is_named():
    with pytest.raises(CycleError, match="a depends on b"):
        play_toposort({"a": ["b"], "b": ["a"]}, "a")


# --- other engines ------------------------------------------------------------------------------


class Plain:
    """A small engine without gradients of its own kind."""

    def __init__(self, data, parents=(), locals=(), label=None):
        self.data, self.grad, self.op = data, 0.0, "mul" if parents else ""
        self.parents, self.locals, self.label = parents, locals, label

    def __mul__(self, other):
        return type(self)(self.data * other.data, (self, other), (other.data, self.data))

    def backward(self):
        self.grad = 1.0
        for node in toposort(self, lambda node: node.parents):
            for parent, local in zip(node.parents, node.locals, strict=True):
                parent.grad += node.grad * local


class Slotted:
    """The same with ``__slots__``, as the engine of the course has."""

    __slots__ = ("data", "grad", "label", "locals", "op", "parents")
    __init__, __mul__, backward = Plain.__init__, Plain.__mul__, Plain.backward


class Overwrites(Plain):
    def backward(self):
        self.grad = 1.0
        for node in toposort(self, lambda node: node.parents):
            for parent, local in zip(node.parents, node.locals, strict=True):
                parent.grad = node.grad * local


def cube(engine):
    x = engine(3.0, label="x")
    u = x * x
    y = u * x
    u.label, y.label = "u", "y"
    return x, u, y


WRONG = "Wrong: one message along each edge, in topological order, gives "


def local(node, position):
    return node.locals[position]


def test_another_engine_is_watched_and_restored():
    x, u, y = cube(Slotted)
    y.backward()
    assert (x.grad, u.grad) == (27.0, 3.0)
    player = play(y, local_gradient=local)
    assert words(player)[-1] == "The leaves end with x.grad = 27.0."
    assert (x.grad, u.grad, y.grad) == (27.0, 3.0, 1.0)
    assert {type(x), type(u), type(y)} == {Slotted}


def test_a_second_pass_over_stale_gradients():
    x, _, y = cube(Plain)

    def twice():
        y.backward()
        x.grad = 0.0
        y.backward()

    told = words(play(y, backward=twice, local_gradient=local))
    second = "u.grad += y.grad · ∂y/∂u = 1.0 × 3.0 = 3.0, now 6.0 = 3.0 + 3.0"
    assert f"{second}, where the first was left by an earlier pass" in told
    assert sum("earlier pass" in text for text in told) == 1
    assert "Set by the code, not sent: x.grad = 0.0" in told
    assert told[-1] == f"The leaves end with x.grad = 45.0. {WRONG}∂y/∂x = 27.0."


def test_two_passes_that_add_up_are_not_called_wrong():
    _, u, y = cube(Plain)

    def twice():
        for _ in range(2):
            u.grad = 0.0
            y.grad = 0.0
            y.backward()

    told = words(play(y, backward=twice, local_gradient=local))
    assert told[-1] == "The leaves end with x.grad = 54.0."


def test_more_messages_than_edges_are_counted_as_such():
    _, u, y = cube(Plain)

    def too_often():
        y.grad = 1.0
        for node in (y, u, u):
            for parent, by in zip(node.parents, node.locals, strict=True):
                parent.grad += node.grad * by

    told = " ".join(words(play(y, backward=too_often, local_gradient=local)))
    assert "(message 3 of 3 to x)" in told
    assert "(message 4 to x, over 3 edges)" in told


def test_a_gradient_that_is_freed_after_use_is_not_taken_for_an_earlier_pass():
    class Frees(Plain):
        def backward(self):
            self.grad = 1.0
            for node in toposort(self, lambda node: node.parents):
                for parent, local in zip(node.parents, node.locals, strict=True):
                    parent.grad += node.grad * local
                if node.parents:
                    node.grad = 0.0

    _, _, y = cube(Frees)
    told = words(play(y, local_gradient=local))
    assert not any("earlier pass" in text for text in told)
    assert told[-1].endswith("x.grad = 27.0.")


def test_an_engine_that_overwrites_is_caught_at_it():
    _, _, y = cube(Overwrites)
    told = words(play(y, local_gradient=local))
    assert any("the 9.0 that was there is lost" in text for text in told)


@pytest.mark.parametrize(
    ("engine", "says"),
    [(Plain, ", added to what was there"), (Overwrites, ": what was there is lost")],
)
def test_of_arrays_that_meet_it_is_said_what_becomes_of_the_first(engine, says):
    x, y = engine(np.array([3.0, 2.0]), label="x"), engine(np.array([1.0, 4.0]), label="y")
    _, second = [text for text in words(play(x * x * y, local_gradient=local)) if "x.grad" in text][
        :2
    ]
    assert says in second


def test_an_edge_carries_what_is_multiplied_where_that_is_known():
    _, _, y = cube(Plain)

    def carried(**how):
        back = [step for step in play(y, **how).steps if step.phase == BACKWARD]
        return [step.edge[3:5] for step in back if step.edge]

    known = [("1.0", "3.0"), ("1.0", "9.0"), ("3.0", "3.0"), ("3.0", "3.0")]
    assert carried(local_gradient=local) == known
    assert carried() == [("", "")] * 4


def test_the_steps_that_tell_most_are_those_where_shares_meet():
    def told(root, **how):
        return [step.accumulates for step in play(root, **how).steps if " += " in step.words]

    a = Node(2.0, "a")
    u = a * 3.0
    assert told(u * u) == [0, 1, 0]
    x, _, y = cube(Plain)
    assert told(y, local_gradient=local) == [0, 0, 2, 2]

    def twice():
        y.backward()
        x.grad = 0.0
        y.backward()

    assert told(y, backward=twice, local_gradient=local)[4:] == [3, 0, 2, 2]


def test_without_local_gradients_the_share_is_what_was_added():
    _, _, y = cube(Plain)
    nodes = [item.node for item in read(y, "play", 9)]
    events = foreign_events(nodes, y.backward)
    assert isinstance(events[0], Written)
    assert [event.share for event in events[1:]] == [3.0, 9.0, 9.0, 9.0]


def doublings():
    a = Node(3.0, "a")
    b = a + a
    c = b + b
    b.label, c.label = "b", "c"
    return a, b, c


def test_a_naive_traversal_can_be_played_on_nodes():
    a, b, c = doublings()

    def at_once(node):
        for parent in node.parents:
            parent.grad += node.grad * 1.0
            at_once(parent)

    def run():
        c.grad = 1.0
        at_once(c)

    told = words(play(c, backward=run))
    early = [text for text in told if "Too early: b has 1 of its 2 messages." in text]
    assert len(early) == 2
    assert told[-1] == f"The leaves end with a.grad = 6.0. {WRONG}∂c/∂a = 4.0."
    assert (a.grad, b.grad, c.grad) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("order", "ends"), [("bc", 0.0), ("cbb", 8.0), ("cb", 4.0)])
def test_any_order_can_be_played_on_nodes(order, ends):
    a, b, c = doublings()
    nodes = {"a": a, "b": b, "c": c}

    def run():
        c.grad = 1.0
        for node in map(nodes.get, order):
            for parent, by in local_gradients(node):
                parent.grad += node.grad * by

    last = words(play(c, backward=run))[-1]
    verdict = "" if ends == 4.0 else f" {WRONG}∂c/∂a = 4.0."
    assert last == f"The leaves end with a.grad = {ends}.{verdict}"


def test_a_wrong_order_of_matrices_is_told_from_the_right_gradient():
    W = Node(np.arange(4.0).reshape(2, 2), "W")
    J = (W @ W).sum()
    J.label = "J"

    def run():
        J.grad = 1.0
        W.grad = np.ones((2, 2))

    player = play(J, backward=run)
    told = words(player)[-1]
    assert told.endswith(f"{WRONG}∂J/∂W = (2 × 2) of norm 12.81.")
    (title, entries) = player.steps[-1].entries[-1]
    assert plain(title) == "∂J/∂W, right (2 × 2)"
    assert entries.split() == ["3.0", "7.0", "5.0", "9.0"]


def test_a_failing_engine_is_restored_too():
    x, _, y = cube(Plain)
    y.backward()

    def fail():
        y.backward()
        raise KeyError("oops")

    with pytest.raises(KeyError):
        play(y, backward=fail, local_gradient=local)
    assert x.grad == 27.0
    assert type(x) is Plain


# --- refusals -----------------------------------------------------------------------------------


def test_a_graph_too_large_is_refused_with_its_size():
    root = x = Node(1.0)
    for _ in range(200):
        root = root + x
    with pytest.raises(ValueError, match=r"201 nodes, more than the 200 .* with arrays"):
        play(root)
    with pytest.raises(ValueError, match="201 nodes"):
        play_toposort(root)
    with pytest.raises(ValueError, match="300 nodes"):
        play_toposort({str(i): [] for i in range(300)}, "0")


def test_what_cannot_be_played():
    with pytest.raises(TypeError, match=r"expected a node .* got float"):
        play(3.0)
    with pytest.raises(ValueError, match="not a scalar"):
        play(Node(np.ones(3)) * 2.0)
    with pytest.raises(TypeError, match="requires a gradient"):
        play(Node(1.0, requires_grad=False))
    with pytest.raises(TypeError, match="another engine"):
        play(neuron(), local_gradient=print)


def test_a_leaf_alone_can_be_played():
    assert words(play(Node(2.0, "x")))[-1] == "The leaves have their gradients: ∂x/∂x = 1.0."


# --- the piece of HTML --------------------------------------------------------------------------


def test_it_is_small():
    assert len(SCRIPT.read_bytes()) < 13_000
    assert len(play(network()).html.encode()) < 150_000


def test_it_asks_for_nothing_and_leaks_no_name():
    html = play(network()).html
    assert not re.search(r"\sid=\"|https?://(?!www\.w3\.org)|\bsrc=|\bimport\b|currentScript", html)
    style = re.search(r"<style>(.*?)</style>", html, re.S)[1]
    selectors = re.findall(r"(?:^|[},{;])\s*([^{};@]+)\{", style)
    for selector in ",".join(selectors).split(","):
        assert "chaingrad-player" in selector, selector


def test_three_key_frames_stand_in_for_it():
    bundle = play(neuron())._repr_mimebundle_()
    captions = re.findall(r"<figcaption><b>(.*?)\.</b>", bundle["text/html"])
    assert captions == ["Forward pass", "A gradient accumulates", "Final gradients"]
    assert "now 0.74 = 0.6225 + 0.1175" in bundle["text/plain"]
    assert "∂h/∂w = 1.48" in bundle["text/plain"]


def test_the_frames_show_what_is_known_then():
    forward, middle, final = play(neuron()).html.split("<figure>")[1:]
    assert "grad 1.0" not in forward
    assert "data 0.6225" in forward
    assert "grad 0.74" in middle
    assert "grad 1.48" not in middle
    assert "grad 1.48" in final
