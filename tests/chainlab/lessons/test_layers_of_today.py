"""What *Today's layers* draws: what its users send back is what PyTorch computes."""

import re

import numpy as np
import torch

from chainlab.lessons import layers_of_today as lesson


def total(scene: lesson.Scene, name: str) -> list[float]:
    """The gradient that the figure says of an input."""
    said = lesson.told(scene, name).rstrip(".").replace("−", "-")
    return [float(number) for number in re.findall(r"-?[\d.]+", said.partition("= ")[2])]


def test_a_row_adds_up_its_places() -> None:
    table = torch.tensor(lesson.TABLE, requires_grad=True)
    table[list(lesson.TOKENS)].backward(torch.tensor(lesson.D_H))
    scene = lesson.embedding()
    assert table.grad is not None
    for word, row in zip(lesson.WORDS, table.grad, strict=True):
        np.testing.assert_allclose(total(scene, word) or 0, row if row.any() else 0, atol=1e-3)


def test_a_filter_and_its_pixels_add_up() -> None:
    x, w = (torch.tensor(a, requires_grad=True) for a in (lesson.PIXELS, lesson.FILTER))
    y = torch.nn.functional.conv1d(x.view(1, 1, -1), w.view(1, 1, -1))
    y.backward(torch.tensor(lesson.D_Y).view(1, 1, -1))
    scene = lesson.convolution()
    assert x.grad is not None
    assert w.grad is not None
    np.testing.assert_allclose([*scene.columns[1].values()], y.detach().flatten())
    for name, leaf in (("x", x), ("w", w)):
        for i, expected in enumerate(leaf.grad):
            assert total(scene, f"{name}{lesson.SMALL[i + 1]}") == [round(expected.item(), 3)]


def test_a_query_keys_values_and_scores_add_up() -> None:
    q = torch.tensor(lesson.QUERY, dtype=torch.float64, requires_grad=True)
    k, v = (torch.tensor(a, requires_grad=True) for a in (lesson.KEYS, lesson.VALUES))
    s = q * k
    p = torch.softmax(s, 0)
    for middle in (s, p):
        middle.retain_grad()
    (lesson.D_O * (p @ v)).backward()
    scene = lesson.attention()
    for name, tensor in {"k": k, "s": s, "p": p, "v": v}.items():
        for i, expected in enumerate(tensor.grad):
            found = total(scene, f"{name}{lesson.SMALL[i + 1]}")
            np.testing.assert_allclose(found, [expected.item()], atol=6e-4)
    assert q.grad is not None
    np.testing.assert_allclose(total(scene, "q"), [q.grad.item()], atol=6e-4)
