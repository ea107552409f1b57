"""Named results compared: which is the first wrong one, what is wrong, and what it looks like."""

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chaingrad.checks import (
    HALF,
    NEAR,
    ROUNDING,
    Difference,
    NotPlainError,
    check_results,
    first_difference,
    plain,
)
from tests.support import each

W = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]])


def difference(expected: Any, got: Any, **options: Any) -> Difference:
    found = first_difference({"dW": expected}, {"dW": got}, **options)
    assert found is not None
    assert found.name == "dW"
    return found


class Strange:
    """What no comparison should trip over."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no array")

    def __str__(self) -> str:
        raise RuntimeError("no text")

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@each(
    ("expected", "got"),
    [
        (W, W * (1 + 1e-9)),
        (W, W.tolist()),
        (W, W.astype(np.float32)),
        (2.0, np.float64(2)),
        (2, 2.0),
        (np.nan, np.nan),
        (np.array([np.inf, 0.0]), np.array([np.inf, 1e-12])),
        ("relu", "relu"),
        (True, np.True_),
        (None, None),
        (["a", 1.0, [2.0]], ("a", 1, [2])),
        ((1.0, 2.0), np.array([1.0, 2.0])),
        (np.zeros((0, 3)), np.zeros((0, 3))),
    ],
)
def test_what_agrees(expected: Any, got: Any) -> None:
    assert first_difference({"dW": expected}, {"dW": got}) is None


@each(
    ("expected", "got", "problem", "hint"),
    [
        (W, W.T, "the shape is wrong", "it has the shape of the transpose"),
        (W, W.ravel(), "the shape is wrong", "the number of entries is right"),
        (W, W[0], "the shape is wrong", ""),
        (SQUARE, SQUARE.T, "2 of 4 entries are wrong, the first at [0, 1]", "it is the transpose"),
        (W, 3 * W, "6 of 6 entries are wrong, the first at [0, 0]", "every entry is 3 times"),
        (W, W / 4, "6 of 6 entries", "every entry is 0.25 times"),
        (W, -W, "6 of 6 entries", "the sign is wrong"),
        (W, 0 * W, "6 of 6 entries", "it is 0 everywhere"),
        (W, W * np.nan, "6 of 6 entries", "there is a nan or inf in it"),
        (W, W + 1, "6 of 6 entries", ""),
        (2.0, 4.0, "the value is wrong", ""),
        (np.array(2.0), [2.0], "the shape is wrong", "the number of entries is right"),
        (W[0], np.stack([W[0] / 2] * 2), "the shape is wrong", "summed over the first axis"),
        (W[0], np.stack([W[0]] * 2), "the shape is wrong", "averaged over the first axis"),
        (W, None, "is not an array", ""),
        (2.0, "2", "is not a number", ""),
        (W, Strange(), "is not an array", ""),
        (W, [[1.0, 2.0], [3.0]], "is not an array", ""),
        ("relu", "tanh", "is not what it should be", ""),
        ("relu", Strange(), "is not what it should be", ""),
        (True, 1, "is not what it should be", ""),
        (None, 0, "is not what it should be", ""),
        (["a", "b"], "ab", "is not a list", ""),
        (["a", "b"], ["a"], "has 1 items, not 2", ""),
        (["a", "b"], ["a", "c"], "item 1: is not what it should be", ""),
        ([1.0, W], [1.0, W.T], "item 1: the shape is wrong", "it has the shape of the transpose"),
    ],
)
def test_what_differs(expected: Any, got: Any, problem: str, hint: str) -> None:
    found = difference(expected, got)
    assert found.problem.startswith(problem)
    assert found.hint.startswith(hint)
    assert bool(found.hint) == bool(hint)
    assert str(found)


def test_the_first_wrong_one_is_named() -> None:
    expected = {"dO": W, "dW2": W, "dW1": W}
    found = first_difference(expected, {"dW1": 2 * W, "dW2": W + 1, "dO": W})
    assert found is not None
    assert (found.name, found.expected, found.got) == ("dW2", "1", "2")


def test_results_that_are_missing_or_no_dict() -> None:
    assert first_difference({"dW": W}, {"dw": W}) == Difference(
        "dW", "is missing", str(W), "dw", ""
    )
    found = first_difference({"dO": 1.0, "dW": W}, [W])
    assert found is not None
    assert (found.problem, found.expected) == ("not a dict of results", "dO, dW")
    assert first_difference({"dW": 1.0}, {"dW": 1.0, "more": W}) is None


def test_zero_is_shown_without_a_sign() -> None:
    wrong = first_difference({"dZ": np.array([-0.0, 1])}, {"dZ": np.array([3.0, -0.0])})
    assert wrong is not None
    assert (wrong.expected, wrong.got) == ("0", "3")


def test_hints_are_added() -> None:
    hints = {"dW": "mind the mean", "*": "mind everything"}
    assert difference(W, 2 * W, hints=hints).hint.endswith("expected; mind the mean")
    assert difference(W, W + 1, hints={"*": "mind everything"}).hint == "mind everything"


def test_tolerances() -> None:
    assert first_difference({"a": W}, {"a": W + 0.6}, rtol=0.1) is None
    assert first_difference({"a": 1.0}, {"a": 1.01}, rtol=0.1) is None
    assert first_difference({"a": 0.0}, {"a": 0.01}, atol=0.1) is None
    assert first_difference({"a": 1.0}, {"a": 1 + 1e-8}, rtol=1e-12, atol=0) is not None


SMALL_LAST = np.array([100.0, 1 / 3])
ERROR = np.array([0.0, 1e-4])


@each(
    "got",
    [
        (SMALL_LAST * (1 + 1e-5)).astype(np.float32),  # the dtype of PyTorch and JAX
        (SMALL_LAST + ERROR).astype(np.float32),  # little beside the largest entry
        (SMALL_LAST + ERROR).astype(np.float32).astype(float),  # converted afterwards
        (SMALL_LAST + ERROR).astype(np.float32).tolist(),
        (SMALL_LAST + ERROR).astype(np.complex64),
        (SMALL_LAST + ERROR).astype(np.float32).astype(float) + 1e-12,  # computed in both
        SMALL_LAST + ERROR,
    ],
)
def test_a_right_result_in_float32_is_right(got: Any) -> None:
    assert first_difference({"dW": SMALL_LAST}, {"dW": got}) is None
    assert difference(SMALL_LAST, got, rtol=1e-12, hints={"*": "mind"}).hint == ROUNDING


def test_a_list_in_float32_is_measured_by_its_largest_number() -> None:
    came = [np.float32(x) for x in SMALL_LAST + ERROR]
    assert first_difference({"jet": tuple(SMALL_LAST)}, {"jet": tuple(came)}) is None
    assert difference(list(SMALL_LAST), [100.0, 1 / 3 + 1e-2]).hint == ROUNDING
    assert difference(["a", 1.0], ["a", np.float32(1.01)]).problem.startswith("item 1")


def test_a_number_in_float32_is_right_within_its_digits() -> None:
    assert first_difference({"y": 1 / 3}, {"y": float(np.float32(1 / 3 + 1e-6))}) is None
    assert first_difference({"y": 1 / 3}, {"y": float(np.float32(1 / 3 + 1e-4))}) is not None


@pytest.mark.parametrize(
    "got",
    [
        SMALL_LAST + 100 * ERROR,
        (SMALL_LAST + 100 * ERROR).astype(np.float32),
        (SMALL_LAST / 3).astype(np.float16).astype(np.float32) * 3,
    ],
)
def test_what_rounding_may_have_changed_is_told_so_and_nothing_else(got: Any) -> None:
    assert difference(SMALL_LAST, got, hints={"*": "mind the mean"}).hint == ROUNDING


@each(
    ("expected", "got"),
    [
        (1.00004, 1.0),  # a small term is left out
        (np.array([1.0001, 2.0]), np.array([1.0, 2.0])),
        (100_000, 100_001),  # whole numbers are not rounded
        (np.array([1.0, 0.01]), np.array([1.0, 0.0], np.float32)),
        (W, (W * 1.0002).astype(np.float32)),
        (0.0, np.float32(1e-6)),
    ],
)
def test_float32_is_no_excuse(expected: Any, got: Any) -> None:
    assert first_difference({"dW": expected}, {"dW": got}) is not None


@each(
    "got",
    [
        W.astype(np.float16),  # right by luck: all of it is whole or a half
        (W / 3).astype(np.float16),
        list(W.astype(np.float16)),
        [[np.float16(1.0)]],
    ],
)
def test_float16_is_refused_whatever_it_holds(got: Any) -> None:
    found = first_difference({"first": 1.0, "dW": W}, {"first": 5.0, "dW": got})
    assert found is not None
    assert (found.name, found.got, found.hint) == ("dW", "float16", HALF)


def computed(rng: np.random.Generator, A: Any, B: Any, dtype: type) -> Any:
    """A product whose terms are added up in a drawn order, with partial sums in the dtype."""
    with np.errstate(over="ignore", invalid="ignore"):
        terms = A.astype(dtype)[:, :, None] * B.astype(dtype)
        terms = terms[:, rng.permutation(len(B))]
        pieces = np.split(terms, np.sort(rng.integers(0, len(B) + 1, 3)), axis=1)
        return functools.reduce(np.add, [piece.sum(axis=1, dtype=dtype) for piece in pieces])


SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 64)


@given(SEEDS, SIZES, SIZES, SIZES, st.integers(-6, 6))
def test_a_sum_in_float32_in_any_order_is_right(
    n: int, rows: int, terms: int, columns: int, scale: int
) -> None:
    """Sums of up to 64 products, while the largest is no less than a tenth of what is added up."""
    rng = np.random.default_rng(n)
    A, B = rng.normal(size=(rows, terms)) * 10.0**scale, rng.normal(size=(terms, columns))
    expected = A @ B
    assume(np.abs(expected).max() > 0.1 * (np.abs(A) @ np.abs(B)).max())
    single = computed(rng, A, B, np.float32)
    assert first_difference({"dW": expected}, {"dW": single}) is None
    assert first_difference({"dW": expected}, {"dW": single.astype(float) * (1 + 1e-9)}) is None
    half = computed(rng, A, B, np.float16)
    assert difference(expected, half).hint == HALF


@given(SEEDS, st.integers(2, 9), st.sampled_from([np.float32, np.float64]), st.integers(-2, 6))
def test_what_is_wrong_by_a_thousandth_is_wrong(n: int, size: int, dtype: type, scale: int) -> None:
    """A factor, a term that is left out, a transpose, one entry: while more than 5e-5 comes of it.

    Where the largest entry is below 1e-4, the absolute tolerance decides.
    """
    rng = np.random.default_rng(n)
    A, B = rng.normal(size=(size, size)) * 10.0**scale, rng.normal(size=(size, size))
    right = A @ B
    largest = np.abs(right).max()
    assume(largest > 1e-4)
    one = np.zeros_like(right)
    one[*rng.integers(size, size=2)] = 1e-4 * largest
    dropped = right - np.outer(A[:, 0], B[0])
    for wrong in (right * 1.001, right / 1.001, dropped, right.T, right + one):
        error = np.abs(wrong - right).max() / largest
        assert error > 5e-5
        found = difference(right, wrong.astype(dtype), hints={"*": "mind"})
        if not 0.99 < error / NEAR < 1.01:
            assert (found.hint == ROUNDING) == (error < NEAR)


def test_a_usual_mistake_in_float32_gets_its_hint() -> None:
    third = (W / 3).astype(np.float32)
    assert difference(W / 3, -third).hint == "the sign is wrong"
    square = (SQUARE / 3).astype(np.float32)
    assert difference(SQUARE / 3, square.T).hint == "it is the transpose of what is expected"
    assert difference(W, W * 1.01, hints={"*": "mind"}).hint.endswith("expected; mind")


def test_long_words_are_wrapped() -> None:
    text = str(Difference("dW", "the value is wrong", "1", "2", "word " * 40))
    assert max(map(len, text.splitlines())) <= 76
    assert text.splitlines()[1:3] == ["  expected  1", "  got       2"]


class Half(float):
    """A number that calls itself something else."""

    def __repr__(self) -> str:
        return "half"


@each(
    ("value", "expected"),
    [
        (Half(0.5), 0.5),
        (np.str_("relu"), "relu"),
        (np.float32(0.5), np.float32(0.5)),
        (np.ones(2, np.longdouble), np.ones(2)),
        (np.ones(2, np.clongdouble), np.ones(2, complex)),
        (np.ma.masked_less([1.0, -1.0], 0), np.array([1.0, -1.0])),
        ({"a": {1: range(2)}}, {"a": {1: [0, 1]}}),
        ((1, [Half(2)]), (1, [2.0])),
    ],
)
def test_what_becomes_plain(value: Any, expected: Any) -> None:
    found = plain(value)
    assert type(found) is type(expected)
    assert repr(found) == repr(expected)


@each(
    ("value", "said"),
    [
        ({"dW": {1}}, "dW: set is not plain data"),
        ({"dW": [1, b"x"]}, "dW: bytes is not plain data"),
        (Strange(), "the result: Strange gives no array: no array"),
        (np.array(["a"]), "an array of dtype <U1 is not plain"),
        ({"a": {(1, 2): 3}}, "the key (1, 2) is neither"),
        ({2**61 - 1: 3}, "is neither a string nor a small integer"),
    ],
)
def test_what_cannot_become_plain(value: Any, said: str) -> None:
    with pytest.raises(NotPlainError) as caught:
        plain(value)
    assert said in str(caught.value)


def test_a_list_in_itself_is_not_plain() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(NotPlainError, match="nested more than 24"):
        plain(value)


def test_a_notebook_says_what_cannot_be_compared() -> None:
    def generated(student: SimpleNamespace, inputs: dict[str, float]) -> dict[str, Any]:
        return {"y": (i for i in range(3))}

    with pytest.raises(AssertionError, match=r"cannot be compared: y: generator is not plain"):
        check_results(inputs, generated, lambda inputs: {"y": 1.0})


def inputs(rng: np.random.Generator) -> dict[str, float]:
    return {"x": float(rng.normal())}


def double(x: float) -> float:
    return x + x


def driver(student: SimpleNamespace, inputs: dict[str, float]) -> dict[str, float]:
    return {"y": student.double(inputs["x"])}


def test_a_notebook_is_checked_by_its_own_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_results(inputs, driver, lambda inputs: {"y": 2 * inputs["x"]})
    assert capsys.readouterr().out == "Right on 5 random inputs.\n"
    monkeypatch.setitem(driver.__globals__, "double", lambda x: x * x)
    with pytest.raises(AssertionError, match=r"the first wrong result is\ny: the value is wrong"):
        check_results(inputs, driver, lambda inputs: {"y": 2 * inputs["x"]})


def test_stored_results_belong_to_their_seeds() -> None:
    seeds = [3, 5]
    stored = [{"y": 2 * np.random.default_rng(seed).normal()} for seed in seeds]
    check_results(inputs, driver, stored, seeds=seeds)
    with pytest.raises(AssertionError):
        check_results(inputs, driver, stored[::-1], seeds=seeds)


@each(
    ("expected", "got", "problem"),
    [
        (np.ones(3), np.empty((0, 2**40)), "the shape is wrong"),
        (np.ones((2, 3)), np.empty((0, 2**40, 3)), "the shape is wrong"),
        (np.ones(3), ["x" * 10**6] + ["a"] * 10**6, "is not an array"),
        (["a"], np.zeros((2,) * 24, np.int8), "is not a list"),
        (["a"], [np.zeros((2,) * 24, np.int8)], "item 0: is not what it should be"),
        (1.0, [[["x"] * 99] * 99] * 99, "is not a number"),
    ],
)
def test_large_results_cost_no_more_than_small_ones(expected: Any, got: Any, problem: str) -> None:
    """Each of these would take minutes, or all memory, were it summed, padded or printed."""
    found = difference(expected, got)
    assert found.problem == problem
    assert len(found.got) < 250


def test_names_are_cut() -> None:
    found = first_difference({"dW": 1.0}, {"L" * 5000: 1.0, 3: 2.0})
    assert found is not None
    assert found.got.startswith("LLL")
    assert len(found.got) < 210


def test_two_numbers_that_look_alike_are_told_to_the_last_digit() -> None:
    wrong = first_difference({"x": 1.0}, {"x": 1 + 2.0**-30}, 1e-10, 0)
    assert wrong is not None
    assert (wrong.expected, wrong.got) == ("1", "1.0000000009313226")
