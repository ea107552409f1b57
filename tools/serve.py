"""Serve the built site while writing: build it after each change, and reload the browser's pages.

A page reloads when a build succeeded. When it failed, its summary stands in the terminal, and the
site is served as it is until the next change.
"""

import argparse
import asyncio
import errno
import os
import signal
import sys
from collections.abc import Generator, Iterable
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, StaticFileHandler
from tornado.websocket import WebSocketHandler
from watchfiles import Change, awatch

from coursework.sources import is_source

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools.build import ROOT
from tools.inputs import SITE

SCRIPT = b"""<script>
new WebSocket(`ws://${location.host}/_reload`).onmessage = () => location.reload();
</script>
"""


class Pages(StaticFileHandler):
    """The files of the site; each page also listens for the next build."""

    @classmethod
    def get_content(
        cls, abspath: str, start: int | None = None, end: int | None = None
    ) -> Generator[bytes, None, None]:
        body = Path(abspath).read_bytes()
        if abspath.endswith(".html"):
            body = body.replace(b"</head>", SCRIPT + b"</head>", 1)
        yield body[start:end]

    def get_content_size(self) -> int:
        return sum(map(len, self.get_content(self.absolute_path or "")))

    def compute_etag(self) -> None:
        """Return no tag: files change under the same name, so there is nothing to compare."""

    def should_return_304(self) -> bool:
        return False

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Cache-Control", "no-store")
        self.set_header("Access-Control-Allow-Origin", "*")  # the workbench's frame has no origin


class Reload(WebSocketHandler):
    """The line to one open page."""

    open_pages: set["Reload"] = set()  # noqa: RUF012

    def open(self, *args: str, **kwargs: str) -> None:
        self.open_pages.add(self)

    def on_close(self) -> None:
        self.open_pages.discard(self)


def sources(book: Path) -> tuple[list[Path], list[Path]]:
    """Return the folders and the files that the site is made from."""
    paths = [book / name for name in SITE]
    return [p for p in paths if p.is_dir()], [p for p in paths if p.is_file()]


async def watch(
    changed: asyncio.Event, paths: Iterable[Path], keep: Iterable[Path], recursive: bool
) -> None:
    """Set `changed` whenever something that is kept changes under the paths."""
    kept = list(keep)

    def is_kept(change: Change, path: str) -> bool:
        return matters(Path(path), kept)

    async for _ in awatch(*paths, watch_filter=is_kept, recursive=recursive):
        changed.set()


def matters(path: Path, kept: Iterable[Path]) -> bool:
    """Return whether a file is one of those kept, or a source within one of the folders kept."""
    return any(is_source(path, place) for place in kept if path.is_relative_to(place))


async def run_build(book: Path) -> bool:
    """Build in a process group of its own, which ends with this task."""
    command = (sys.executable, str(ROOT / "tools" / "build.py"), str(book))
    process = await asyncio.create_subprocess_exec(*command, start_new_session=True)
    try:
        return await process.wait() == 0
    except asyncio.CancelledError:
        os.killpg(process.pid, signal.SIGTERM)
        await process.wait()
        raise


async def rebuild(book: Path, changed: asyncio.Event) -> None:
    """Build after each change; after each success, reload the pages that are open."""
    while True:
        await changed.wait()
        changed.clear()
        if await run_build(book):
            for page in Reload.open_pages:
                await page.write_message("reload")
        else:
            print("The site is served as it is. Mend this, and it is built again.", flush=True)


def listen(site: Path, port: int) -> HTTPServer:
    """Serve on this machine only."""
    files = {"path": str(site), "default_filename": "index.html"}
    server = HTTPServer(Application([("/_reload", Reload), ("/(.*)", Pages, files)]))
    try:
        server.add_sockets(bind_sockets(port, "localhost"))
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        why = "is in use" if error.errno == errno.EADDRINUSE else "needs an administrator"
        sys.exit(f"Port {port} {why}. Choose another, for example: make serve PORT={port + 1}")
    return server


async def serve(book: Path, port: int) -> None:
    """Serve until interrupted; build once at the start."""
    server = listen(book / "_build" / "html", port)
    folders, files = sources(book)
    changed = asyncio.Event()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    tasks = [
        asyncio.create_task(watch(changed, folders, folders, recursive=True)),
        asyncio.create_task(watch(changed, {f.parent for f in files}, files, recursive=False)),
        asyncio.create_task(rebuild(book, changed)),
        asyncio.create_task(stop.wait()),
    ]
    changed.set()
    print(f"Serving http://localhost:{port} (Ctrl-C ends it)", flush=True)
    done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    server.stop()
    for task in done:
        task.result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("book", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    asyncio.run(serve(options.book.resolve(), options.port))
    print("\nNo longer serving.")


if __name__ == "__main__":
    main()
