"""The line at the foot of a page that names what its cells ran with, and when."""

import sys
from datetime import datetime
from importlib.metadata import version
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from about import versions

DAY = datetime(2020, 3, 1, 23, 30)
PYTHON = f"Python {sys.version_info[0]}.{sys.version_info[1]}"


def page(*sources: str) -> nodes.document:
    document = new_document("page")
    end = nodes.section("", nodes.title("", "End"))
    document += nodes.section("", nodes.title("", "Page"), end)
    for source in sources:
        code = nodes.literal_block("", source)
        inside = nodes.container("", code, nb_element="cell_code_source")
        end += nodes.container("", inside, nb_element="cell_code")
    return document


def stated(document: nodes.document, run: dict[str, float] | None) -> str:
    env = SimpleNamespace(docname="page", nb_metadata={"page": {"exec_data": run} if run else {}})
    versions.state_run(SimpleNamespace(env=env, config=SimpleNamespace(language="en")), document)
    return "\n".join(line.astext() for line in document.findall(nodes.paragraph))


def test_a_page_names_what_its_cells_import_and_the_day_they_ran() -> None:
    document = page(
        "%matplotlib inline\nimport numpy as np\nfrom os import path",
        "%%writefile module.py\nfrom sklearn.svm import SVC\nfrom chaingrad import Node",
        "import module",
    )
    libraries = f"NumPy {version('numpy')}, scikit-learn {version('scikit-learn')}"
    wanted = f"Run with {PYTHON}, {libraries} on 1 March 2020."
    assert stated(document, {"mtime": DAY.timestamp()}) == wanted
    assert document[0][-1].astext() == wanted


def test_the_build_of_pytorch_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"torch": "2.13.0+cpu", "jax": "0.10.2"}
    monkeypatch.setattr(versions, "version", found.__getitem__)
    assert versions.name_and_version("torch") == "PyTorch 2.13.0 (CPU)"
    assert versions.name_and_version("jax") == "JAX 0.10.2"
    found["torch"] = "2.13.0+cu130"
    assert versions.name_and_version("torch") == "PyTorch 2.13.0"


def test_a_page_that_runs_nothing_says_nothing() -> None:
    assert stated(page(), {"mtime": DAY.timestamp()}) == ""
    assert stated(page("import numpy"), None) == ""
