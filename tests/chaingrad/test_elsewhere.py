"""Names of other libraries, answered with what stands for them here."""

import subprocess
import sys

import numpy as np
import pytest

import chaingrad
from chaingrad import Node, _elsewhere
from tests.support import each

WHERE = {
    "chaingrad": (chaingrad, _elsewhere.PACKAGE),
    "chaingrad.nn": (chaingrad.nn, _elsewhere.NN),
    "chaingrad.optim": (chaingrad.optim, _elsewhere.OPTIM),
    "node": (Node(np.eye(2)), _elsewhere.NODE),
}
HINTS = [(where, name, hint) for where, (_, hints) in WHERE.items() for name, hint in hints.items()]


@each(("where", "name", "hint"), HINTS)
def test_a_name_of_another_library_is_answered_by_what_runs_here(where, name, hint):
    thing = WHERE[where][0]
    with pytest.raises(AttributeError, match=f"has no .*'{name}'") as refused:
        getattr(thing, name)
    assert str(refused.value).endswith(hint)
    assert name not in dir(thing)
    if hint.startswith("say "):
        names = {"chaingrad": chaingrad, "np": np, "f": np.exp, "data": 1.0}
        eval(hint.removeprefix("say "), names | {"x": Node(np.eye(2)), "y": Node(np.eye(2))})


@each(
    ("thing", "name", "hint"),
    [
        (chaingrad, "Linear", r": say chaingrad\.nn\.Linear$"),
        (chaingrad, "cross_entropy", r": say chaingrad\.losses\.cross_entropy$"),
        (chaingrad.nn, "Adam", r": say chaingrad\.optim\.Adam$"),
        (chaingrad, "relu", r"a method of nodes, x\.relu"),
        (chaingrad, "zeros", r": say np\.zeros$"),
        (chaingrad, "no_such_name", "'no_such_name'$"),
        (Node(1.0), "no_such_name", "'no_such_name'$"),
    ],
)
def test_a_name_is_looked_for_in_the_package_and_in_numpy(thing, name, hint):
    with pytest.raises(AttributeError, match=hint):
        getattr(thing, name)


def test_a_module_is_there_without_its_own_import():
    code = "import chaingrad as cg; print(cg.nn.MLP(2, [1]), cg.optim.SGD, cg.losses.softmax)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_module_that_lacks_what_it_imports_says_so(tmp_path, monkeypatch):
    (tmp_path / "lacking.py").write_text("import no_such_package\n")
    monkeypatch.setattr(chaingrad, "__path__", [*chaingrad.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        _ = chaingrad.lacking
