"""What a hub without Docker files takes from the repository: requirements.txt, runtime.txt."""

import re
import subprocess
import sys
import tomllib

from packaging.specifiers import SpecifierSet

from tests.support import ROOT
from tools import environment

# What repo2docker would read instead of, or beside, the two.
OTHERS = ("Dockerfile", "environment.yml", "Pipfile", "setup.py", "apt.txt", "postBuild", "start")
DRAW = """\
from chaingrad import Node
from chainview import draw_graph
assert draw_graph(Node(1.0) + 2)._repr_mimebundle_()["image/svg+xml"].count("<svg") == 1
"""


def test_requirements_are_all_that_a_hub_reads():
    assert not [name for name in OTHERS if (ROOT / name).exists()]
    assert not (ROOT / "binder").exists()
    assert not (ROOT / ".binder").exists()


def test_requirements_hold_the_package_and_what_runs_its_pages():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pins = environment.pins(ROOT / "requirements.txt")
    assert "-e ." in lines
    assert {"jupyterlab", "jupytext", "jupyterlab-myst", "ipykernel", "pygraphviz"} <= pins.keys()


def test_the_runtime_is_a_python_that_the_package_accepts():
    version = re.fullmatch(r"python-(3\.\d+)\n", (ROOT / "runtime.txt").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert version is not None
    assert SpecifierSet(project["requires-python"]).contains(version[1])


def test_drawings_need_no_program_of_the_system():
    subprocess.run([sys.executable, "-c", DRAW], env={"PATH": ""}, check=True)
