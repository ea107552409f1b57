"""What is kept is what the backward pass reads."""

import json

import pytest

from chainlab.drills import KINDS
from chainlab.drills.draw.forms import Form
from chainlab.drills.kinds import keep
from chainlab.drills.kinds.kind import LEVELS
from chainview.read.reading import read
from tests.chainlab.drills.support import DRAWN, called, problem

pytestmark = DRAWN


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_kept_is_what_gradients_change_with(page, level):
    """A value that becomes another after the forward pass changes gradients if it is read."""
    for number, lines in enumerate(KINDS["keep"].forms(level)):
        found = problem("keep", level, number + 1).entry
        form = Form.parse(lines)

        def gradients(spoiled=None, form=form):
            root = form.run(keep.VALUES[: len(form.leaves)], keep.FROZEN)
            nodes = {item.id: item.node for item in read(root, "test", 100)}
            if spoiled:
                nodes[spoiled].data *= -1.3
            root.backward()
            return [node.grad for node in nodes.values() if not node.parents]

        known = pytest.approx(gradients(), rel=1e-9, abs=1e-15)
        right, moves = found["right"], [id for id in found["says"] if gradients(id) != known]
        code = f"judgeKept({json.dumps(found)}, chosen)"
        tried = [found["also"], right, *(kept for _, kept in found["wrong"])]
        verdicts = called(page, f"{json.dumps(tried)}.map((chosen) => {code} ?? null)")
        assert set(moves) <= set(right)
        cancel = len(right) - len(moves)  # as q does in (p / q) * q
        assert not cancel or "/" in lines
        assert cancel <= 2
        assert verdicts[:2] == [None, None]
        names = [name for name, _ in found["wrong"]]
        assert [verdict["name"] for verdict in verdicts[2:]] == names


def test_a_quotient_may_keep_what_pytorch_keeps():
    """s = q / r, where q is a sum: {r, s} or {q, r}."""
    [found] = [
        problem("keep", 2, number + 1)
        for number, text in enumerate(KINDS["keep"].forms(2))
        if text == "p = sqrt(b); q = p + a; r = sigmoid(b); s = q / r"
    ]
    called_ = {id: text.partition(",")[0] for id, text in found.entry["says"].items()}
    letter = dict(zip(found.names, "pqrs", strict=True))
    ours, torch = ({letter[id] for id in found.entry[key]} for key in ("right", "also"))
    assert (ours, torch) == ({"p", "r", "s"}, {"p", "q", "r"})
    assert found.names.items() <= called_.items()
