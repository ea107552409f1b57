"""What `make linkcheck` makes of addresses that answer, moved, are gone or stay silent."""

import http.server
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support import ROOT

ANSWERS = {"/ok": 200, "/moved": 302, "/gone": 404, "/anchors": 200}
EXPECTED = {
    "/ok": "working",
    "/moved": "redirected",
    "/gone": "broken",
    "/silent": "broken",
    "/anchors#here": "working",
    "/anchors#nowhere": "broken",
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/silent":
            time.sleep(600)
            self.close_connection = True
            return
        self.send_response(ANSWERS.get(self.path, 404))
        if self.path == "/moved":
            self.send_header("Location", "/ok")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(b'<p id="here">text</p>')

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def check(book: Path, links: list[str]) -> tuple[int, dict[str, str]]:
    """Check a page with these links, with the book's settings but a short patience."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]
    settings = {name: value for name, value in settings.items() if name.startswith("linkcheck_")}
    settings |= {"linkcheck_timeout": 5, "linkcheck_retries": 1}
    config = {"title": "A book", "sphinx": {"config": settings}}
    (book / "_config.yml").write_text(yaml.safe_dump(config))
    (book / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (book / "page.md").write_text("# A page\n\n" + "\n".join(f"- <{link}>" for link in links))
    program = [sys.executable, str(ROOT / "tools" / "assemble.py")]
    run = subprocess.run([*program, "linkcheck", str(book)], capture_output=True, text=True)
    report = book / "_build" / "linkcheck" / "output.json"
    found = map(json.loads, report.read_text().splitlines())
    return run.returncode, {answer["uri"]: answer["status"] for answer in found}


@pytest.mark.slow
def test_each_kind_of_answer(tmp_path: Path, elsewhere: str) -> None:
    status, found = check(tmp_path, [elsewhere + path for path in EXPECTED])
    assert status != 0
    assert {uri.removeprefix(elsewhere): answer for uri, answer in found.items()} == EXPECTED


@pytest.mark.slow
def test_good_links_pass(tmp_path: Path, elsewhere: str) -> None:
    status, _ = check(tmp_path, [f"{elsewhere}/ok", f"{elsewhere}/moved"])
    assert status == 0


def test_target_runs_this_check() -> None:
    recipe = re.search(r"^linkcheck:.*((?:\n\t.*)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    assert "tools/assemble.py linkcheck" in recipe[1]


def test_jupyter_book_is_called_in_one_file() -> None:
    code = [path for name in ("_ext", "src", "tools") for path in (ROOT / name).rglob("*.py")]
    calls = re.compile(r"^(from|import) jupyter_book|jupyter-book build", re.MULTILINE)
    calling = [path for path in [*code, ROOT / "Makefile"] if calls.search(path.read_text())]
    assert calling == [ROOT / "tools" / "assemble.py"]
