"""What *Break it* plays: the engine with each change is run, and what is said of it is so."""

import re
from typing import Any

import pytest
import torch

from chaingrad.messages import local_gradients
from chainlab.lessons.bug_museum import (
    CHANGES,
    KINDS,
    WITNESSES,
    LineChange,
    break_it,
    broken,
    engines,
    found,
    name,
    what_catches_what,
)
from chainlab.lessons.computational_graph import neuron
from chainlab.lessons.engine import Node
from chainview.player.names import brief
from tests.support import each

CHANGE = each("change", CHANGES)


def passes(engine: Any) -> bool:
    """Pass everything."""
    return engine is not None


def of_sums(engine: Any) -> bool:
    """Add `a` to itself."""
    a = engine(1.0)
    (a + a).backward()
    return a.grad == 2.0


def told(change: LineChange) -> dict[str, Any]:
    return next(one for one in break_it([]).data["changes"] if one["name"] == change.name)


@CHANGE
def test_a_change_makes_the_number_wrong(change: LineChange) -> None:
    gives, true = found(change)
    assert abs(gives - true) > 0.05
    assert brief(gives) != brief(true)


@CHANGE
def test_the_line_is_one_line_of_the_engine(change: LineChange) -> None:
    old, new = change.lines()
    assert old != new
    assert "\n" not in old + new
    assert change.kind in KINDS
    assert isinstance(engines()[change.name], type)


@CHANGE
def test_one_guess_is_right_and_no_two_are_equal(change: LineChange) -> None:
    guesses = told(change)["guesses"]
    assert [guess["text"] for guess in guesses if guess["right"]] == [brief(found(change)[0])]
    assert len({guess["text"] for guess in guesses}) == len(guesses) > 2


def of_second_pass() -> list[float]:
    """What each node holds and sends in the second pass of an engine that clears nothing."""
    w, b = (engines()["nothing cleared"](v) for v in (0.5, -0.2))
    z = w * 1.5 + b
    h = z.tanh()
    out = z + h
    error = out - 0.2
    loss = error**2
    loss.backward()
    w.grad = b.grad = 0.0
    loss.backward()
    assert b.grad == z.grad
    sent = [node.grad * local for node in (loss, h) for local in node.local_grads]
    return [error.grad, out.grad, z.grad, *sent]


@CHANGE
def test_numbers_in_words_are_those_of_the_neuron(change: LineChange) -> None:
    loss = neuron()
    loss.backward()
    known = set()
    for node in loss.sorted_graph():
        slopes = [float(local) for _, local in local_gradients(node) if local is not None]
        known |= {brief(float(x)) for x in (node.data, node.grad, *slopes)}
        known |= {brief(float(node.grad) * local) for local in slopes}
    known |= {brief(x) for x in found(change)}
    known |= {brief(x) for x in of_second_pass()}
    known |= {"0.7495", "0.6975"} if abs(1 - 0.55**2 - 0.6975) < 1e-9 else set()
    known.add("0.1.0")  # a version
    words = " ".join([change.says, change.why, change.met, *(wrong.says for wrong in change.wrong)])
    for number in re.findall(r"\d+(?:\.\d+)+", re.sub(r"\]\([^)]*\)", "", words)):
        assert number in known, number


def test_what_should_come_out_is_what_pytorch_says() -> None:
    w, b, target = (
        torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (0.5, -0.2, 0.2)
    )
    z = w * 1.5 + b
    ((z + torch.tanh(z) - target) ** 2).backward()
    assert b.grad is not None
    assert target.grad is not None
    expected = {key: b.grad.item() for key in WITNESSES}
    expected |= {"twice": 2 * b.grad.item(), "target": target.grad.item()}
    for key, (_, run) in WITNESSES.items():
        assert run(Node) == pytest.approx(expected[key]), key


def test_a_part_of_several_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="and not once"):
        broken("self", "other")
    with pytest.raises(ValueError, match="0 times"):
        broken("no such line", "")


def test_the_game_says_which_tests_fail() -> None:
    data = break_it([passes, of_sums]).data
    assert data["tests"] == [
        {"name": "passes", "does": "pass everything."},
        {"name": "of sums", "does": "add <code>a</code> to itself."},
    ]
    sees = {change["name"]: change["seen"] for change in data["changes"]}
    assert sees["= for +="] == [False, True]
    assert sees["parents as a set"] == [False, True]
    assert sees["a minus lost"] == [False, False]


def test_without_a_script_the_ten_lines_are_there() -> None:
    game = break_it([passes])
    still = game.html.partition('class="cg-live"')[0]
    assert still.count("<li>") == len(CHANGES) == 10
    assert "comes out as 1.275" in still
    assert repr(game) == f"<Figure: {game.alt}>"


def test_the_table_has_a_row_for_each_change() -> None:
    table = what_catches_what([passes, of_sums])
    assert table.html.count('scope="row"') == 10
    assert f"{name(of_sums)} 2" in table.alt
    assert "<script>" not in table.html


@CHANGE
def test_each_was_met_somewhere(change: LineChange) -> None:
    for words in (change.met, change.source):
        assert re.findall(r"\]\(https://github\.com/[\w./-]+/(?:issues|pull)/\d+\)", words), words
