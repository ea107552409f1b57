"""One message is wrong."""

import pytest

from chaingrad.messages import local_gradients
from chainlab.drills import KINDS
from chainlab.drills.draw.forms import Form
from chainlab.drills.kinds.kind import LEVELS
from chainview.read.reading import read
from tests.chainlab.drills.support import DRAWN, MANY, number, problem

pytestmark = DRAWN


@pytest.mark.parametrize("level", LEVELS)
def test_one_message_alone_is_wrong(level):
    """By the engine's local gradients, and what each node is shown to hold."""
    for seed in MANY:
        drawn = problem("messages", level, seed)
        root = Form.parse(KINDS["messages"].forms(level)[drawn.number]).run(drawn.leaves)
        items = {item.id: item for item in read(root, "test", 100)}
        grads = [each for each in drawn.entry["written"] if each[1] == "grad"]
        shown = {id: number(text.removeprefix("grad ")) for id, _, text in grads}
        came = dict.fromkeys(shown, 0.0) | {list(items)[-1]: 1.0}
        wrong = []
        for i, edge in enumerate(drawn.entry["edges"]):
            parent, child, which = edge["ends"]
            places = [k for k, id in enumerate(items[child].parents) if id == parent]
            local = local_gradients(items[child].node)[places[which]][1]
            sent = number(edge["number"])
            came[parent] += sent
            if abs(sent - shown[child] * local) > 1e-9:
                wrong.append(i)
            assert edge["alike"] != "passed on" or edge["number"] != edge["right"]
        assert wrong == [drawn.entry["fault"]]
        assert came == pytest.approx(shown)
