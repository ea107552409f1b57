"""A piece as a file: what is in it, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from chaingrad import Node
from chainview import export, play


def test_a_node_is_written_as_its_player(tmp_path: Path) -> None:
    x = Node(3.0, "x")
    y = x * x
    y.label = "y"
    one, two = export(y, tmp_path / "one.html"), export(play(y), str(tmp_path / "two.html"))
    assert one.read_bytes() == two.read_bytes()
    text = one.read_text("utf-8")
    assert play(y).html in text
    assert "<title>Step by step from x to y = 9.0 and back: 8 steps.</title>" in text
    assert x.grad == 0.0


def test_what_cannot_be_played_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "none.html"
    with pytest.raises(ValueError, match="not a scalar"):
        export(Node(np.ones(3)) * 2.0, path)
    with pytest.raises(TypeError, match="expected a node"):
        export(3.0, path)  # type: ignore[arg-type]
    assert not path.exists()
