"""Lines that are typed are judged as Python reads them."""

import json
import subprocess
import sys

import numpy as np
import pytest

from chainlab.drills import KINDS, drill
from chainlab.drills.kinds.kind import LEVELS
from chainlab.drills.page import typed
from tests.chainlab.drills.support import DRAWN, lines_typed, right_lines
from tests.support import sampled

pytestmark = DRAWN


@pytest.mark.parametrize("level", sampled(LEVELS, 3))
def test_mistakes_in_lines_are_named(level):
    for seed in range(1, len(KINDS["equations"].forms(level)) + 1):
        drawn, of, *_ = lines_typed(level, seed)
        right = right_lines(drawn)
        for place, slips in enumerate(of.slips):
            for slip in slips:
                verdict = typed.judge(drawn, [*right[:place], slip.gives, *right[place + 1 :]])
                assert (verdict.at, verdict.wrong) == (place, (slip.name,))
                assert slip.says in verdict.words
                assert verdict.marks.count("wrong") == 1  # those after it are right by themselves


def test_lines_that_give_nothing_are_told_in_words():
    """Of Z = X @ W.T + b; H = np.tanh(Z): dZ, db, dW, dX."""
    for lines, words in [
        (["dH * (1 - H ** 2"], "Python cannot read `dH * (1 - H ** 2`: '(' was never closed"),
        (["dH * (1 - h ** 2)"], "there is no `h`. There are `np`, `X`, `W`, `b`, `Z`, `H`, `dH`."),
        (["tanh(Z)"], "NumPy’s functions begin with np: `np.tanh`"),
        (["open('x')"], "there is no `open`"),
        (["dX"], "`dX` is itself still to be found"),
        (["db = dH"], "it begins with `db =`, and is to give `dZ`"),
        (["np.tan2(Z)"], "Python stops at `np.tan2`: module 'numpy' has no attribute 'tan2'"),
        (["np.tanh"], "`np.tanh` is no array of numbers: it is a ufunc"),
        (["dH.sort()"], "read-only"),
        (["dH @ H"], "there is no product of `dH` "),
        (["dH * X"], " do not fit"),
        (["dH[:, 0]"], "your line has the shape "),
        (["dH + Z"], "its entries are not: `dZ[0, 0]` is "),
        (["", "dZ.sum(axis=5)"], "axis 5 is out of bounds"),
        (["", "", "dZ.T @ X"], "1 of 4 is right so far. Type the others."),
    ]:
        verdict = typed.check("equations-2-1", [*lines, *[""] * (4 - len(lines))])
        assert words in verdict.words, lines


def test_lines_are_read_as_people_type_them():
    lines = ["dZ = dH * (1 − H**2)", "np.sum(dZ, 0)", "(X.T@dZ).T", " np.dot(dZ, W)\u00a0"]
    assert repr(typed.check("equations-2-1", lines)) == "✓ Right."
    for line in ("dH*(1 - H^2)", "dH · (1 − H²)", "dH / np.cosh(Z)^2", "-dH × (H ^ 2 − 1)"):
        assert typed.check("equations-2-1", [line, "", "", ""]).marks[0] == "right"
    shown = drill("equations", 2, 1)
    assert shown.check(db="dZ.sum(axis=0)").marks == ("empty", "right", "empty", "empty")
    with pytest.raises(ValueError, match="there is no line for dQ"):
        shown.check(dQ="dZ")


def test_a_few_functions_of_python_compute_too():
    for line in (
        "sum(np.outer(x, dz) for x, dz in zip(X, dZ))",
        "sum(np.outer(X[i], dZ[i]) for i in range(len(X)))",
        "sum(X[:, :, None] * dZ[:, None, :])",
        "X.T @ dZ * len(X) / float(X.shape[0])",
    ):
        assert typed.check("equations-1-1", [line, ""]).marks == ("right", "empty")
    assert "there is no `i`" in typed.check("equations-1-1", ["X[i]", ""]).words
    verdict = typed.check("equations-1-1", ["sum(X[i] for i in range(99))", ""])
    assert "index 4 is out of bounds" in verdict.words


# Each in a process of its own, that has computed nothing yet: NumPy imports some of its parts when
# a method runs first. What is said of a line must be what Python says where nothing is left out.
FIRST = """
import json, os, sys
import numpy as np
from chainlab.drills.page import typed

def said(evaluate, known):
    try:
        return repr(evaluate(known))
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def told(line):
    known = {"X": np.arange(6.0).reshape(2, 3)}
    known["X"].flags.writeable = False
    out, into = os.pipe()
    if not os.fork():
        by_page = said(lambda known: typed._evaluated(typed._parsed(line, "dX"), known), known)
        by_python = said(lambda known: eval(line, {"np": np, **known}), known)
        os.write(into, json.dumps([line, by_page, by_python]).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as pipe:
        text = pipe.read()
    os.wait()
    return json.loads(text)

print(json.dumps([told(line) for line in json.load(sys.stdin)]))
"""


WRITE = {"tofile", "dump"}


METHODS = [name for name in dir(np.ndarray) if not name.startswith("_") and name not in WRITE]


FUNCTIONS = (
    "abs all any argmax average clip concatenate cumsum diag diff dot einsum exp eye full_like "
    "hstack inner linalg.inv linalg.norm linalg.solve log matmul max maximum mean median min "
    "moveaxis multiply multiply.reduce nansum newaxis ones_like outer pad prod ptp repeat reshape "
    "roll sign sqrt square squeeze stack std sum swapaxes take tanh tensordot tile trace transpose "
    "tril unique var vdot vstack where zeros"
)


def test_what_runs_first_runs_as_in_python():
    lines = []
    for name in METHODS:
        lines += [f"X.{name}()", f"X.{name}(0)", f"X.{name}(axis=0)"]
    for name in FUNCTIONS.split():
        lines += [f"np.{name}(X)", f"np.{name}(X, X)", f"np.{name}(X, axis=1)"]
    lines += ["np.einsum('ij,kj->ik', X, X)", "np.linalg.inv(X @ X.T)", "len(X)", "sum(X)"]
    run = subprocess.run(
        [sys.executable, "-c", FIRST], input=json.dumps(lines), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert len(told) == len(lines)
    assert not [one for one in told if one[1] != one[2]]
    assert sum("Error" not in python for _, _, python in told) > 100
