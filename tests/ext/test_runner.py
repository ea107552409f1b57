"""What the browser loads for a cell before it runs; `tests/site/test_live.py` runs cells."""

import json
import subprocess
import sys

from tests.support import ROOT

NEEDS = {
    "import numpy as np": [],
    "from chaingrad import Node": ["graphviz"],
    "from chaingrad.draw import (\n    color,\n    plots,\n)": ["graphviz", "matplotlib"],
    "import chaingrad.draw.plots as p": ["graphviz", "matplotlib"],
    "from chaingrad import step\nstep.vary(f, {'n': [1]})": ["graphviz", "matplotlib"],
    "%%writefile local.py\nfrom chaingrad.step import vary": ["graphviz", "matplotlib"],
    "plots = 'chaingrad'": [],
    "%%bash\nls": [],
}
# In a process of its own: as it starts, it changes what Python itself has.
ASK = """\
import json, sys, types
sys.modules["live_page"] = types.SimpleNamespace(clear=None, graphviz=None, show=None)
sys.path.insert(0, sys.argv[1])
import runner
print(json.dumps([json.loads(runner.needs(source)) for source in json.load(sys.stdin)]))
"""


def test_what_a_cell_needs_to_draw_is_loaded() -> None:
    folder, sources = ROOT / "_ext" / "live", json.dumps(list(NEEDS))
    command = [sys.executable, "-c", ASK, str(folder)]
    done = subprocess.run(command, input=sources, capture_output=True, text=True, check=True)
    assert dict(zip(NEEDS, json.loads(done.stdout), strict=True)) == NEEDS
