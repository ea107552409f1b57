"""Computing without recording, and under watch."""

import threading

import numpy as np
import pytest

from chaingrad import AnomalyError, Node, detect_anomaly, no_grad
from chaingrad.optim import SGD
from chaingrad.rules import Rule


def test_no_grad_records_nothing_and_ends_with_the_block():
    x = Node(2.0)
    with no_grad():
        assert not (x * x).requires_grad
        with no_grad():
            pass
        assert not x.exp().requires_grad
    assert (x * x).requires_grad

    @no_grad()
    def update():
        return x * x

    assert not update().requires_grad
    with pytest.raises(RuntimeError), no_grad():
        raise RuntimeError
    assert (x * x).requires_grad


def test_no_grad_wants_its_parentheses_and_no_generator():
    def numbers():
        yield 1.0

    with pytest.raises(TypeError, match=r"with no_grad\(\):"), no_grad:
        pass
    with pytest.raises(TypeError, match=r"@no_grad\(\)$"):
        no_grad(numbers)
    with pytest.raises(TypeError, match=r"with no_grad\(\): inside it"):
        no_grad()(numbers)
    x, once = Node(2.0), no_grad()
    with once, once:
        y = x * x
    assert not y.requires_grad
    assert (x * x).requires_grad


def test_a_mode_holds_for_its_own_thread_alone():
    x, seen = Node(2.0), []

    def elsewhere():
        seen.append((x * x).requires_grad)
        with np.errstate(invalid="ignore"):
            seen.append((x * -1).log().data)

    with no_grad(), detect_anomaly():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert seen[0]
    assert np.isnan(seen[1])


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda x: x.log() * 0, r"log of node 'x' of shape \(2,\) gave nan at index \(1,\)"),
        (lambda x: 1 / (x + 1), r"div of .* and node add of shape \(2,\) gave inf at index \(1,\)"),
        (lambda x: (x * 1e3).exp(), r"exp of node mul .* gave inf at index \(0,\)"),
    ],
)
def test_the_first_operation_that_makes_a_nan_or_an_infinity_is_named(compute, message):
    with detect_anomaly(), pytest.raises(AnomalyError, match=message):
        compute(Node(np.array([1.0, -1.0]), "x"))


def test_infinite_operands_are_no_anomaly():
    mask = np.array([0.0, -np.inf])
    x = Node(np.ones(2))
    with detect_anomaly():
        (x + mask).logsumexp().backward()
    assert x.grad.tolist() == [1.0, 0.0]


def test_the_backward_pass_is_watched():
    x = Node(0.0, "x")
    with (
        detect_anomaly(),
        pytest.raises(AnomalyError, match=r"backward pass of sqrt gave inf.*'x'"),
    ):
        x.sqrt().backward()
    wrong = Rule("wrong", lambda a, b: a + b, (None, lambda g, out, a, b: g * np.nan))
    with detect_anomaly(), pytest.raises(AnomalyError, match="backward pass of wrong gave nan"):
        wrong(x, Node(1.0)).backward()


@pytest.mark.parametrize("create_graph", [False, True])
def test_data_changed_between_the_passes_is_caught(create_graph):
    W = Node(np.ones((2, 2)), "W")
    with detect_anomaly():
        loss = (W * W).sum()
        W.data[0, 0] = 5.0
        with pytest.raises(AnomalyError, match=r"'W' of shape \(2, 2\) changed after mul"):
            loss.backward(create_graph=create_graph)
        w = Node(3.0, "w")
        square = w * w
        w.data = 4.0
        with pytest.raises(AnomalyError, match="'w' of shape"):
            square.backward()


def test_a_buffer_that_is_filled_anew_is_caught_beside_a_node():
    w, buffer, total = Node(np.ones(3), "w"), np.empty(3), Node(0.0)
    with detect_anomaly():
        for k in range(3):
            buffer[:] = k
            total = total + (w * buffer).sum()
        with pytest.raises(AnomalyError, match=r"changed after mul had used it"):
            total.backward()


def test_a_result_that_its_rule_reads_is_watched_too():
    x = Node(np.array([1.0, 2.0]))
    with detect_anomaly():
        y = x.exp()
        y.data[0] = 5.0
        with pytest.raises(AnomalyError, match=r"shape \(2,\) changed after it was computed"):
            y.sum().backward()


def test_steps_of_training_are_no_change():
    w = Node(1.0, "w")
    optimizer = SGD([w], 0.1)
    with detect_anomaly():
        for _ in range(3):
            optimizer.zero_grad()
            (w * w).backward()
            optimizer.step()
    assert w.data == pytest.approx(0.8**3)


def test_what_is_right_passes():
    x = Node(np.array([1.0, 2.0]))
    with detect_anomaly():
        loss = (x.exp() / (x + 1)).sum()
        loss.backward()
        x.data = x.data - 0.1 * x.grad
        (x * x).sum()
    plain = Node(np.array([1.0, 2.0]))
    (plain.exp() / (plain + 1)).sum().backward()
    assert x.grad.tolist() == plain.grad.tolist()
