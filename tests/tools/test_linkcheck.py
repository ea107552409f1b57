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

from tests.support import ROOT, free_port

PAGE = "chapters/practice/drills"
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


def write(book: Path, links: list[str]) -> None:
    """A book whose page has these links, and leads to problems; settings as here, less patience."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]
    settings = {name: value for name, value in settings.items() if name.startswith("linkcheck_")}
    settings |= {"linkcheck_timeout": 5, "linkcheck_retries": 1}
    extensions = {name: str(ROOT / "_ext") for name in ("drills", "about.linkcheck")}
    sphinx = {"config": settings, "local_extensions": extensions}
    config = {"title": "A book", "execute": {"execute_notebooks": "off"}, "sphinx": sphinx}
    (book / "_config.yml").write_text(yaml.safe_dump(config))
    (book / "_toc.yml").write_text(f"format: jb-book\nroot: page\nchapters: [file: {PAGE}]\n")
    (book / PAGE).parent.mkdir(parents=True)
    (book / f"{PAGE}.md").write_text("# Problems\n")
    lines = [*(f"- <{link}>" for link in links), "", "```{practice} orders-1-1", "```"]
    (book / "page.md").write_text("\n".join(["# A page", "", *lines]))


def check(book: Path) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Check the links of a book; how that ended, and what was found of each."""
    program = [sys.executable, str(ROOT / "tools" / "assemble.py")]
    run = subprocess.run([*program, "linkcheck", str(book)], capture_output=True, text=True)
    report = book / "_build" / "linkcheck" / "output.json"
    found = map(json.loads, report.read_text().splitlines()) if report.exists() else ()
    return run, {answer["uri"]: answer["status"] for answer in found}


@pytest.mark.walk
@pytest.mark.slow
def test_each_kind_of_answer(tmp_path: Path, elsewhere: str) -> None:
    write(tmp_path, [elsewhere + path for path in EXPECTED])
    run, found = check(tmp_path)
    assert run.returncode != 0
    assert {uri.removeprefix(elsewhere): answer for uri, answer in found.items()} == EXPECTED


@pytest.mark.full
def test_good_links_pass_and_links_within_the_site_are_not_asked(
    tmp_path: Path, elsewhere: str
) -> None:
    """Whether this check has read the pages or a build, which find them as the other left them."""
    write(tmp_path, [f"{elsewhere}/ok", f"{elsewhere}/moved"])
    for _ in range(2):
        run, found = check(tmp_path)
        assert run.returncode == 0, run.stdout + run.stderr
        assert len(found) == 2
        command = [sys.executable, str(ROOT / "tools" / "build.py"), str(tmp_path)]
        assert subprocess.run(command, capture_output=True).returncode == 0
    page = (tmp_path / "_build" / "html" / "page.html").read_text()
    assert f'href="{PAGE}.html#orders-1-1"' in page


@pytest.mark.walk
@pytest.mark.slow
def test_a_machine_without_a_network_is_told_so_once(tmp_path: Path) -> None:
    hosts = [f"http://127.0.0.1:{free_port()}", "https://nowhere.invalid"]
    write(tmp_path, [f"{host}/{page}" for host in hosts for page in ("a", "b#c")])
    run, found = check(tmp_path)
    assert run.returncode != 0
    assert run.stderr.count("none of the 2 hosts that links lead to answers") == 1
    assert "broken link" not in run.stderr
    assert not found


def test_target_runs_this_check() -> None:
    recipe = re.search(r"^linkcheck:.*((?:\n\t.*)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    assert "tools/assemble.py linkcheck" in recipe[1]


def test_jupyter_book_is_called_in_one_file() -> None:
    code = [path for name in ("_ext", "src", "tools") for path in (ROOT / name).rglob("*.py")]
    calls = re.compile(r"^(from|import) jupyter_book|jupyter-book build", re.MULTILINE)
    calling = [path for path in [*code, ROOT / "Makefile"] if calls.search(path.read_text())]
    assert calling == [ROOT / "tools" / "assemble.py"]
