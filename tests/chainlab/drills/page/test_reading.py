"""Numbers are read and judged as people write them."""

import json

from tests.chainlab.drills.support import called

MEANT = {
    "−3": [-3], "1/3": [1 / 3], "-1/-4": [0.25], "0.5": [0.5], "0,5": [0.5], "0,165": [0.165],
    ",5": [0.5], "1,500": [1500, 1.5], "1,500.25": [1500.25], "1,000,000": [1000000],
    "2e-1": [0.2], "1 000": [1000], "0,5/2": [0.25], "(-3/4)": [-0.75], "2*(−3)": [-6],
    "2 × −3 + 1": [-5], "-3^2": [-9], "(−3)**2": [9], "2³/4": [2], "2⁻¹": [0.5], "6÷4": [1.5],
    "−½": [-0.5], "(" * 100_000: [], "1½": [1.5], "-1 1/2": [-1.5], "1 000/8": [125],
    "1e−3": [0.001], "5·10^-2": [0.05], "8/4/2": [1], "2 − 5 − 1": [-4], "x̄ = 2 · 3 = 6": [6],
    "= −3": [-3], "２": [2], "2(3)": [], "(2": [], "2)": [], "2*": [], "3-": [], "()": [],
    "x = ": [], "(-8)^(1/3)": [], "": [], "a": [], "1//2": [], "1/0": [], "0x10": [],
}  # fmt: skip


def test_numbers_are_read_as_people_write_them(page):
    assert {typed: called(page, f"numbersIn({json.dumps(typed)})") for typed in MEANT} == MEANT


def test_three_digits_of_a_third_are_right(page):
    for right, typed, is_right in [
        (-1 / 3, -0.3333, True),
        (-1 / 3, -0.333, True),
        (-1 / 3, -0.33, False),
        (-1 / 3, 0.3333, False),
        (-1 / 3, -0.334, False),
        (2 / 3, 0.667, True),
        (2 / 3, 0.666, True),
        (20 / 3, 6.67, True),
        (20 / 3, 6.7, False),
        (7 / 12, 0.583, True),
        (0.75, 0.7501, False),
        (3.0, 3.001, False),
        (0.0, 0.0001, False),
    ]:
        box = {"right": right, "mistakes": [["sign", -right, "the sign", None]]}
        verdict = called(page, f"judge({json.dumps(box)}, [{typed}])")
        assert verdict["right"] == is_right, typed
