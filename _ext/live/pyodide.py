"""Which Pyodide runs in the page, as `tools/fetch_pyodide.py` has written it into runtime.json."""

import json
from pathlib import Path

PYODIDE = json.loads(Path(__file__).with_name("runtime.json").read_text())
