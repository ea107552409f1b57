"""Groups of values as a graph without cycles, whatever the modules are."""

import numpy as np
import pytest

from chaingrad.graph import toposort
from chaingrad.messages import Message
from chainview.frameworks.folding import fold, group_parents, ordered, without_cycles
from chainview.frameworks.run import ModuleCall, WatchedNode
from chainview.frameworks.watched import Watched

ROOT = ModuleCall()


def calls_at_random(rng):
    """A tree of calls; what is in one need not follow one another."""
    calls = [ROOT]
    for i in range(int(rng.integers(1, 12))):
        outer = calls[rng.integers(len(calls))]
        calls.append(ModuleCall(f"{outer.path}.m{i}".strip("."), "Module", outer))
    return calls


def run_at_random(seed):
    rng = np.random.default_rng(seed)
    calls = calls_at_random(rng)
    values = []
    for i in range(int(rng.integers(2, 90))):
        count = 0 if i == 0 else int(rng.integers(0, 4))
        parents = tuple(values[j] for j in rng.integers(max(0, i - 12), i, count)) if i else ()
        values.append(
            WatchedNode(
                "Op" if parents else "",
                f"v{i}" * bool(rng.random() < 0.2),
                parents,
                float(i),
                1.0,
                requires_grad=bool(rng.random() < 0.7),
                is_parameter=not parents and bool(rng.random() < 0.6),
                is_input=not parents,
                call=calls[rng.integers(len(calls))],
                kept=int(rng.integers(3)),
            )
        )
    unread = {*values} - {p for v in values for p in v.parents}
    loss = WatchedNode("Sum", "loss", tuple(v for v in values if v in unread), 1.0, 1.0, call=ROOT)
    values.append(loss)
    events = [
        Message(child, parent, i, 1.0, None, 1.0, None, 1.0)
        for child in reversed(values)
        for i, parent in enumerate(child.parents)
        if child.requires_grad and parent.requires_grad
    ]
    return Watched("none", loss, values, events)


def check(run, boxes, most):
    """Every value is in one box; every edge is inside one, or between two; none needs itself."""
    assert len(boxes.values) <= most
    box_of = {value: box for box in boxes.values for value in box.inside}
    assert len(box_of) == sum(len(box.inside) for box in boxes.values)
    order = toposort(boxes.loss, lambda box: box.parents)  # raises where there is a cycle
    assert {*order} <= {*boxes.values}
    place = {box: i for i, box in enumerate(boxes.values)}
    assert all(place[parent] < place[box] for box in boxes.values for parent in box.parents)
    inner = [v for v in run.values if v.parents and v in box_of]
    between = [(box_of[p], box_of[v]) for v in inner for p in v.parents if p in box_of]
    read = {(p, box) for box in boxes.values for p in box.parents}
    assert read <= {*between}
    return box_of, {(p, box) for p, box in between if p is not box} - read


@pytest.mark.parametrize("most", [1, 2, 3, 7, 20, 60])
@pytest.mark.parametrize("seed", range(40))
def test_folded_graphs_have_no_cycle_and_no_more_boxes_than_asked_for(seed, most):
    run = run_at_random(seed)
    boxes = fold(run, "", most)
    box_of, lost = check(run, boxes, most)
    assert {*box_of} == {*run.values}
    assert not lost
    sent = [e for e in run.events if box_of[e.child] is not box_of[e.parent]]
    assert len(boxes.events) == len(sent)
    assert all(event.child.parents[event.position] is event.parent for event in boxes.events)
    assert sum(box.kept for box in boxes.values) == sum(value.kept for value in run.values)


@pytest.mark.parametrize("most", [1, 2, 5, 20])
@pytest.mark.parametrize("seed", range(12))
def test_so_have_those_of_a_part(seed, most):
    run = run_at_random(seed)
    for path in {c.path for v in run.values if v.parents for c in v.call.chain} - {""}:
        check(run, fold(run, path, most), most)


@pytest.mark.parametrize("seed", range(60))
def test_any_groups_become_groups_without_cycles(seed):
    run = run_at_random(seed)
    rng = np.random.default_rng(seed)
    labels = {value: int(rng.integers(6)) for value in run.values}
    groups = without_cycles(run.values, labels)
    parents = group_parents(run.values, groups)
    assert len(ordered(parents)) == len(parents)
    assert all(labels[a] == labels[b] for a in groups for b in groups if groups[a] == groups[b])


def test_groups_that_make_no_cycle_stay_whole():
    run = run_at_random(3)
    labels = {value: i // 5 for i, value in enumerate(run.values)}
    assert without_cycles(run.values, labels) == labels
