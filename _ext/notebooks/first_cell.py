"""The first cell of each notebook: it installs what the page needs and the machine lacks.

The engine comes from ``repository.url`` of ``_config.yml``: a repository, at the commit that is
checked out, or a wheel or a folder. Everything else that the page imports comes at its pin.
"""

import ast
import functools
import json
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from IPython.core.inputtransformer2 import TransformerManager

from chaingrad import __version__

Notebook = dict[str, Any]

START = """\
# @title Run this cell first: it installs what the notebook needs and this machine lacks
from importlib.util import find_spec
"""
EXPLAIN = """
if find_spec("chaingrad") is None:
    raise ModuleNotFoundError(
        "This notebook needs chaingrad and does not know where to get it: the site that it\\n"
        "comes from names no repository. Install it from a copy of the course, in its folder:\\n"
        '    pip install ".[figures]"\\n'
        "or from its wheel, in the folder of the wheel:\\n"
        '    pip install graphviz matplotlib pygraphviz chaingrad-{version}-py3-none-any.whl'
    )
"""
INSTALL = """
needed = {needed}
missing = [f'"{{package}}"' for name, package in needed.items() if find_spec(name) is None]
if missing:
    %pip install --quiet {{" ".join(missing)}}
"""
GLUE = """
# `glue` puts results into the text of the book; a notebook does without.
if find_spec("myst_nb") is None:
    import sys
    from types import SimpleNamespace

    sys.modules["myst_nb"] = SimpleNamespace(glue=lambda name, value, display=False: None)
"""
OF_THE_NOTEBOOK = {"IPython", "myst_nb"}


def setting(book: Path) -> str:
    """The repository, wheel or folder that `_config.yml` names; empty if none."""
    config = yaml.safe_load((book / "_config.yml").read_text()) or {}
    return str((config.get("repository") or {}).get("url") or "")


def is_hosted(repository: str) -> bool:
    """Whether readers can be sent there: a repository's address, not a wheel's or a folder."""
    return urlsplit(repository).scheme in ("http", "https") and not repository.endswith(".whl")


def commit(book: Path) -> str:
    """The commit that is checked out."""
    command = ["git", "-C", str(book), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def engine(repository: str, book: Path) -> str:
    """What pip is asked for to install the engine from the repository, wheel or folder."""
    if is_hosted(repository):
        return f"chaingrad[figures] @ git+{repository.removesuffix('/')}@{commit(book)}"
    if urlsplit(repository).scheme in ("http", "https", "file"):
        return f"chaingrad[figures] @ {repository}"
    path = (book / Path(repository).expanduser()).resolve()
    if not path.exists():
        raise FileNotFoundError(
            f"repository.url in _config.yml is {repository!r}. It must be the address of a "
            "repository, a wheel or folder that exists, or empty."
        )
    return f"chaingrad[figures] @ {path.as_uri()}"


def imported(code: str) -> set[str]:
    """The packages that cells import, those of Python and of the notebook itself left out."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - OF_THE_NOTEBOOK


def pins(book: Path) -> dict[str, str]:
    """{package: package==version} of the book's requirements, on whatever platform."""
    path = book / "requirements.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    plain = [line.partition(";")[0].strip() for line in lines if "==" in line]
    return {line.partition("==")[0].lower(): line for line in plain}


@functools.cache
def distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


def requirements(code: str, repository: str, book: Path) -> dict[str, str]:
    """{module: what pip is asked for} of everything that the cells import."""
    pinned = pins(book)
    needed = {"chaingrad": engine(repository, book)} if repository else {}
    for name in sorted(imported(code) - {"chaingrad"}):
        package = distributions().get(name, [name])[0]
        needed[name] = pinned.get(package.lower(), package)
    return needed


def plain(source: str) -> str:
    """A cell as plain Python; most are, and IPython takes its time."""
    try:
        ast.parse(source)
    except SyntaxError:
        return str(TransformerManager().transform_cell(source))
    return source


def cells_of(notebook: Notebook) -> str:
    """The code of a notebook, its first cell left out, as plain Python."""
    cells = (cell for cell in notebook["cells"][1:] if cell["cell_type"] == "code")
    return "\n".join(plain("".join(cell["source"])) for cell in cells)


def stamp(notebook: Notebook, repository: str, book: Path) -> None:
    """Write the first cell of a notebook for this setting and the commit checked out."""
    code = cells_of(notebook)
    source = START if repository else START + EXPLAIN.format(version=__version__)
    needed = requirements(code, repository, book)
    if needed:
        lines = "".join(f'    "{name}": "{package}",\n' for name, package in needed.items())
        source += INSTALL.format(needed=f"{{\n{lines}}}")
    if "myst_nb" in code:
        source += GLUE
    notebook["cells"][0]["source"] = source.strip().splitlines(keepends=True)


def is_stamped(notebook: Notebook, repository: str, book: Path) -> bool:
    """Whether the first cell is written for this setting and the commit checked out."""
    explained = EXPLAIN.format(version=__version__).strip()
    mark = engine(repository, book) if repository else explained
    return mark in "".join(notebook["cells"][0]["source"])


def stamp_all(folder: Path, repository: str, book: Path) -> list[Path]:
    """Write the first cell of every notebook under `folder`; returns the notebooks."""
    paths = sorted(folder.rglob("*.ipynb"))
    for path in paths:
        notebook = json.loads(path.read_text())
        if not is_stamped(notebook, repository, book):
            stamp(notebook, repository, book)
            write(notebook, path)
    return paths


def write(notebook: Notebook, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
