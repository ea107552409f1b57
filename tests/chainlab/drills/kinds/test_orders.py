"""An order is valid if each node stands behind all that use it."""

import json

import pytest

from chainlab.drills import KINDS
from chainlab.drills.draw.forms import Form
from chainlab.drills.draw.series import Series
from chainlab.drills.kinds.kind import LEVELS
from chainview.read.reading import read
from tests.chainlab.drills.support import DRAWN, called, problem

pytestmark = DRAWN


@pytest.mark.parametrize("level", LEVELS)
def test_an_order_is_judged_by_who_uses_whom(page, level):
    for number, lines in enumerate(KINDS["orders"].forms(level)):
        entry, form = problem("orders", level, number + 1).entry, Form.parse(lines)
        root = form.run([1.0] * len(form.leaves))
        items = {item.id: item for item in read(root, "test", 100)}
        engine = [id for id, item in items.items() if item.node.parents]
        by_node = {item.node: item.id for item in items.values()}
        sorted_ = [by_node[node] for node in root.sorted_graph()]
        order = [id for id in sorted_ if id in engine]
        tried = [order, entry["order"], *(wrong for _, wrong in entry["wrong"])]
        dice = Series(lines)
        for _ in range(30):
            tried.append(sorted(engine, key=lambda _: dice.below(1000)))
        code = f"judgeOrder({json.dumps(entry)}, order) ?? null"
        verdicts = called(page, f"{json.dumps(tried)}.map((order) => {code})")
        for order, verdict in zip(tried, verdicts, strict=True):
            valid = all(
                order.index(id) < order.index(parent)
                for id in engine
                for parent in items[id].parents
                if parent in engine
            )
            assert (verdict is None) == valid
        assert verdicts[:2] == [None, None]
        names = [name for name, _ in entry["wrong"]]
        assert [v["name"] for v in verdicts[2 : 2 + len(names)]] == names
        assert len(names) >= 4
