"""What *An autograd engine* and its pages of the atlas say in general, tried on random cases."""

import math
import random
from typing import Any

import pytest

import chaingrad
from chainlab.lessons.bug_museum import broken
from chainlab.lessons.engine import Node
from tests.support import each

SEEDS = range(40)


def grown(leaves: list[Any], seed: int, steps: int = 8) -> list[Any]:
    """Combine leaves by operations drawn at random; the nodes in the order they are made."""
    chance, nodes = random.Random(seed), [*leaves]
    for _ in range(steps):
        a, b = chance.choices(nodes, k=2)
        nodes.append(chance.choice([a + b, a - b, a * b, a * a, a**2, a.tanh(), 1 - a, 2 * a]))
    return nodes


def leaves_of(seed: int) -> list[Node]:
    chance = random.Random(seed)
    return [Node(chance.uniform(-1, 1)) for _ in range(3)]


def gradients(root: Node, leaves: list[Node]) -> list[float]:
    """What a pass from this root brings to each leaf, whatever they hold."""
    before = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = 0.0
    root.backward()
    found = [leaf.grad for leaf in leaves]
    for leaf, grad in zip(leaves, before, strict=True):
        leaf.grad = grad
    return found


@each("seed", SEEDS)
def test_the_three_rules_of_grad(seed: int) -> None:
    leaves = leaves_of(seed)
    nodes = grown(leaves, seed)
    roots = random.Random(seed).choices(nodes[3:], k=3)
    alone = [gradients(root, leaves) for root in roots]
    for node in nodes:
        node.grad = 0.0
    reached: dict[Node, float] = {}
    for root in roots:
        root.backward()
        reached |= {node: node.grad for node in root.sorted_graph()}
    for leaf, parts in zip(leaves, zip(*alone, strict=True), strict=True):
        assert leaf.grad == pytest.approx(sum(parts))
    for node in nodes[3:]:
        assert node.grad == reached.get(node, 0.0)


@each("seed", SEEDS)
def test_a_share_that_is_cut_is_missing_and_the_value_is_right(seed: int) -> None:
    chance = random.Random(seed)
    w, x, b = (Node(chance.uniform(0.2, 1)) for _ in range(3))
    z = w * x + b
    z.tanh().backward()
    through = b.grad
    for bend, lost in ((z.tanh(), 0.0), (Node(math.tanh(z.data)), through)):
        b.grad = 0.0
        out = z + bend
        out.backward()
        assert out.data == z.data + math.tanh(z.data)
        assert b.grad == pytest.approx(1 + through - lost)


@each("seed", SEEDS)
def test_the_package_has_the_gradients_of_the_45_lines(seed: int) -> None:
    ours = leaves_of(seed)
    theirs = [chaingrad.Node(leaf.data) for leaf in ours]
    grown(ours, seed)[-1].backward()
    grown(theirs, seed)[-1].backward()
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.grad == pytest.approx(float(other.grad), rel=1e-12, abs=1e-12)


@each("seed", SEEDS)
def test_gradients_of_copies_add_up_to_that_of_the_shared_weight(seed: int) -> None:
    def loss(*weights: Node) -> Any:
        return grown([*weights], seed)[-1]

    at = random.Random(seed).uniform(-1, 1)
    copies, shared = [Node(at) for _ in range(3)], Node(at)
    loss(*copies).backward()
    loss(shared, shared, shared).backward()
    assert sum(copy.grad for copy in copies) == pytest.approx(shared.grad)


@each("seed", SEEDS)
def test_parts_of_a_batch_divided_by_the_whole_leave_the_gradient_of_its_mean(seed: int) -> None:
    chance = random.Random(seed)
    examples = [(chance.uniform(-1, 1), chance.uniform(-1, 1)) for _ in range(7)]
    cut = chance.randrange(1, 7)

    def total(w: Node, part: list[tuple[float, float]]) -> Node:
        return sum(((w * x).tanh() - y) ** 2 for x, y in part)

    whole, ours, means = (Node(0.4) for _ in range(3))
    (total(whole, examples) * (1 / 7)).backward()
    for part in (examples[:cut], examples[cut:]):
        (total(ours, part) * (1 / 7)).backward()
        (total(means, part) * (1 / len(part))).backward()
    assert ours.grad == pytest.approx(whole.grad)
    assert means.grad != pytest.approx(whole.grad)


def test_plus_minus_and_times_take_numbers_on_both_sides_and_the_power_one_on_its_right() -> None:
    for value in (-1.5, 0.0, 0.7):
        w = Node(value)
        made = [w + 2, 2 + w, w - 2, 2 - w, w * 2, 2 * w, -1 * w]
        assert [node.data for node in made] == [
            value + 2, 2 + value, value - 2, 2 - value, value * 2, 2 * value, -value
        ]  # fmt: skip
        for fails in (
            lambda w=w: w ** Node(2.0),
            lambda w=w: 2**w,
            lambda w=w: -w,
            lambda w=w: w / 2,
        ):
            with pytest.raises(TypeError):
                fails()


@pytest.mark.parametrize(("swapped", "pairs"), [(False, 1), (True, 2)])
def test_the_list_of_a_long_sum_holds_one_pair_a_sum_or_two(swapped: bool, pairs: int) -> None:
    held: list[int] = []
    engine = broken("= to_do.pop()", "= held.append(len(to_do)) or to_do.pop()")
    engine.sorted_graph.__globals__["held"] = held
    x = y = engine(1.0)
    for _ in range(200):
        y = x + y if swapped else y + x
    y.sorted_graph()
    assert max(held) == pytest.approx(200 * pairs, abs=4)
