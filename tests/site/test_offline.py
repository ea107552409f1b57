"""Nobody but the site itself is asked for anything while a page is read.

The browser talks through a proxy that refuses whatever is not the site, and writes it down. What
pages ask for `test_audit` sees on each; the proxy also sees what the browser asks for by itself.
"""

import http.server
import socketserver
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.site.audit import IDLE, MISSING
from tests.site.built import toc_documents

# Where Chromium itself calls home, whatever page is shown.
CHROMIUM = (
    "accounts.google.com",
    "android.clients.google.com",
    "clients2.google.com",
    "clientservices.googleapis.com",
    "content-autofill.googleapis.com",
    "edgedl.me.gvt1.com",
    "mtalk.google.com",
    "optimizationguide-pa.googleapis.com",
    "redirector.gvt1.com",
    "safebrowsing.googleapis.com",
    "safebrowsingohttpgateway.googleapis.com",
    "update.googleapis.com",
    "www.google.com",
)
FIRST, *OTHERS = toc_documents()


@dataclass
class Proxy:
    """An HTTP proxy that lets one origin through."""

    site: str
    refused: list[str] = field(default_factory=list)
    passed: int = 0

    def serve(self) -> Iterator[str]:
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if not self.path.startswith(proxy.site + "/"):
                    self.refuse()
                    return
                proxy.passed += 1
                try:
                    with urllib.request.urlopen(self.path) as answer:
                        self.send_response(answer.status)
                        self.send_header("Content-Type", answer.headers["Content-Type"])
                        self.end_headers()
                        self.wfile.write(answer.read())
                except urllib.error.HTTPError as error:
                    self.send_error(error.code)

            def refuse(self) -> None:
                host = urllib.parse.urlsplit(self.path).hostname or self.path.partition(":")[0]
                if host not in CHROMIUM:
                    proxy.refused.append(f"{self.command} {self.path}")
                self.send_error(403)

            do_CONNECT = do_POST = do_HEAD = do_PUT = do_OPTIONS = refuse  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

        with Server(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()


@pytest.fixture(scope="module")
def proxy(address: str) -> Proxy:
    return Proxy(address)


@pytest.fixture(scope="module")
def context(browsers: Callable[[str], Browser], proxy: Proxy) -> Iterator[BrowserContext]:
    for server in proxy.serve():
        through = {"server": server, "bypass": "<-loopback>"}
        context = browsers("").new_context(proxy=through, service_workers="block")
        yield context
        context.close()


@pytest.fixture
def page(context: BrowserContext, proxy: Proxy) -> Iterator[Page]:
    proxy.refused.clear()
    page = context.new_page()
    yield page
    page.close()


def test_the_proxy_records_what_it_refuses(page: Page, proxy: Proxy, address: str) -> None:
    page.goto(f"{address}/search.html")
    page.evaluate("fetch('http://elsewhere.example/a').catch(() => 0)")
    page.evaluate("fetch('https://secure.example/b').catch(() => 0)")
    assert proxy.refused == ["GET http://elsewhere.example/a", "CONNECT secure.example:443"]


@pytest.mark.parametrize(
    "names", [[FIRST], pytest.param(OTHERS, marks=pytest.mark.full)], ids=["first", "others"]
)
def test_page_asks_the_site_alone(
    page: Page, proxy: Proxy, address: str, names: list[str], subtests: pytest.Subtests
) -> None:
    for name in names:
        with subtests.test(name):
            before = proxy.passed
            page.goto(f"{address}/{name}.html")
            page.evaluate(IDLE)
            assert proxy.passed > before  # the page did come through the proxy
            assert not proxy.refused
            assert not page.evaluate(MISSING)
