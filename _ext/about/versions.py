"""What the cells of a page ran with, and when: the last line of the page.

A page runs again when Python or a pin changes (`tools/execute.py`), so that the versions are those
of this environment. The day is that of the run, which may lie long before the build's.
"""

import platform
from datetime import datetime
from importlib.metadata import version

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util.i18n import format_date

from common.cells import code_cells, source_of
from notebooks.first_cell import all_code, used

AFTER_THE_READING_TIME = 600
NAMES = {
    "numpy": "NumPy",
    "scipy": "SciPy",
    "scikit-learn": "scikit-learn",
    "autograd": "autograd",
    "micrograd": "micrograd",
    "torch": "PyTorch",
    "jax": "JAX",
}


def name_and_version(package: str) -> str:
    """Return the name and version of an installed package, such as PyTorch 2.13.0 (CPU)."""
    number, _, build = version(package).partition("+")
    return f"{NAMES[package]} {number}{' (CPU)' if build == 'cpu' else ''}"


def run_line(code: str, day: datetime, language: str) -> str:
    packages = set(used(code).values())
    python = "Python " + ".".join(platform.python_version_tuple()[:2])
    libraries = [name_and_version(package) for package in NAMES if package in packages]
    date = format_date("%-d %B %Y", date=day, language=language)
    return f"{', '.join([python, *libraries])} on {date}"


def state_run(app: Sphinx, document: nodes.document) -> None:
    run = NbMetadataCollector.get_exec_data(app.env, app.env.docname)
    cells = code_cells(document)
    if not run or not cells:
        return
    day = datetime.fromtimestamp(run["mtime"])
    words = run_line(all_code(map(source_of, cells)), day, app.config.language)
    page = next(document.findall(nodes.section))
    page += nodes.paragraph("", f"Run with {words}.", classes=["run-with"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", state_run, priority=AFTER_THE_READING_TIME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
