"""The transformer that sorts: the page's own lines, and that other starts learn as well."""

import re

import numpy as np
import pytest

from chainlab.lessons import sorter
from chainlab.lessons.sorter import Attention, Transformer, answers, loss_of, train
from chainlab.lessons.sorting_transformer import packed
from tests.support import ROOT
from tools.execute import Page

PAGE = ROOT / "chapters" / "mlp" / "sorting-transformer.md"
NEW = np.random.default_rng(11).integers(0, 10, (500, 6))


class Unmasked(Attention):
    def mask(self, places: int) -> np.ndarray:
        return np.zeros((places, places), np.float32)


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def test_the_page_shows_the_net_line_for_line() -> None:
    shown = [line for cell in Page(ROOT, PAGE).code for line in lines(cell.source)]
    written = lines((ROOT / "src/chainlab/lessons/sorter.py").read_text().partition('"""\n')[2])
    text = "\n".join(shown)
    for part in re.split(r"\n(?=class |def |import )", "\n".join(written)):
        assert part in text
    assert sorter.__doc__


def sorts(net: Transformer) -> float:
    return float((answers(net, NEW) == np.sort(NEW)).all(axis=1).mean())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_from_other_starts_it_learns_with_the_mask_and_without_it_doesnt(seed: int) -> None:
    net = Transformer(np.random.default_rng(seed))
    *_, loss = train(net)
    assert loss < 0.1
    assert sorts(net) > 0.9
    rng = np.random.default_rng(seed)
    eager = Transformer(rng)
    for block in eager.blocks:
        block.attention = Unmasked(rng)
    *_, loss = train(eager)
    assert loss < 0.01
    assert sorts(eager) < 0.1
    # A byte for each parameter, as in the film, hardly changes what it answers.
    held = {name: p.data for name, p in net.named_parameters()}
    _, scales = packed(held)
    rounded = Transformer(np.random.default_rng(seed))
    state = zip(held.items(), scales, strict=True)
    rounded.load_state_dict(
        {name: np.rint(array / scale) * scale for (name, array), scale in state}
    )
    assert (answers(net, NEW) == answers(rounded, NEW)).all(axis=1).mean() > 0.98


def test_what_comes_later_changes_nothing() -> None:
    net = Transformer(np.random.default_rng(0))
    line = NEW[:5].copy()
    before = net(line).data[:, :4]
    line[:, 4:] = 9 - line[:, 4:]
    np.testing.assert_array_equal(net(line).data[:, :4], before)
    loss = loss_of(net, NEW[:5], NEW[:5, -1:])
    loss.backward()
    assert not net.place.grad[6:].any()  # of places that no line has reached
