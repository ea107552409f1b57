"""What the browser loads for a cell before it runs; `tests/site/test_live.py` runs cells."""

import json
import subprocess
import sys
from typing import Any

from tests.support import ROOT

NEEDS = {
    "import numpy as np": [],
    "from chaingrad import Node": [],
    "from chainlab import drill": ["graphviz"],
    "from chainview import (\n    color,\n    plots,\n)": ["graphviz", "matplotlib"],
    "import chainview.plots as p": ["graphviz", "matplotlib"],
    "import chainview\nchainview.vary(f, {'n': [1]})": ["graphviz", "matplotlib"],
    "%%writefile local.py\nfrom chainview import vary": ["graphviz", "matplotlib"],
    "import chainview\nchainview.replay([0], lines, losses)": ["graphviz", "matplotlib"],
    "from chainlab.lessons.engine import Node": ["graphviz"],
    "from chainlab.lessons.net import MLP": ["graphviz"],
    "from chainlab.lessons.computational_graph import draw": ["graphviz"],
    "from chainlab.lessons.neural_network import draw_sum": ["graphviz", "matplotlib"],
    "from chainlab.lessons.sharing_weights import draw_two_examples": ["graphviz"],
    "import chainlab.lessons.neural_network as page": ["graphviz", "matplotlib"],
    "from chainlab.lessons.unwritten import draw": ["graphviz"],
    "plots = 'chaingrad'": [],
    "%%bash\nls": [],
}
# In a process of its own: as it starts, it changes what Python itself has.
START = """\
import json, sys, types
shown = []
page = {"clear": None, "graphviz": None, "show": lambda bundle, place: shown.append(bundle)}
sys.modules["live_page"] = types.SimpleNamespace(**page)
sys.path.insert(0, sys.argv[1])
import runner
"""
NEEDED = "print(json.dumps([json.loads(runner.needs(source)) for source in json.load(sys.stdin)]))"
GLUED = """\
ran = json.loads(runner.run_cell("from myst_nb import glue\\nglue('a', 3)", "cell 1"))
print(json.dumps([ran, shown]))
"""


def answer(ask: str, given: list[str]) -> Any:
    command = [sys.executable, "-c", START + ask, str(ROOT / "_ext" / "live")]
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_what_a_cell_needs_to_draw_is_loaded() -> None:
    assert dict(zip(NEEDS, answer(NEEDED, list(NEEDS)), strict=True)) == NEEDS


def test_what_is_glued_is_shown() -> None:
    ran, shown = answer(GLUED, [])
    assert ran == {"error": "", "lacks": ""}
    assert shown == [{"text/plain": "3"}]
