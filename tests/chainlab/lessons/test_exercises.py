"""The memory that *Five exercises* draws: what the ledgers of such nets say, whole and cut."""

import numpy as np

from chaingrad import Node
from chaingrad.account import Ledger
from chainlab.lessons.exercises import CUTS, Bytes, crosses, predicts, trains
from tests.support import each

SIZES = [(6, 8, 5, 3), (4, 2, 3, 7), (10, 6, 1, 1)]  # n, h, d, q


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).astype(np.float32) for shape in shapes]


def held(root: Node, trained: int = 0) -> Bytes:
    """What training keeps for a graph; of its inputs, `trained` bytes are values."""
    ledger = Ledger(root)
    return {
        "parameters": ledger.parameter_bytes,
        "gradients": ledger.parameter_bytes,
        "state": ledger.state_bytes("adam"),
        "examples": ledger.input_bytes - trained,
        "values": ledger.needed_bytes + trained,
    }


def given(array: np.ndarray) -> Node:
    return Node(array, requires_grad=False)


def half_squares(out: Node, Y: Node) -> Node:
    return ((out - Y) ** 2).sum() / 2


@each("size", SIZES)
def test_the_whole_and_its_prediction_are_the_ledgers(size: tuple[int, ...]) -> None:
    n, h, d, q = size
    W1, W2, X, Y = arrays((h, d), (q, h), (n, d), (n, q))
    out = (given(X) @ Node(W1).T).relu() @ Node(W2).T
    assert trains(n, h, 2, d, q)["whole"] == [held(half_squares(out, given(Y)))]
    ledger = Ledger(out)
    assert predicts(n, h, d, q) == {
        "parameters": ledger.parameter_bytes,
        "examples": ledger.input_bytes,
        "values": ledger.prediction_peak(),
    }


@each("size", SIZES)
def test_each_device_is_the_ledger_of_its_part(size: tuple[int, ...]) -> None:
    n, h, d, q = size
    W1, W2, X, Y = arrays((h, d), (q, h), (n, d), (n, q))
    found, sent = trains(n, h, 2, d, q), crosses(n, h, d, q)
    # between the layers: H crosses, and its gradient
    H = (given(X) @ Node(W1).T).relu()
    arrived = given(H.data)
    second = held(half_squares(arrived @ Node(W2).T, given(Y)), H.data.nbytes)
    assert found["layers"] == [held(H), second]
    assert sent["layers"] == 2 * H.data.nbytes
    # by hidden units: each has a term of O, and the second device adds them
    terms = [
        (given(X) @ Node(W1[part]).T).relu() @ Node(W2[:, part]).T
        for part in (slice(h // 2), slice(h // 2, h))
    ]
    # the term that arrives is added, and not kept
    summed = terms[1] + given(terms[0].data)
    whole = held(half_squares(summed, given(Y)))
    whole["examples"] -= terms[0].data.nbytes
    assert found["units"] == [held(terms[0]), whole]
    assert sent["units"] == 2 * terms[0].data.nbytes
    # by examples: all weights, half of the batch
    for part, rows in zip(found["batch"], (slice(n // 2), slice(n // 2, n)), strict=True):
        out = (given(X[rows]) @ Node(W1).T).relu() @ Node(W2).T
        assert part == held(half_squares(out, given(Y[rows])))
    assert sent["batch"] == 2 * (W1.nbytes + W2.nbytes)
    assert set(sent) == set(CUTS)
