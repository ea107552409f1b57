"""What *What `backward` does in PyTorch* plays, held to the course's engine and to the message."""

import pytest

from chaingrad.messages import messages
from chainlab.lessons.computational_graph import neuron
from chainlab.lessons.pytorch_backward import BOXES, calls, frames
from tests.support import each


@each("retain", [False, True])
def test_the_first_call_sends_what_the_engine_sends(retain: bool) -> None:
    root = neuron()
    root.backward()
    sent = {
        (m.child.label, m.parent.label): float(m.share)
        for m in messages(root)
        if m.child.label in BOXES and m.parent.label in BOXES
    }
    adjoints = {node.label: float(node.grad) for node in root.sorted_graph()}
    first = calls(retain)[0]
    recorded = {(e["at"], to): share for e in first for to, share in e["sent"].items()}
    assert recorded == pytest.approx(sent, rel=1e-5)
    got = {e["at"]: e["got"] for e in first if e["at"]}
    assert got == pytest.approx({at: adjoints[at] for at in BOXES}, rel=1e-5)


@each("retain", [False, True])
def test_what_is_freed_decides_where_the_next_call_stops(retain: bool) -> None:
    found = calls(retain)
    assert len(found) == 2 + retain
    grads = [call[-1]["grads"]["w"] for call in found]
    assert grads == pytest.approx([grads[0] * n for n in ((1, 2, 2) if retain else (1, 1))])
    for number, call in enumerate(found):
        keeps = retain and not number
        gone = [at for at, box in BOXES.items() if box[0] and call[-1]["saved"][at] is None]
        assert gone == ([] if keeps else ["loss", "h", "p"])
    assert "backward through the graph a second time" in found[-1][-1]["error"]


def test_a_function_lets_go_as_soon_as_it_has_run() -> None:
    for events in calls(False)[:1]:
        for event in events[1:]:
            ran = [e["at"] for e in events[: events.index(event) + 1]]
            held = [at for at, box in BOXES.items() if box[0] and event["saved"][at] is not None]
            assert held == [at for at, box in BOXES.items() if box[0] and at not in ran]


@each("retain", [False, True])
def test_every_step_has_words_and_a_line_for_each_box(retain: bool) -> None:
    for call in frames(retain):
        for frame in call:
            assert frame["words"]
            assert list(frame["boxes"]) == list(BOXES)
