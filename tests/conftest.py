"""Which tests run when and beside which, the browser they share, and what they had to leave out."""

import gc
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any, TypeVar

import psutil
import pytest
from hypothesis import settings
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from tests import fonts
from tests.support import LACKS, PATIENCE, REMEDIES, ROOT, lacking
from tools.browser import find

# Deadlines measure the machine, not the code; the same examples each time make a red run
# repeatable.
for profile, examples in {"quick": 10, "chaingrad": 100, "whole": 200}.items():
    settings.register_profile(profile, deadline=None, derandomize=True, max_examples=examples)
settings.load_profile("chaingrad")

SITE = ROOT / "tests" / "site"
MEMORY = 2.5e9  # bytes that a worker may take, with its browser
expect.set_options(timeout=PATIENCE * 1000)
if "PYTEST_XDIST_WORKER" in os.environ:  # a core each is what workers have
    os.environ.setdefault("OMP_NUM_THREADS", "1")

Window = TypeVar("Window", BrowserContext, Page)
# The reader of tests has chosen not to have answers veiled, unless a test takes it back.
UNVEILED = """try {
    const key = "backpropagation-course/reading";
    if (!sessionStorage.begun) localStorage[key] ??= '{"veil": {"off": true}}';
    sessionStorage.begun = true;
} catch {}"""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--site-per-process",  # as a whole Chromium has it, where hidden frames draw nothing
    # Whatever is not this machine does not exist: a page that needs it shows an error.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
ADDRESS_BAR = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"]


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than cores, for what waits; quick tests wait for nothing."""
    workers = (os.cpu_count() or 1) + ("not slow" not in config.option.markexpr)
    return max(1, min(workers, int(psutil.virtual_memory().available / MEMORY)))


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the site and tests in a browser are no quick ones."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()) or item.path.is_relative_to(SITE):
            item.add_marker("slow")
        if (group := shared(item)) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(group))


def pytest_make_parametrize_id(val: object) -> str | None:
    """A test is named by the start of a long text: its name travels between processes."""
    return ascii(val[:60]) if isinstance(val, str | bytes) and len(val) > 60 else None


def pytest_collection_finish() -> None:
    settle()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path != item.path:
        settle()


def settle() -> None:
    """What there is now stays: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


def shared(item: pytest.Item) -> str:
    """The group of tests that one worker runs: what they share is then made once."""
    if not isinstance(item, pytest.Function):
        return ""
    fixtures = item._fixtureinfo.name2fixturedefs
    if "lab" in fixtures:
        return "lab"
    if any(found[-1].scope == "module" for found in fixtures.values()):
        return item.module.__name__
    return "files" if "site" in fixtures and "browser" not in fixtures else ""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--font", default="", help="the reader's font, as in --font Inter")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("fonts"):
        chosen = metafunc.config.getoption("font")
        one, *others = [chosen] if chosen else fonts.TWO
        weekly = [pytest.param(font, marks=pytest.mark.full) for font in others]
        metafunc.parametrize("font", [one, *weekly])


@pytest.fixture(autouse=True)
def seeded() -> None:
    """No test is luck, or what those before it have drawn; most need no PyTorch."""
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.fixture
def font(request: pytest.FixtureRequest) -> str:
    """The reader's font; the system's choice, where it has no name."""
    return str(request.config.getoption("font"))


@pytest.fixture
def browser(browsers: Callable[[str], Browser], font: str) -> Browser:
    return browsers(font)


@pytest.fixture(scope="session")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Browser]]:
    """The browser of a reader with this font."""
    executable = find()
    if executable is None:
        lacking("a browser")
    with sync_playwright() as playwright, ExitStack() as open_ones:

        @cache
        def start(font: str) -> Browser:
            env = fonts.choose(font, tmp_path_factory.mktemp("font")) if font else None

            def launch(*more: str) -> Browser:
                return playwright.chromium.launch(
                    executable_path=executable, args=[*FLAGS, *more], env=env
                )

            try:
                browser = launch()
                if "headless-shell" not in executable:
                    switch = without_address_bar(browser)
                    browser.close()
                    browser = launch(switch)
            except Error as error:
                lacking(f"a browser that starts ({executable}: {error.message.splitlines()[0]})")
            open_ones.callback(browser.close)
            return patient(browser)

        def checked(font: str) -> Browser:
            browser = start(font)
            if font:
                fonts.check(browser, font)
            return browser

        yield checked


def without_address_bar(browser: Browser) -> str:
    """The switch that spares each window the pages of its address bar, half of all its work.

    Of two such switches the last counts: it leaves out what Playwright's does, too.
    """
    told = browser.new_browser_cdp_session().send("SystemInfo.getInfo")
    left_out = re.findall(r"--disable-features=(\S+)", told["commandLine"])
    assert left_out
    return "--disable-features=" + ",".join([*left_out, *ADDRESS_BAR])


def patient(browser: Browser) -> Browser:
    """The browser, whose windows wait as long as a loaded machine may take."""

    def waiting(opens: Callable[..., Window]) -> Callable[..., Window]:
        def opened(**options: Any) -> Window:
            window = opens(**options)
            window.set_default_timeout(PATIENCE * 1000)
            window.add_init_script(UNVEILED)
            return window

        return opened

    browser.new_context = waiting(browser.new_context)  # type: ignore[method-assign]
    browser.new_page = waiting(browser.new_page)  # type: ignore[method-assign]
    return browser


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly which tests this machine could not run."""
    reasons = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])
               if isinstance(report.longrepr, tuple | list)]  # fmt: skip
    wanting = Counter(r.partition(LACKS)[2] for r in reasons if LACKS in r)
    if not wanting:
        return
    title = f"{wanting.total()} TESTS DID NOT RUN"
    terminalreporter.section(title, sep="=", red=True, bold=True)
    for what, number in wanting.most_common():
        remedy = next((text for name, text in REMEDIES.items() if what.startswith(name)), "")
        terminalreporter.line(f"{number} want {what}.", red=True)
        if remedy:
            terminalreporter.line(f"    To run them: {remedy}")
