"""What several test modules need."""

import functools
import http.server
import inspect
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parent.parent
LACKS = "this machine lacks "
LOGIC = (ROOT / "tests" / "logic.bundle.js").read_text("utf-8")  # what the scripts compute with
PATIENCE = 120  # seconds that anything may take: how fast a machine is, is no part of any test
# What a test may want of a machine, and how to come by it.
REMEDIES = {
    "a browser": "put Chromium or Chrome on PATH, or run "
    "`.venv/bin/python -m playwright install --with-deps chromium`",
    "the font": "on Linux, install its package; on Debian and Ubuntu that is "
    "fonts-dejavu-core, fonts-noto-core, fonts-liberation or fonts-inter",
    "another browser": "install Firefox, geckodriver, WebKitWebDriver (Debian and Ubuntu: "
    "webkit2gtk-driver) and xvfb, and run `xvfb-run make test BROWSERS=1`",
    "user namespaces": "on Ubuntu `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`; "
    "in a container, start it with the right to make them",
    "a package index": "connect this machine to a network",
    "the runtime of live cells": "connect this machine to a network, and run `make live` once",
}

# What JupyterLab, Vim, Emacs, other editors, macOS, Windows and Python leave beside a file.
STRAYS = (
    ".ipynb_checkpoints/{stem}-checkpoint{suffix}",
    ".{name}.swp",
    "4913",
    "{name}~",
    "#{name}#",
    "._{name}",
    ".DS_Store",
    "Thumbs.db",
    "__pycache__/{stem}.cpython-311.pyc",
)


def litter(file: Path) -> list[Path]:
    """Leave beside a file, with its content, what editors and systems leave there."""
    parts = {"name": file.name, "stem": file.stem, "suffix": file.suffix}
    left = [file.parent / stray.format(**parts) for stray in STRAYS]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file.read_bytes())
    lock = file.with_name(f".#{file.name}")  # Emacs: it leads to no file
    lock.symlink_to("someone@somewhere.4711:1764100000")
    return [*left, lock]


def sampled(values: Iterable[Any], *taken: Any) -> list[Any]:
    """Parameters of which `make test` takes a few, and `make walk` the others."""
    return [
        value
        if value in taken or hasattr(value, "marks")
        else pytest.param(*(value if isinstance(value, tuple) else [value]), marks=pytest.mark.walk)
        for value in values
    ]


def brief(value: object) -> str:
    """What tells a parameter from others; to print an array may take minutes."""
    if isinstance(value, str | int | float | Path):
        return repr(value)[:60]
    return str(getattr(value, "__name__", type(value).__name__))


def each(
    names: str | tuple[str, ...], values: Iterable[Any] | Callable[[], Iterable[Any]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """One test of all these values, each a subtest: as `parametrize`, for one fact about many."""
    names = (names,) if isinstance(names, str) else names
    listed = values if callable(values) else list(values)

    def decorate(body: Callable[..., None]) -> Callable[..., None]:
        wanted = inspect.signature(body).parameters
        fixtures = {name: wanted[name] for name in wanted if name not in names}
        one = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)

        @functools.wraps(body)
        def test(**given: Any) -> None:
            own = {name: given[name] for name in fixtures}
            for place, value in enumerate(listed() if callable(listed) else listed):
                case = dict(zip(names, value if len(names) > 1 else [value], strict=True))
                said = ", ".join(f"{name}={brief(case[name])}" for name in names)
                with given["subtests"].test(f"{place}: {said}"):
                    body(**own, **case)

        parameters = {**fixtures, "subtests": one}
        test.__signature__ = inspect.Signature(parameters.values())  # type: ignore[attr-defined]
        return test

    return decorate


def lacking(what: str) -> NoReturn:
    """Skip a test that wants what this machine lacks; continuous integration must not lack it."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{LACKS}{what}, which tests need when CI=true", pytrace=False)
    pytest.skip(f"{LACKS}{what}")


def git(folder: Path, *arguments: str) -> str:
    """What git prints, run in a folder by someone."""
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Quiet(http.server.SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")  # as hosts of static pages do
        super().end_headers()

    def copyfile(self, source: Any, outputfile: Any) -> None:
        with suppress(ConnectionError):  # a window that is closed takes no more
            super().copyfile(source, outputfile)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serve(folder: Path, handles: type[Quiet] = Quiet) -> Iterator[str]:
    """Serve a folder's files; its address."""
    handler = functools.partial(handles, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
