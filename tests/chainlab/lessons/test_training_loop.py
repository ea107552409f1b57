"""The cards of *The training loop*: what PyTorch does with each order, and what is said of it."""

from itertools import combinations

import torch

from chainlab.lessons.training_loop import CALLS, PASSES, RIGHT, orders, perform, sequences, told
from tests.support import each

EVERY = [*sequences()]
START = perform("").losses[0]


def test_every_order_of_every_selection_is_there() -> None:
    assert len(set(EVERY)) == len(EVERY) == sum((120, 120, 60, 20, 5, 1))
    data = orders().data
    assert {*data["found"]} == {*EVERY}
    assert data["calls"] == CALLS


def test_what_happens_depends_on_these_rules_alone() -> None:
    for calls in EVERY:
        done, at = perform(calls), {call: i for i, call in enumerate(calls)}
        if "b" in at and ("f" not in at or at["b"] < at["f"]):
            assert "NameError: name 'loss' is not defined" in done.error
            continue
        reads = "s" in at and "b" in at
        # The calls from backward to the step that reads it, around the end of a pass.
        turn = (calls + calls)[at["b"] + 1 :].split("s")[0] if reads else ""
        if reads and at["f"] < at["s"] < at["b"] and "z" not in turn:
            assert "modified by an inplace operation" in done.error
            assert done.error.startswith("Pass 2: ")
            continue
        assert not done.error
        assert len(done.losses) == PASSES + 1
        if not reads or "z" in turn:
            assert set(done.losses) == {START}  # to the last bit
        else:
            assert done.losses[-1] != START
            late = at["s"] < at["b"]
            whole = range(PASSES - 1, -1, -1) if late else range(PASSES)
            expected = (1 if late else 0,) if "z" in at else tuple(whole)
            assert sorted(done.read) == sorted(x for x in expected if x or not late)
            if "z" in at:
                assert done.shortened == ("c" in turn)
                wild = max(done.losses[12:])
                assert wild < 0.1 if done.shortened else wild > 2


def test_orders_that_are_called_right_are_the_same_and_late_ones_a_pass_behind() -> None:
    right = perform(RIGHT).losses
    assert {perform(calls).losses for calls in EVERY if told(calls) == told(RIGHT)} == {right}
    late = [calls for calls in EVERY if perform(calls).read == (1,) and perform(calls).shortened]
    assert len(late) == 4
    assert {perform(calls).losses[1:] for calls in late} == {right[:-1]}


def test_ten_of_fifteen_small_mistakes_raise_nothing() -> None:
    missing = [RIGHT.replace(call, "") for call in RIGHT]
    swap = str.maketrans
    swapped = [RIGHT.translate(swap(a + b, b + a)) for a, b in combinations(RIGHT, 2)]
    assert len(missing + swapped) == 15
    assert sum(not perform(calls).error for calls in missing + swapped) == 10


@each("calls", [RIGHT, "fbs", "zfbs"])
def test_losses_are_those_of_a_loop_written_out(calls: str) -> None:
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(PASSES, 8, 1, generator=generator, dtype=torch.float64) * 2 - 1
    targets = 1.5 * inputs + 0.5
    targets[11, 0] = 20
    torch.manual_seed(0)
    layers = torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
    model = torch.nn.Sequential(*layers).double()
    sums = [torch.zeros_like(p) for p in model.parameters()]
    for x, y in zip(inputs, targets, strict=True):
        loss = ((model(x) - y) ** 2).mean()
        found = torch.autograd.grad(loss, [*model.parameters()])
        sums = [s + g if "z" not in calls else g for s, g in zip(sums, found, strict=True)]
        if "c" in calls:
            norm = float(torch.cat([g.flatten() for g in sums]).norm())
            sums = [g * min(1, 1 / (norm + 1e-6)) for g in sums]
        with torch.no_grad():
            for p, g in zip(model.parameters(), sums, strict=True):
                p.sub_(0.1 * g)
    where = torch.linspace(-1, 1, 41, dtype=torch.float64)[:, None]
    with torch.no_grad():
        last = float(((model(where) - 1.5 * where - 0.5) ** 2).mean())
    assert abs(last - perform(calls).losses[-1]) < 1e-9
