"""The far side of the sandbox: a fork server, and what it forks to run one submission.

The server is a new interpreter with an empty environment. It imports what submissions use, holds
no secret, never runs foreign code, and forks a process for each session, which runs the cells and
answers calls over its own socket. Commands come on the control socket: `s` with the session's
socket attached starts one, `k` ends it, `e` says that it seems to have ended by itself; the answers
are lines of JSON.
"""

import __future__

import ast
import contextlib
import functools
import gc
import importlib
import importlib.abc
import importlib.machinery
import inspect
import json
import linecache
import operator
import os
import random
import re
import signal
import socket
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coursework.sandbox import jail, wire
from coursework.sources import PACKAGES

PRELOADED = ("numpy.random", "numpy.testing")
ENGINE = ("chaingrad.nn", "chaingrad.optim", "chaingrad.losses")
# A line of a notebook that is not Python: a magic, whose value may be assigned, a command, help.
MAGIC = re.compile(r"(\s*)([\w., \[\]]+=\s*)?%(\w+)(.*)")
COMMAND = re.compile(r"\s*(?:(?:[\w., \[\]]+=\s*)?[%!?]|[\w.]+\?\??\s*$)")
PARSED = 500_000  # characters of one cell, parsed again for each line of that kind
WRITES = re.compile(r"%%(?:writefile|file)\s+(-a\s+)?(.+)")
CELL_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")  # that run the Python of their cell
# Line magics that run Python, and their options.
RUNS = {
    "time": re.compile(r"\s*(--no-raise-error\s+)?"),
    "timeit": re.compile(r"\s*((-[nrp]\s*\d+|-[tcqov]+)\s+)*"),
    "prun": re.compile(r"\s*((-[lsTD]\s*\S+|-[rq]+)\s+)*"),
}
FUTURE = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
MAIN = "__main__"
PATIENCE = 1.0  # seconds in which a process that hung up is expected to end
CELL_NAME = "<cell {}>"
NAME_CHARACTERS = 50


@dataclass(frozen=True)
class Isolation:
    """What a session is shut in by."""

    isolate: bool  # shut in at all, beside limits
    alone: bool  # no packages but NumPy
    visible: tuple[str, ...]  # what it may read of the file system
    covered: tuple[str, ...]  # folders of packages within that, of which it sees NumPy alone


def serve(control: socket.socket, isolate: bool, alone: bool) -> None:
    """Answer commands until the grader hangs up."""
    if sys.platform == "linux":
        jail.lift_memory_limit()  # that of the reader which opened this; submissions get their own
    for name in (*PRELOADED, *(() if alone else ENGINE)):
        importlib.import_module(name)
    visible = tuple(jail.visible_paths(() if alone else PACKAGES)) if isolate else ()
    covered = tuple(jail.package_folders(visible)) if alone else ()
    walls = Isolation(isolate, alone, visible, covered)
    if alone:
        _leave_packages_out()
    if sys.platform == "linux":
        jail.adopt_orphans()
    gc.collect()
    gc.freeze()
    _answer(control, visible=visible)
    session = 0
    while True:
        command, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if command == b"s":
            session = _start(control, descriptors[0], walls)
            os.close(descriptors[0])
        elif session:
            ending = _finish(session, patience=PATIENCE if command == b"e" else 0.0)
            if not isolate and sys.platform == "linux":
                jail.end_orphans()
            session = 0
            if command:
                _answer(control, **ending)
        if not command:
            return


def _leave_packages_out() -> None:
    """Restrict imports to the standard library and NumPy, and say why others fail."""
    library = Path(os.__file__).parent
    own = {str(library), str(library / "lib-dynload")}
    sys.path[:] = [path for path in sys.path if path in own or path.endswith(".zip")]
    sys.meta_path.insert(0, _NoPackages())


class _NoPackages(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        root = name.partition(".")[0]
        if root not in sys.stdlib_module_names and root != np.__name__:
            raise ModuleNotFoundError(
                f"{root} is not here: an engine of one's own has Python's standard library and "
                "NumPy, and nothing else",
                name=name,
            )


def _start(control: socket.socket, channel: int, walls: Isolation) -> int:
    try:
        pid = _fork_isolated(channel, walls) if walls.isolate else os.fork()
    except (jail.IsolationError, OSError) as error:
        _answer(control, refused=str(error))
        return 0
    if pid == 0:
        _run_student(channel, walls)
    _answer(control, pid=pid)
    return pid


def _fork_isolated(channel: int, walls: Isolation) -> int:
    """Fork a process into its own namespaces; a helper makes them, becomes its parent, and ends."""
    (from_helper, ready), (mapped, to_helper) = os.pipe(), os.pipe()
    helper = os.fork()
    if helper == 0:
        try:
            shown = jail.folders_of(np) if walls.alone else ()
            jail.isolate(walls.visible, ready, mapped, walls.covered, shown)
            child = os.fork()
            if child == 0:
                _run_student(channel, walls)
            os.write(ready, str(child).encode())
        except (jail.IsolationError, OSError) as error:
            os.write(ready, f"!{error}".encode())
        finally:
            os._exit(0)
    os.close(ready)
    os.close(mapped)
    try:
        if os.read(from_helper, 1) == b"u":
            jail.map_user(helper)
            os.write(to_helper, b"m")
            report = os.read(from_helper, 1000).decode()
        else:
            report = os.read(from_helper, 1000).decode() or "!the process was refused"
    finally:
        os.close(to_helper)
        os.close(from_helper)
        os.waitpid(helper, 0)
    if not report.isdigit():
        raise jail.IsolationError(report.lstrip("!"))
    return int(report)


def _finish(pid: int, patience: float) -> dict[str, Any]:
    """Return how the process ended: by itself within `patience` seconds, or else by force."""
    end = time.monotonic() + patience
    found, status, usage = os.wait4(pid, os.WNOHANG)
    while not found and time.monotonic() < end:
        time.sleep(0.002)
        found, status, usage = os.wait4(pid, os.WNOHANG)
    if not found:
        os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
    return {
        "status": os.waitstatus_to_exitcode(status),
        "seconds": usage.ru_utime + usage.ru_stime,
        "forced": not found,
    }


def _answer(control: socket.socket, **fields: Any) -> None:
    control.sendall(json.dumps(fields).encode() + b"\n")


def _run_student(channel: int, walls: Isolation) -> None:
    """Serve the submission and never return: what runs from here on is the student's."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        link = os.dup2(channel, 3)
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        _Student(link, walls).live()
    finally:
        os._exit(1)


class _Student:
    """The process of one submission: a namespace, and the requests it answers one after another."""

    def __init__(self, link: int, walls: Isolation) -> None:
        self.link = link
        self.walls = walls
        self.module = types.ModuleType(MAIN)
        self.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.written = _Written()
        # The names that a notebook has besides Python's own.
        vars(self.module).update(display=lambda *_, **__: None, get_ipython=_Shell)

    def live(self) -> None:
        limits = self._receive()
        limit = jail.lock_down if self.walls.isolate else jail.limit_resources
        try:
            limit(limits["memory"], limits["cpu"])
        except (jail.IsolationError, OSError, ValueError) as error:
            self._write(wire.encode({"nonce": limits["nonce"], "error": _describe(error)}))
            return
        sys.modules[MAIN] = self.module
        sys.meta_path.insert(0, self.written)
        self._write(wire.encode({"nonce": limits["nonce"]}))
        while True:
            request = self._receive()
            act: Callable[[dict[str, Any]], Any] = getattr(self, request["do"])
            try:
                try:
                    reply = {"value": act(request)}
                finally:
                    sys.settrace(None)
                message = wire.encode(reply | {"nonce": request["nonce"]}, request["most"])
            except BaseException as error:  # also SystemExit: nothing may end this loop
                message = wire.encode({"nonce": request["nonce"], "error": _describe(error)})
            self._write(message)

    def run(self, request: dict[str, Any]) -> None:
        """Run the statements of a cell one by one; raise the first error when all have run."""
        name, source = CELL_NAME.format(request["cell"]), request["source"]
        if (written := WRITES.match(source.lstrip())) is not None:
            self.written.write(written[2].strip(" '\""), source, name, more=bool(written[1]))
            if not self.walls.alone:  # an engine of one's own may be written to a file
                return
        _make_repeatable()
        first = None
        for statement in parse_cell(source, name).body:
            try:
                self._run_statement(statement, name)
            except BaseException as error:
                first = error if first is None else first
        if first is not None:
            raise first

    def _run_statement(self, statement: ast.stmt, name: str) -> None:
        alone = ast.Module([statement], [])
        code = compile(alone, name, "exec", self.flags, dont_inherit=True)
        self.flags |= code.co_flags & FUTURE  # of the whole notebook, as in IPython
        running = eval(code, vars(self.module))
        while running is not None:  # a statement that awaits is a coroutine
            try:
                running.send(None)
            except StopIteration:
                running = None

    def defined(self, request: dict[str, Any]) -> list[tuple[str, str, int]]:
        """Return which of the names the submission has defined, with file and line."""
        space = vars(self.module)
        return [(name, *_place(space[name])) for name in request["names"] if name in space]

    def call(self, request: dict[str, Any]) -> Any:
        """Return what the driver computes from the submission's functions and the inputs."""
        space: dict[str, Any] = {"__name__": "driver"}
        exec(compile(request["driver"], "<driver>", "exec"), space)
        _make_repeatable()
        return wire.checks.plain(space[request["entry"]](self.module, request["inputs"]))

    def _receive(self) -> Any:
        head = self._read(wire.PREFIX.size)
        return wire.decode(head + self._read(sum(wire.PREFIX.unpack(head))))

    def _read(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = os.read(self.link, min(size - len(parts), 2**20))
            if not part:
                os._exit(0)
            parts += part
        return bytes(parts)

    def _write(self, message: bytes) -> None:
        view = memoryview(message)
        while view:
            view = view[os.write(self.link, view) :]


class _Shell:
    """What `get_ipython()` gives: magics that run Python run it, and all else does nothing."""

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> Any:
        """Run the Python of a line where it stands; what ``%timeit`` assigns is lost, as ever."""
        if name not in RUNS:
            return None
        frame = sys._getframe(1)
        space, local = frame.f_globals, frame.f_locals
        if name == "timeit":
            local = dict(local)
        code = line[RUNS[name].match(line).end() :]  # type: ignore[union-attr]
        code = "\n" * (frame.f_lineno - 1) + code
        try:
            value = compile(code, frame.f_code.co_filename, "eval", dont_inherit=True)
        except SyntaxError:
            return exec(compile(code, frame.f_code.co_filename, "exec"), space, local)
        return eval(value, space, local)

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


class _Written(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules that cells have written with ``%%writefile``; they are kept in memory."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[str, str]]] = {}

    def write(self, file: str, cell: str, name: str, *, more: bool) -> None:
        """Keep a cell under the name of its file, or add it to what the file holds."""
        if not file.endswith(".py"):
            raise OSError(f"%%writefile keeps Python files alone here, and {file} is none")
        parts = self._parts.setdefault(file.removeprefix("./").removesuffix(".py"), [])
        parts[:] = [*(parts if more else []), (cell, name)]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.machinery.ModuleSpec(name, self) if name in self._parts else None

    def exec_module(self, module: types.ModuleType) -> None:
        for cell, name in self._parts[module.__name__]:
            lines = _without_cell_magic(_remember(cell, name))
            exec(compile("\n".join(lines), name, "exec", dont_inherit=True), vars(module))


def _place(value: Any) -> tuple[str, int]:
    """Return where a function, or the first method of a class, is written; else ("", 0).

    For a decorated, partial or callable value, the place of the function inside counts.
    """
    try:
        value = inspect.unwrap(value.func if isinstance(value, functools.partial) else value)
        kind = value if isinstance(value, type) else type(value)
        members = [value] if isinstance(value, types.FunctionType) else [*vars(kind).values()]
    except Exception:  # the value's own attributes may raise anything
        return "", 0
    codes = [m.__code__ for m in members if isinstance(m, types.FunctionType)]
    if not codes:
        return "", 0
    first = min(codes, key=lambda code: code.co_firstlineno)
    return str(first.co_filename)[:NAME_CHARACTERS], int(first.co_firstlineno)


def parse_cell(source: str, name: str) -> ast.Module:
    """Parse a cell; magics become calls, and what else only a notebook understands does nothing.

    >>> print(ast.unparse(parse_cell("x = %time f(1)\\n!rm -rf /\\nfiles = !ls", "cell")))
    x = get_ipython().run_line_magic('time', ' f(1)')
    pass
    pass
    """
    lines = _without_cell_magic(_remember(source, name))
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    for _ in range(max(2, PARSED // (len(source) + 1))):
        try:
            tree: ast.Module = compile("\n".join(lines) + "\n", name, "exec", flags)
            return tree
        except SyntaxError as error:
            if not _translate(lines, (error.lineno or 0) - 1):
                raise
    raise SyntaxError(
        "too many lines with ! or % stand between this cell's Python; put them into another cell"
    )


def _translate(lines: list[str], at: int) -> bool:
    """Turn a line that only a notebook understands into Python; return whether it is one.

    Those that follow right below are turned, too: each takes whole lines, so no text begins in one.
    """
    if not (0 <= at < len(lines) and COMMAND.match(lines[at])):
        return False
    while at < len(lines) and COMMAND.match(lines[at]):
        at = _translate_one(lines, at)
    return True


def _translate_one(lines: list[str], at: int) -> int:
    """Turn one such line into Python, and return the place of the line below it."""
    line, end = lines[at], at
    while line.endswith("\\") and end + 1 < len(lines):  # it goes on in the next line
        end += 1
        line, lines[end] = line[:-1] + lines[end], ""
    magic = MAGIC.fullmatch(line)
    if magic and not line.rstrip().endswith("?"):
        indent, target, name, rest = magic.groups("")
        lines[at] = f"{indent}{target}get_ipython().run_line_magic({name!r}, {rest!r})"
    else:
        lines[at] = line[: len(line) - len(line.lstrip())] + "pass"
    return end + 1


def _remember(source: str, name: str) -> list[str]:
    """Return the lines of a cell, which tracebacks and `inspect` find by its name from now on."""
    lines = source.splitlines()
    linecache.cache[name] = (len(source), None, [line + "\n" for line in lines], name)
    return lines


def is_foreign(source: str) -> bool:
    """Return whether a cell is in another language than Python, by the magic it begins with."""
    return source.lstrip().startswith("%%") and not _without_cell_magic(source.splitlines())


def _without_cell_magic(lines: list[str]) -> list[str]:
    """Return the cell without the magic of a timed or captured one; nothing of other languages."""
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None or not lines[first].startswith("%%"):
        return lines
    kept = WRITES.match(lines[first]) or lines[first].split()[0] in CELL_MAGICS
    return ["" if i <= first else line for i, line in enumerate(lines)] if kept else []


def _make_repeatable() -> None:
    """Seed the generators that a submission may use without a seed of its own."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002


def _describe(error: BaseException) -> dict[str, Any]:
    """Describe an exception as plain data; its message is the student's and may fail as well."""
    try:
        # The text of a syntax error ends with its place, which is reported separately.
        message = str(error.msg if isinstance(error, SyntaxError) else error)[:500]
    except BaseException:
        message = ""
    where = None
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith("<cell "):
            where = [name[:NAME_CHARACTERS], trace.tb_lineno]
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and str(error.filename).startswith("<cell "):
        where = [str(error.filename)[:NAME_CHARACTERS], error.lineno or 0]
    return {"type": type(error).__name__[:100], "message": message, "where": where}


if __name__ == "__main__":
    with contextlib.suppress(ConnectionError):  # the grader has gone away
        control = socket.socket(fileno=int(sys.argv[1]))
        serve(control, isolate="isolate" in sys.argv, alone="alone" in sys.argv)
