"""Figures that move: what they carry is what the engine computed."""

import json
import math
import re

import numpy as np
import pytest

from chaingrad import Node
from chainview import transposes, vary
from chainview.figures.figure import HERE
from chainview.player.names import plain
from tests.support import each

CONTROLS = {"depth": [1, 3], "gain": [0.5, 2.0], "shape": ["<up>", "down"]}


def line(depth, gain, shape):
    numbers = [gain**k / 7 for k in range(depth)]
    return numbers if shape == "<up>" else numbers[::-1], f"{depth} & {gain}"


def figure(**options):
    return vary(line, CONTROLS, x="k", y="size", **options)


def carried(moving):
    """The data that the script looks up, as the page has them."""
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', moving.html)[1])


def body(moving):
    """What stands without scripts."""
    return re.search(r"</style>(.*)<script type", moving.html, re.S)[1]


@pytest.fixture
def product():
    generator = np.random.default_rng(0)
    X = Node(generator.normal(size=(4, 3)), "X", requires_grad=False)
    W = Node(generator.normal(size=(2, 3)), "W")
    Z = X @ W.T
    Z.label = "Z"
    (Z.tanh().squared_norm() + W.squared_norm()).backward()
    return X, W, Z


# --- a line for each setting --------------------------------------------------------------------


def test_every_setting_has_what_was_computed_for_it_by_three_digits():
    data = carried(figure())
    assert data["names"] == list(CONTROLS)
    assert data["options"] == [["1", "3"], ["0.5", "2.0"], ["<up>", "down"]]
    rows = iter(data["rows"])
    for depth in (1, 3):
        for gain in (0.5, 2.0):
            for shape in ("<up>", "down"):
                numbers, words = line(depth, gain, shape)
                found, told = next(rows)
                np.testing.assert_allclose(found, numbers, rtol=5e-3)
                assert found == [float(f"{x:.3g}") for x in numbers]
                assert told == words


def test_numbers_get_a_slider_and_words_a_list():
    html = figure(start=(3, 2.0, "down")).html
    assert re.findall(r'<input type="range" min="0" max="1" value="(\d)"', html) == ["1", "1"]
    assert '<option value="0">&lt;up&gt;</option><option value="1" selected>down<' in html


def test_it_stands_as_it_is_to_begin_with():
    moving = figure(start=(3, 0.5, "down"))
    assert moving.alt == "size against k. depth 3, gain 0.5, shape down. 3 & 0.5"
    assert '<p class="cg-setting">depth 3, gain 0.5, shape down</p>' in moving.html
    assert ">3 &amp; 0.5</p>" in moving.html
    assert "hidden" in re.search(r'<div class="cg-controls"([^>]*)>', moving.html)[1]
    assert moving._repr_mimebundle_() == {"text/html": moving.html, "text/plain": moving.alt}
    assert repr(moving) == f"<Figure: {moving.alt}>"


@pytest.mark.parametrize("log", [True, False])
def test_the_line_lies_on_the_axes(log):
    moving = figure(start=(3, 2.0, "<up>"), log=log)
    left, step, _, zero, up, is_log = carried(moving)["axes"]
    assert bool(is_log) == log
    points = re.findall(
        r"[ML](\S+?) ([\d.]+)", re.search(r'class="cg-line" d="(.*?)"', moving.html)[1]
    )
    numbers, _ = line(3, 2.0, "<up>")
    for i, (x, y) in enumerate(points):
        assert float(x) == pytest.approx(left + i * step, abs=0.1)
        value = (zero - float(y)) / up
        assert (10**value if log else value) == pytest.approx(numbers[i], rel=2e-2)
    assert ("cg-peak" in body(moving)) == ("cg-fill" in body(moving)) == (not log)


def test_long_lines_have_no_dots():
    assert "cg-dots" in body(figure())
    assert "cg-dots" not in body(vary(lambda n: (range(n), ""), {"n": [99]}, x="", y=""))


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="controls needs names"):
        vary(line, {}, x="", y="")
    with pytest.raises(ValueError, match="controls needs names"):
        vary(line, {"depth": []}, x="", y="")
    with pytest.raises(ValueError, match=r"start=\(2, 0.5, 'down'\) is not one of the settings"):
        figure(start=(2, 0.5, "down"))
    for numbers, log in [([math.nan], False), ([1, math.inf], False), ([0.0], True), ([], False)]:
        with pytest.raises(ValueError, match=r"setting \(7,\) must give"):
            vary(lambda n, numbers=numbers: (numbers, ""), {"n": [7]}, x="", y="", log=log)
    with pytest.raises(ValueError, match=r"2 settings have 30,000 numbers, more than the 20,000"):
        vary(lambda n: (range(15_000), ""), {"n": [1, 2]}, x="", y="")


# --- the entries of a product -------------------------------------------------------------------


def shown(moving):
    """The matrices of the figure by their titles."""
    tables = re.findall(r"<caption>(.*?) \((\d+) × (\d+)\)</caption>(.*?)</table>", body(moving))
    found = {}
    for title, rows, columns, cells in tables:
        numbers = re.findall(r">(−?[\d.e−]+)<", cells)
        entries = [float(number.replace("−", "-")) for number in numbers]
        found[title] = np.reshape(entries, (int(rows), int(columns)))
    return found


def test_what_it_shows_are_the_engine_s_numbers(product):
    X, W, Z = product
    expected = {
        "X": X.data, "dZ": Z.grad, "W": W.data,
        "dW = dZᵀ X": W.grad - 2 * W.data,  # the penalty is no part of this product
        "dX = dZ W": Z.grad @ W.data,
    }  # fmt: skip
    found = shown(transposes(Z))
    assert list(found) == list(expected)
    for title, matrix in expected.items():
        np.testing.assert_allclose(found[title], matrix, rtol=6e-3)


@each("flips", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_what_lights_up_makes_the_entry_in_every_layout(flips):
    generator = np.random.default_rng(1)
    A, B = (
        Node(generator.normal(size=shape[::-1] if flip else shape), name)
        for shape, flip, name in zip([(4, 3), (3, 2)], flips, "AB", strict=True)
    )
    C = (A.T if flips[0] else A) @ (B.T if flips[1] else B)
    C.backward(generator.normal(size=(4, 2)))
    moving = transposes(C)
    matrices = [A.data, C.grad, B.data]
    for (table, terms, *places, words), grad in zip(moving.data, [B.grad, A.grad], strict=True):
        assert table in (3, 4)
        for r, c in np.ndindex(grad.shape):
            lines = [
                matrices[place][:, at] if down else matrices[place][at]
                for (place, down), at in zip(places, (r, c), strict=True)
            ]
            assert len(lines[0]) == len(lines[1]) == terms
            assert lines[0] @ lines[1] == pytest.approx(grad[r, c])
            total = plain(words[r][c]).rpartition("= ")[2].replace("−", "-")
            assert float(total) == pytest.approx(grad[r, c], rel=6e-3)
            for (place, down), at in zip(places, (r, c), strict=True):
                name = ["A", "dC", "B"][place]
                assert f"{'column' if down else 'row'} {at + 1} of {name}" in words[r][c]


def test_the_first_entry_is_chosen_to_begin_with(product):
    moving = transposes(product[2])
    assert body(moving).count('aria-pressed="true"') == 1
    assert body(moving).count('tabindex="0"') == 2  # one for each gradient
    assert re.findall(r'<td class="cg-lit" style="--n:(\d)">', body(moving)) == [*"01230123"]
    assert moving.alt.startswith("dW = dZᵀ X, dX = dZ W. dW_11 takes column 1 of dZ")


def test_only_products_of_matrices_after_a_backward_pass(product):
    X, W, _ = product
    with pytest.raises(TypeError, match="a product of two matrices"):
        transposes(W)
    with pytest.raises(TypeError, match="a product of two matrices"):
        transposes(X @ W[0])
    with pytest.raises(TypeError, match="a product of two matrices"):
        transposes(np.eye(2))
    with pytest.raises(ValueError, match="no gradient yet"):
        transposes(X @ W.T)
    wide = Node(np.ones((13, 2))) @ W
    wide.sum().backward()
    with pytest.raises(ValueError, match="more than 12 rows or columns"):
        transposes(wide)


# --- the piece of HTML --------------------------------------------------------------------------


def test_the_script_is_small():
    assert len((HERE / "lookup.bundle.js").read_bytes()) <= 4_000


def test_it_asks_for_nothing_and_leaks_no_style(product):
    for moving in (figure(), transposes(product[2])):
        assert not re.search(r"https?://(?!www\.w3\.org)|\bsrc=|\bimport\b", moving.html)
        style = re.search(r"<style>(.*?)</style>", moving.html, re.S)[1]
        style = re.sub(r"@keyframes [\w-]+\{(?:[^{}]*\{[^{}]*\})*\}", "", style)
        selectors = re.findall(r"(?:^|[},{;])\s*([^{};@]+)\{", style)
        for selector in ",".join(selectors).split(","):
            assert "chaingrad-lookup" in selector, selector
