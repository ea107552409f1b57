"""A notebook's visible checks and the grader say the same of the same results, of every kind."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from chaingrad import checks
from coursework.exercise.problems import Part
from coursework.mark.assess import _compare
from coursework.release import visible_check
from coursework.sandbox.host import Limits, Raised, Sandbox, Session

pytestmark = pytest.mark.slow

# Runs in the notebook and in the submission's process: what an answer could return for `value`.
SOURCE = """
import array, collections, fractions, types
import numpy as np


def jax(x):
    import jax.numpy
    return jax.numpy.asarray(x)


def torch(x):
    import torch
    return torch.tensor(x)


class Mine(np.ndarray):
    pass


class Given:
    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return self.x


class Float(float):
    def __repr__(self):
        return "mine"


def node(x):
    from chaingrad import Node
    return Node(x)


def nested(x, kind):
    return kind(nested(item, kind) for item in x) if np.ndim(x) else Float(x)


FORMS = {
    "as it is": lambda x: x,
    "jax": jax,
    "torch": torch,
    "torch, with its graph": lambda x: torch(x).requires_grad_(),
    "torch, half": lambda x: torch(x).half(),
    "bfloat16": lambda x: jax(x).astype("bfloat16"),
    "longdouble": lambda x: x.astype(np.longdouble),
    "clongdouble": lambda x: x.astype(np.clongdouble),
    "complex": lambda x: x + 0j,
    "float32": lambda x: x.astype("f4"),
    "float16": lambda x: x.astype("f2"),
    "integers": lambda x: x.astype(int),
    "big-endian": lambda x: x.astype(">f8"),
    "masked": lambda x: np.ma.masked_less(x, 0),
    "matrix": np.matrix,
    "of columns": np.asfortranarray,
    "read-only": lambda x: np.broadcast_to(x, x.shape),
    "of a class": lambda x: x.view(Mine),
    "given": Given,
    "objects": lambda x: x.astype(object),
    "texts": lambda x: x.astype(str),
    "structured": lambda x: x.view([("a", "f8")]),
    "list": lambda x: nested(x, list),
    "tuple": lambda x: nested(x, tuple),
    "queue": lambda x: nested(x, collections.deque),
    "array.array": lambda x: array.array("d", x.ravel()),
    "list of arrays": list,
    "list of jax": lambda x: [jax(item) for item in x],
    "set": lambda x: set(x.ravel().tolist()),
    "generator": iter,
    "view": memoryview,
    "node": node,
    "fractions": lambda x: [fractions.Fraction(str(item)) for item in x.ravel()],
    "number": lambda x: x.ravel()[0],
    "numpy's text": lambda x: np.str_(x.ravel()[0]),
    "none": lambda x: None,
}


def driver(student, inputs):
    value, form = inputs["value"], FORMS[inputs["form"]]
    more = {inputs["more"]: form} if inputs["more"] else {}
    if inputs["listed"]:
        value = [form(np.asarray(item)) for item in value]
    elif isinstance(value, np.ndarray):
        value = form(value * inputs["factor"])
    return types.MappingProxyType({"y": value, **more})
"""
INPUTS = "\n\ndef inputs(rng):\n    return INPUTS\n"
EXPECTED = (
    arrays.arrays(
        np.float64, arrays.array_shapes(max_dims=3, max_side=3), elements=st.floats(-9, 9)
    )
    | st.lists(st.floats(-9, 9), min_size=1, max_size=3)
    | st.lists(st.floats(-9, 9), min_size=1, max_size=3).map(tuple)
    | st.sampled_from(["relu", True, None, 3, 2.5])
)
MODULE: dict[str, Any] = {}
exec(SOURCE, MODULE)
FORMS = sorted(MODULE["FORMS"])


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    limits = Limits(memory=8 << 30, cpu=300, total=600, life=3600)
    with Sandbox(limits, isolate=False) as box, box.session() as opened:
        yield opened


def shown(part: Part, expected: Any, inputs: Any) -> str:
    """What the notebook's check says, or "" where all is right."""
    problem = SimpleNamespace(expected=lambda *_: {"y": expected})
    space: dict[str, Any] = {"check_results": checks.check_results, "INPUTS": inputs}
    text = visible_check(problem, part)  # type: ignore[arg-type]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(text, space)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return ""


def graded(session: Session, part: Part, expected: Any, inputs: Any) -> str:
    """What the grader says of the same."""
    call = {"driver": part.driver, "entry": "driver", "inputs": inputs}
    got = session.request("call", most=2**20, **call)
    if isinstance(got, Raised):
        return f"{got.type}: {got.message}"
    return str(_compare(part, {"y": expected}, got) or "")


PART = Part("ex-any", "all", 1.0, SOURCE + INPUTS, "", "def inputs(rng): pass", SOURCE)


@pytest.mark.walk
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    EXPECTED,
    st.sampled_from(FORMS),
    st.sampled_from([1.0, 1.0, 1 + 1e-8, 1 + 1e-4, -1.0, 2.0, np.nan]),
    st.booleans(),
    st.sampled_from(["", "", "", "more"]),
)
def test_notebook_and_grader_agree(
    session: Session, expected: Any, form: str, factor: float, listed: bool, more: str
) -> None:
    listed = listed and isinstance(expected, (list, tuple))
    inputs = {"value": expected, "form": form, "factor": factor, "listed": listed, "more": more}
    first = shown(PART, expected, inputs)
    second = graded(session, PART, expected, inputs)
    assert bool(first) == bool(second), (first, second)
    if first.startswith("AssertionError: the first wrong"):
        assert first.splitlines()[1] == second.splitlines()[0]


RIGHT = {"as it is", "jax", "torch", "longdouble", "clongdouble", "complex", "big-endian", "masked"}
RIGHT |= {"matrix", "of columns", "read-only", "of a class", "given", "list", "tuple", "queue"}
RIGHT |= {"float32", "list of arrays", "list of jax", "integers"}


@pytest.mark.parametrize("form", FORMS)
def test_what_holds_the_right_numbers_is_right(session: Session, form: str) -> None:
    expected = np.array([[1.0, -2.0], [3.0, 0.0]])
    inputs = {"value": expected, "form": form, "factor": 1.0, "listed": False, "more": ""}
    for said in (shown(PART, expected, inputs), graded(session, PART, expected, inputs)):
        assert (said == "") == (form in RIGHT), said


@pytest.mark.parametrize("form", ["float32", "jax", "list of jax", "torch"])
def test_what_float32_has_rounded_is_right(session: Session, form: str) -> None:
    """The small entry is rounded as the sum of large ones that it may be."""
    expected = np.array([[100 / 3, -20 / 3], [10 / 3, 1e-3 / 3]])
    came = expected + np.array([[0, 0], [0, 1e-5]])
    if form == "torch":
        came = came.astype(np.float32)
    inputs = {"value": came, "form": form, "factor": 1.0, "listed": False, "more": ""}
    assert shown(PART, expected, inputs) == ""
    assert graded(session, PART, expected, inputs) == ""
    strict = replace(PART, rtol=1e-10)
    assert "float32 holds about 7 digits" in graded(session, strict, expected, inputs)


def test_a_triple_may_be_an_array(session: Session) -> None:
    inputs = {"value": np.ones(3), "form": "jax", "factor": 1.0, "listed": False, "more": ""}
    for expected in ((1.0, 1.0, 1.0), [1.0, 1.0, 1.0]):
        assert shown(PART, expected, inputs) == ""
        assert graded(session, PART, expected, inputs) == ""
        assert "has 3 items, not 2" in graded(session, PART, expected[:2], inputs)
