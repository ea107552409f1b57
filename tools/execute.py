"""Run the pages' cells side by side, and keep the results where Sphinx looks for them.

Each page runs in a kernel of its own and in an empty folder. It runs again when its cells have
changed, or a file that they read (`inputs.needed`). The results lie in jupyter-cache's folder: one
of each page, with the digest of what it was made from.
"""

import dataclasses
import json
import logging
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import psutil
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.cache.db import NbCacheRecord
from myst_nb.core.config import NbParserConfig
from myst_nb.core.read import create_nb_reader
from myst_parser.config.main import MdParserConfig
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from sphinx_external_toc.parsing import parse_toc_yaml
from traitlets.config import Config

from tools.console import Progress
from tools.inputs import fingerprint, needed

# Pages that time things: nothing else runs beside them.
ALONE = (
    "chapters/atlas/engine-beside-its-peers",
    "chapters/atlas/compiled-backward",
    "chapters/atlas/reading-a-profile",
    "chapters/atlas/pipeline-in-two-processes",
    "chapters/atlas/slow-steps",
    "chapters/cost/time-and-flops",
    "chapters/frameworks/pytorch-profiling",
)
MEMORY = 1.5e9  # bytes that a page with PyTorch and JAX may take
# PyTorch built for CUDA warns, where there is no GPU, once something imports its C++ extensions, as
# `torch.utils.benchmark` and `torch.compile` do. A page has to look the same on every machine.
QUIET = {"TORCH_LOGS": "-torch.utils.cpp_extension"}
ANSI = re.compile(r"\x1b\[[0-9;]*m")
RAISED = re.compile(r"^-+> *\d+ (.+)$", re.MULTILINE)


class NoisyCellError(Exception):
    """A cell wrote to stderr and does not say that it means to."""


@dataclass
class Failure:
    """A cell that failed: where it is, the line that did it, and the error's own last line."""

    page: str
    cell: int | None
    line: int | None
    source: str
    error: str

    def __str__(self) -> str:
        where = f"cell {self.cell} (line {self.line})" if self.cell else "before its first cell"
        source = "".join(f"        {line}\n" for line in self.source.splitlines())
        return f"  {self.page}, {where}:\n{source}    {self.error}"


@dataclass
class Page:
    """A page of the book: its notebook, and what running it depends on."""

    book: Path
    path: Path
    config: dict[str, Any] = field(default_factory=dict)  # Sphinx's settings for reading
    running: int = field(default=0, init=False)  # the cell that is running, counted from 1
    seconds: list[float] = field(default_factory=list, init=False)  # what each code cell took

    @property
    def name(self) -> str:
        return self.path.relative_to(self.book).with_suffix("").as_posix()

    @cached_property
    def notebook(self) -> NotebookNode:
        """Return the page as Sphinx will read it; a page that isn't a notebook has no cells."""
        names = {f"myst_{field.name}" for field in dataclasses.fields(MdParserConfig)}
        given = names & self.config.keys()
        settings = {name.removeprefix("myst_"): self.config[name] for name in given}
        text, config = self.path.read_text(), MdParserConfig(**settings)
        reader = create_nb_reader(str(self.path), config, NbParserConfig(), text)
        notebook: NotebookNode = reader.read(text) if reader else new_notebook()
        return notebook

    @property
    def code(self) -> list[NotebookNode]:
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    @property
    def cells(self) -> list[str]:
        return [cell.source for cell in self.code]

    def line(self, number: int) -> int | None:
        """Return the line of the page's file where a code cell starts; both are counted from 1."""
        lines = self.notebook.metadata.get("source_map")  # only Markdown pages have one
        return lines[self.notebook.cells.index(self.code[number - 1])] if lines else None

    @cached_property
    def inputs(self) -> str:
        """Return a digest of what running the page may read, except for its own cells."""
        return fingerprint(self.book, needed(self.book, self.path.read_text()))

    @cached_property
    def state(self) -> str:
        """Return a digest of the page itself and of its inputs."""
        return f"{fingerprint(self.book, [self.path])} {self.inputs}"


def pages_of(book: Path, config: dict[str, Any]) -> list[Page]:
    """Return the pages of the table of contents."""
    found = []
    for name in parse_toc_yaml(book / "_toc.yml"):
        paths = (book / f"{name}{suffix}" for suffix in ("", ".md", ".ipynb"))
        found += [Page(book, path, config) for path in paths if path.is_file()][:1]
    return found


def is_readable(cache: JupyterCacheAbstract, record: NbCacheRecord) -> bool:
    """Return whether a result can be read: a build may have been killed while writing it."""
    try:
        json.loads((cache.path / "executed" / record.hashkey / "base.ipynb").read_text())
    except (FileNotFoundError, ValueError):
        return False
    return True


def current(
    cache: JupyterCacheAbstract, records: list[NbCacheRecord], page: Page
) -> NbCacheRecord | None:
    """Return the result of a page's run, unless its cells or what they read have changed since."""
    record = next((record for record in records if record.data.get("state") == page.state), None)
    if not record:  # only the text may have changed, or another page may have the same cells
        with suppress(KeyError):
            record = cache.match_cache_notebook(page.notebook)
    fits = record and record.data.get("inputs") == page.inputs and is_readable(cache, record)
    return record if fits else None


def forget(cache: JupyterCacheAbstract, records: list[NbCacheRecord]) -> None:
    for record in records:
        shutil.rmtree(cache.path / "executed" / record.hashkey, ignore_errors=True)
    NbCacheRecord.remove_records([record.pk for record in records], cache.db)


def stale_pages(cache: JupyterCacheAbstract, pages: Iterable[Page]) -> list[Page]:
    """Forget results that belong to no page now; return the pages without one, longest first."""
    records = cache.list_cache_records()
    seconds = {record.uri: record.data.get("execution_seconds", 0) for record in records}
    kept = {page.name: current(cache, records, page) for page in pages}
    keys = {record.pk for record in kept.values() if record}
    forget(cache, [record for record in records if record.pk not in keys])
    # For a page that hasn't run before, the amount of code predicts how long it takes.
    return sorted(
        (page for page in pages if not kept[page.name] and page.cells),
        key=lambda page: (seconds.get(str(page.path), math.inf), sum(map(len, page.cells))),
        reverse=True,
    )


def refuse_stderr(page: Page) -> None:
    """Raise NoisyCellError at the first cell that wrote to stderr without meaning to."""
    # MyST-NB's nb_output_stderr = "error" says which cell, but not what it wrote; and it never sees
    # the runs of tools/anywhere.py, where no site is built.
    for number, cell in enumerate(page.code, 1):
        noise = [out.text for out in cell.outputs if out.get("name") == "stderr"]
        if noise and cell.metadata.get("mystnb", {}).get("output_stderr") != "show":
            page.running = number
            raise NoisyCellError(
                f"it wrote to stderr, and readers see that:\n{''.join(noise).strip()}\n"
                "Fix it, or allow it in the cell's options: mystnb: {output_stderr: show}"
            )


def explain(page: Page, error: Exception) -> Failure:
    """Describe what ended a page's run, and where."""
    source = page.cells[page.running - 1] if page.running else ""
    line = "\n".join(source.splitlines()[:4])
    message = f"{type(error).__name__}: {error}"
    if isinstance(error, NoisyCellError):
        message = str(error)
    elif isinstance(error, CellExecutionError):
        raised = RAISED.search(ANSI.sub("", error.traceback))
        line = raised[1].strip() if raised else line
        message = f"{error.ename}: {error.evalue}"
    name = page.path.relative_to(page.book).as_posix()
    number = page.running or None
    start = page.line(number) if number else None
    return Failure(name, number, start, line, ANSI.sub("", message).strip())


def threads(number: int) -> dict[str, str]:
    """Return the variables that tell a page's libraries how many threads to compute with."""
    return {f"{name}_NUM_THREADS": str(number) for name in ("OMP", "OPENBLAS", "MKL")}


def connection(folder: str) -> dict[str, str]:
    """Return the settings that connect to a kernel by sockets in a folder.

    With TCP, a kernel learns its free ports some time before it opens them. If another connection
    takes one of them in the meantime, the kernel ends.
    """
    return {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}


def run(page: Page, timeout: int, progress: Progress, environment: dict[str, str]) -> float:
    """Run a page's cells in place, in an empty folder; return the seconds that it took."""

    def on_cell_start(cell: NotebookNode, cell_index: int) -> None:
        page.running += cell.cell_type == "code"
        starts.append(time.monotonic())

    def on_cell_executed(cell: NotebookNode, cell_index: int, execute_reply: Any) -> None:
        page.seconds.append(round(time.monotonic() - starts[-1], 1))

    began, starts = time.monotonic(), list[float]()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as sockets:
        client = NotebookClient(
            page.notebook,
            timeout=timeout,
            record_timing=False,  # the times would be in the cells that the cache compares
            on_cell_start=on_cell_start,
            on_cell_executed=on_cell_executed,
            config=Config({"KernelManager": connection(sockets)}),
        )
        client.log.setLevel(logging.CRITICAL)  # errors are also raised
        client.execute(
            cwd=folder,
            env=os.environ | QUIET | environment,
            stdout=progress.file,  # what a kernel prints outside of the cells' outputs
            stderr=progress.file,
        )
    # A kernel may send what a cell prints in several pieces, cut anywhere.
    CoalesceStreamsPreprocessor().preprocess(page.notebook, {})
    refuse_stderr(page)
    return time.monotonic() - began


def end_all(runs: Iterable[Future[float]]) -> None:
    """End the kernels that run, and every process that they started."""
    waiting = {run for run in runs if not run.cancel()}
    while waiting:
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        waiting = wait(waiting, timeout=0.2).not_done


class Runner:
    """Runs pages, tells how it goes, and keeps what succeeded in the cache."""

    def __init__(
        self, cache: JupyterCacheAbstract, timeout: int, progress: Progress, jobs: int | None = None
    ) -> None:
        self.cache, self.timeout, self.progress = cache, timeout, progress
        self.jobs = jobs or workers()
        self.done = self.total = 0
        self.failures: list[Failure] = []

    def keep(self, page: Page, seconds: float) -> None:
        """Store the result of a page with a digest of what it was made from."""
        data = {"execution_seconds": seconds, "inputs": page.inputs, "state": page.state}
        data["cell_seconds"] = page.seconds
        bundle = CacheBundleIn(page.notebook, str(page.path), data=data)
        self.cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)

    def finish(self, page: Page, result: Future[float]) -> None:
        self.done += 1
        line = f"{self.done:3} of {self.total}  {page.name}"
        try:
            seconds = result.result()
        except Exception as error:
            self.failures.append(explain(page, error))
            self.progress.say(f"{line} failed")
            self.progress.note(f"{self.failures[-1]}\n\n{ANSI.sub('', str(error))}\n")
        else:
            self.keep(page, seconds)
            self.progress.say(f"{line}  {seconds:.1f} s")

    def run(self, pages: list[Page], environment: dict[str, str] | None = None) -> None:
        """Run pages, one a core; those that time things run after the others, one by one.

        If an environment is given, all pages run in it. Otherwise, pages that run side by side
        get one thread each, to leave the cores to each other.
        """
        self.total = len(pages)
        if pages:  # Matplotlib announces on stderr that it makes its list of fonts: do it now
            subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"])
        beside = [page for page in pages if page.name not in ALONE]
        alone = [page for page in pages if page.name in ALONE]
        self.run_parallel(beside, self.jobs, environment or threads(1))
        self.run_parallel(alone, 1, environment or {})

    def run_parallel(self, pages: list[Page], jobs: int, environment: dict[str, str]) -> None:
        """Run pages, at most `jobs` at a time."""
        pool = ThreadPoolExecutor(jobs)
        results = {
            pool.submit(run, page, self.timeout, self.progress, environment): page for page in pages
        }
        try:
            self.show(pages[:jobs])
            for result in as_completed(results):
                self.finish(results[result], result)
                self.show([page for other, page in results.items() if not other.done()][:jobs])
        except BaseException:
            end_all(results)
            raise
        finally:
            pool.shutdown()

    def show(self, pages: list[Page]) -> None:
        names = ", ".join(page.path.stem for page in pages)
        self.progress.now(f"running {names} ({self.done} of {self.total} pages done)")


def workers() -> int:
    """Return how many pages can run at a time, given this process's cores and free memory."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return max(1, min(cores, int(psutil.virtual_memory().available / MEMORY)))


def execute(
    book: Path, config: dict[str, Any], progress: Progress, jobs: int | None = None
) -> list[Failure]:
    """Run every page whose result is missing or stale; return what failed."""
    if config.get("nb_execution_mode") != "cache":
        return []
    folder = config.get("nb_execution_cache_path") or book / "_build" / ".jupyter_cache"
    cache = get_cache(folder)
    stale = stale_pages(cache, pages_of(book, config))
    for page in stale:  # without this file, Sphinx reads the page again
        (book / "_build" / ".doctrees" / f"{page.name}.doctree").unlink(missing_ok=True)
    if stale:
        progress.say(f"Running pages that are new or changed: {len(stale)}")
    runner = Runner(cache, config["nb_execution_timeout"], progress, jobs)
    runner.run(stale)
    return runner.failures
