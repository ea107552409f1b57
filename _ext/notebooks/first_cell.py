"""The first cell of each notebook: it installs what the page needs and the machine lacks.

A Python that is too old for the engine is told so before anything else.

The engine has to be that of the page, or one that its reader works on. It comes from the wheel
beside the notebook, from the site (`html.baseurl`, or the site that the notebook is downloaded
from: `work.js` writes its address in), or from what `repository.url` names. Everything else that
the page imports comes at the version that the page was run with, and stays where it is there.
"""

import ast
import functools
import json
import sys
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires, version
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement

from coursework.exercise.imports import imported
from coursework.installation import configuration, engine_source, python_check
from coursework.sources import PACKAGES
from notebooks import wheel

NotebookJson = dict[str, Any]

START = """\
# @title Run this cell first: it installs what the notebook needs and this machine lacks
{check}
import json
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

wheel = "{wheel}"  # the engine of the page
site = "{site}"
repository = "{repository}"
"""
INSTALL = """

def installed(name):
    return next(iter(distributions(name=name)), None)


def has_engine():
    \"\"\"Whether the engine of the page is installed, or a copy of the course to work on.\"\"\"
    engine = installed("chaingrad")
    origin = json.loads(engine and engine.read_text("direct_url.json") or "{{}}")
    address, commit = origin.get("url"), origin.get("vcs_info", {{}}).get("commit_id")
    return (
        (engine and wheel.startswith(f"chaingrad-{{engine.version}}-"))
        or origin.get("dir_info", {{}}).get("editable")
        or repository in (address, f"git+{{address}}", f"git+{{address}}@{{commit}}")
    )


sources = [name for name in (wheel, f"../{{wheel}}") if Path(name).exists()]
sources += [f"{{site}}notebooks/{{wheel.replace('+', '%2B')}}"] if site else []
sources += [repository] if repository else []
sources += [f"--no-index --find-links {{site}}{links} chaingrad"] if site else []
for source in sources:
    if not has_engine():
        %pip install --quiet --no-deps --force-reinstall {{source}}
if not has_engine():
    says = (
        f"The page was run with {{wheel}}: take it from the folder notebooks of the course's site, "
        "or of a copy of it, put it beside this notebook, and run this cell again."
    )
    if not find_spec("chaingrad"):
        raise ModuleNotFoundError(says)
    print("Another chaingrad is here.", says)

needed = {needed}
missing = [f'"{{package}}"' for name, package in needed.items() if not find_spec(name)]
if missing:
    %pip install --quiet {{" ".join(missing)}}
"""
COMPARE = """\

for name in {names}:
    found, then = installed(name), needed[name].partition("==")[2]
    if found and found.version.partition("+")[0] != then:
        print(f"{{name}} is {{found.version}} here, and the page was run with {{then}}.")
"""
GLUE = """
# `glue` puts results into the text of the book; a notebook does without.
if not find_spec("myst_nb"):
    from importlib.machinery import ModuleSpec
    from importlib.util import module_from_spec

    sys.modules["myst_nb"] = module_from_spec(ModuleSpec("myst_nb", loader=None))
    sys.modules["myst_nb"].glue = lambda name, value, display=False: None
"""
COMPARED = ("jax", "torch")
OF_THE_NOTEBOOK = {"IPython", "myst_nb", *PACKAGES}


def head(book: Path, engine: str) -> str:
    """Return the first lines of every first cell: Python check, engine's wheel, where to get it."""
    site = (configuration(book).get("html") or {}).get("baseurl") or ""
    address = f"{site.removesuffix('/')}/" if site else ""
    return START.format(
        check=python_check(), wheel=engine, site=address, repository=engine_source(book)
    )


distributions = functools.cache(packages_distributions)


def used(code: str) -> dict[str, str]:
    """Return {module: package} for the imports of cells whose packages are installed here.

    Modules of Python and of the notebook itself are left out, and those that a cell writes.
    """
    modules = imported(code) - sys.stdlib_module_names - OF_THE_NOTEBOOK
    return {name: distributions()[name][0] for name in sorted(modules & distributions().keys())}


@functools.cache
def of_the_engine() -> list[str]:
    """Return the packages that the engine and its drawings need."""
    found = map(Requirement, requires("chaingrad") or [])
    return [r.name for r in found if r.marker is None or r.marker.evaluate({"extra": "figures"})]


def pinned(package: str) -> str:
    return f"{package}=={version(package).partition('+')[0]}"


def plain(source: str) -> str:
    """Return a cell, or the module that it writes, as plain Python."""
    if source.startswith("%%writefile"):
        return source.partition("\n")[2]
    try:
        ast.parse(source)
    except SyntaxError:  # most cells parse, and IPython takes its time
        return str(TransformerManager().transform_cell(source))
    return source


def all_code(sources: Iterable[str]) -> str:
    return "\n".join(map(plain, sources))


def cells_of(notebook: NotebookJson) -> str:
    """Return the code of a notebook without its first cell, as plain Python."""
    cells = (cell for cell in notebook["cells"][1:] if cell["cell_type"] == "code")
    return all_code("".join(cell["source"]) for cell in cells)


def stamp(notebook: NotebookJson, head: str) -> None:
    """Write the first cell of a notebook."""
    code = cells_of(notebook)
    packages = {name: name for name in of_the_engine()} | used(code)
    lines = "".join(f'    "{name}": "{pinned(packages[name])}",\n' for name in sorted(packages))
    source = head + INSTALL.format(needed=f"{{\n{lines}}}", links=wheel.LINKS)
    if compared := [name for name in COMPARED if name in packages]:
        source += COMPARE.format(names=json.dumps(compared))
    if "myst_nb" in code:
        source += GLUE
    notebook["cells"][0]["source"] = source.strip().splitlines(keepends=True)


def publish(site: Path, book: Path) -> list[Path]:
    """Put the engine beside the notebooks of a site, and bring their first cells up to date."""
    paths = sorted((site / "notebooks").rglob("*.ipynb"))
    if not paths:
        return paths
    lines = head(book, wheel.publish(site).name)
    for path in paths:
        notebook = json.loads(path.read_text())
        if not "".join(notebook["cells"][0]["source"]).startswith(lines):
            stamp(notebook, lines)
            write(notebook, path)
    return paths


def write(notebook: NotebookJson, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
