"""What *Memory and rematerialization* draws, held to the bytes and the runs of the engine."""

import gc
import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from chaingrad import Node, checkpoint
from chaingrad.account import Ledger
from chaingrad.nn import Parameter
from chainlab.lessons.rematerialization import LAYERS, moments
from tests.support import each


def engine(kept: tuple[int, ...]) -> tuple[float, int, float]:
    """Run a step; the arrays kept after its forward pass, layers run again, arrays at the peak."""
    rng = np.random.default_rng(0)
    examples, width, calls = 8192, 8, 0
    Ws = [Parameter(rng.standard_normal((width, width), np.float32)) for _ in range(LAYERS)]
    X = Node(rng.standard_normal((examples, width), np.float32), requires_grad=False)

    def run(H: Node, start: int, end: int) -> Node:
        nonlocal calls
        calls += end - start
        for W in Ws[start:end]:
            H = H @ W.T
        return H

    gc.collect()
    tracemalloc.start()
    try:
        H, start = X, 0
        for end in (*kept, LAYERS):
            H = checkpoint(run, H, start, end) if end - start > 1 else run(H, start, end)
            start = end
        loss = H.squared_norm()
        del H
        left = Ledger(loss).value_bytes // X.data.nbytes
        loss.backward(release=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return left, calls - LAYERS, peak / X.data.nbytes


@each("kept", [tuple(range(1, 16)), (4, 8, 12), (), (6, 11, 15), (2, 4, 6, 8, 10, 12, 14), (3, 4)])
def test_the_moments_are_those_of_the_engine(kept: tuple[int, ...]) -> None:
    """The engine holds the result of a piece that it runs again twice, and nothing else besides."""
    step = moments(kept)
    left, again, peak = engine(kept)
    assert left == len(kept) + 1
    assert again == sum(moment.kind == "again" for moment in step)
    most = max(moment.results + moment.adjoints for moment in step)
    assert peak == pytest.approx(most + (again > 0), abs=0.2)


def test_every_layer_is_there_when_its_gradient_is_computed() -> None:
    for kept in ((), (1,), (2, 3), (1, 2, 3, 4, 5)):
        step = moments(kept, 6)
        assert [moment.layer for moment in step if moment.kind == "backward"] == [6, 5, 4, 3, 2, 1]
        again = {moment.layer for moment in step if moment.kind == "again"}
        assert again >= {1, 2, 3, 4, 5, 6} - {*kept, 6}


def test_unequal_pieces_beat_equal_ones() -> None:
    peaks = [
        max(m.results + m.adjoints for m in moments(kept))
        for size in range(7)
        for kept in combinations(range(1, LAYERS), size)
    ]
    equal = [
        max(m.results + m.adjoints for m in moments(range(every, LAYERS, every)))
        for every in range(1, LAYERS + 1)
    ]
    assert min(equal) == 9
    assert min(peaks) == 8
