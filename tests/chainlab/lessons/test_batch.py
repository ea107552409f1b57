"""What *A batch, and softmax* opens with: that its shapes are those of the page's own lines."""

import numpy as np

from chainlab.lessons.batch import AXES, LINES, SIZES, axes, batch, is_array
from tests.support import ROOT, each


@each("n", range(1, 9))
def test_the_lines_make_arrays_of_the_shapes_that_are_drawn(n: int) -> None:
    sizes = {**SIZES, "n": n}
    given = ("X", "Y", "W1", "b1", "W2")
    held = {name: np.ones([sizes[axis] for axis in AXES[name]]) for name in given}
    scope = {"np": np, "n": n, **held}
    for line in LINES:
        exec(line.code, scope)
        for name in filter(is_array, line.drawn):
            assert eval(name, scope).shape == tuple(sizes[axis] for axis in axes(name))
        if line.kind == "product":
            left, right = [*filter(is_array, line.drawn)][1:3]
            assert line.over == axes(left)[-1] == axes(right)[0]


def test_the_lines_stand_on_the_page() -> None:
    page = (ROOT / "chapters/mlp/matrix-equations.md").read_text()
    for line in LINES:
        assert f"\n{line.code}" in page


def test_what_is_drawn_is_told() -> None:
    assert batch().alt.startswith("Z (4, 3), H (4, 3), O (4, 2), dO (4, 2), dW2 (2, 3)")
