"""One page, opened once in a real browser: what a reader in that window would find wrong."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, TimeoutError

from tests.axe import severe, thin
from tests.site.built import numbered
from tests.support import PATIENCE

PHONE, TABLET, LAPTOP, DESKTOP = 390, 1024, 1280, 1440
OWN, EVERYTHING = 1.0e6, 2.5e6  # bytes of a page, and of all that it loads, unpacked
LEGIBLE = 11  # pixels
FIRST_READ = "chapters/intro", "chapters/foundations/"  # by many on a phone

# How far anything reaches beyond the window, boxes that scroll by themselves left aside.
OVERFLOW = """() => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)
    - document.documentElement.clientWidth"""
# Formulas that are not drawn or drawn wrong, fonts that did not come, icons of no font of icons.
MISSING = """async () => {
    await document.fonts.ready;
    const undrawn = [...document.querySelectorAll('.math')].filter(
        (e) => !e.querySelector('.katex'));
    const wrong = [...document.querySelectorAll('.katex-error')];
    const faces = [...document.fonts];
    const standsIn = (face) => face.family.includes(', as wide');  // if the system has it
    const iconless = [...document.querySelectorAll('body *')].filter((e) =>
        ['::before', '::after'].some((part) => {
            const { content, fontFamily } = getComputedStyle(e, part);
            return /[\ue000-\uf8ff]/.test(content) && !/Awesome/.test(fontFamily);
        }));
    return [
        ...iconless.map((e) => `icon beside ${e.textContent.trim().slice(0, 40)}`),
        ...undrawn.map((e) => `formula ${e.textContent}`),
        ...wrong.map((e) => `formula ${e.textContent}`),
        ...faces.filter((f) => f.status === 'error' && !standsIn(f))
            .map((f) => `font ${f.family}`),
        ...(faces.some((f) => f.status === 'loaded') ? [] : ['every font']),
    ];
}"""
UNFOLD = "document.querySelectorAll('main details').forEach((fold) => { fold.open = true; })"
# What a reader can act on and see is numbered; the state of the control that has the focus is
# written down at each key, which is when the focus is about to leave it.
WATCH = """() => {
    const all = document.querySelectorAll(
        'main :is(a[href], button, input, select, textarea, summary, [tabindex="0"])');
    const isReached = (e) => e.type !== 'radio' ||  // Tab comes to one of a group, arrows to others
        e === document.querySelector(`input[name="${e.name}"]:checked, input[name="${e.name}"]`);
    const shown = [...all].filter((e) => e.tabIndex >= 0 && !e.disabled && isReached(e) &&
        e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length);
    const name = (e) => e.outerHTML.slice(0, 120);
    shown.forEach((e, number) => e.dataset.control = number);
    document.activeElement.blur();
    document.body.style.clipPath = 'inset(50%)';  // painting each focus would take half of the time
    window.walk = { reached: new Set(), plain: [], first: null, ended: false };
    document.addEventListener('keydown', () => {
        const e = document.activeElement, style = getComputedStyle(e);
        if (e.matches('body, iframe')) return;  // before the first, and on its way through a frame
        walk.ended ||= e === walk.first;
        walk.first ??= e;
        if (e.dataset.control) walk.reached.add(Number(e.dataset.control));
        const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
        if (!ring && style.boxShadow === 'none') walk.plain.push(name(e));
    }, true);
    walk.missed = () => shown.filter((_, number) => !walk.reached.has(number)).map(name);
}"""
# What scrolls and neither takes the focus nor holds anything that does.
OUT_OF_REACH = """() => [...document.querySelectorAll("body *")].filter((e) => {
    const across = e.scrollWidth > e.clientWidth, down = e.scrollHeight > e.clientHeight;
    if (!across && !down || !e.checkVisibility({ visibilityProperty: true })) return false;
    const { overflowX, overflowY } = getComputedStyle(e), scrolls = ["auto", "scroll"];
    return (across && scrolls.includes(overflowX) || down && scrolls.includes(overflowY))
        && e !== document.body && e.tabIndex < 0
        && ![...e.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
            .some((inner) => inner.tabIndex >= 0);
}).map((e) => e.outerHTML.slice(0, 120))"""
# How many characters fit into a full line of each paragraph of the running text.
LINES = """() => [...document.querySelectorAll(".bd-article section > p")]
    .filter((p) => p.checkVisibility() && !p.querySelector(".katex, code, img"))
    .map((p) => {
        const range = document.createRange();
        range.selectNodeContents(p);
        const pieces = [...range.getClientRects()], { left, width } = p.getBoundingClientRect();
        const lines = new Set(pieces.map((r) => Math.round(r.bottom)));
        const last = pieces.filter((r) => Math.round(r.bottom) === Math.max(...lines));
        const part = (Math.max(...last.map((r) => r.right)) - left) / width;
        return [p.innerText.length, lines.size, part];
    }).filter(([, lines]) => lines >= 4)
    .map(([letters, lines, part]) => letters / (lines - 1 + part))"""
# Punctuation that stands on a line below the formula that it follows.
ALONE = """() => [...document.querySelectorAll("main .math")].flatMap((formula) => {
    const after = formula.nextSibling;
    if (!formula.checkVisibility() || formula.tagName !== "SPAN") return [];
    if (after?.nodeType !== Node.TEXT_NODE || !/^[.,;:!?)]/.test(after.data)) return [];
    const range = document.createRange();
    range.setStart(after, 0);
    range.setEnd(after, 1);
    const boxes = formula.querySelectorAll(".katex-base");
    const last = (boxes[boxes.length - 1] ?? formula).getBoundingClientRect();
    const below = range.getBoundingClientRect().left < last.right - 2;
    return below ? [formula.innerText + after.data.slice(0, 9)] : [];
})"""
# Numbers of formulas that lie over them.
COVERED = """() => [...document.querySelectorAll("main .eqno")].filter((number) => {
    const own = number.getBoundingClientRect();
    return number.checkVisibility() && [...number.parentElement.querySelectorAll(".katex-base")]
        .map((part) => part.getBoundingClientRect())
        .some((box) => Math.min(own.right, box.right) - Math.max(own.left, box.left) > 1
            && Math.min(own.bottom, box.bottom) - Math.max(own.top, box.top) > 1);
}).map((number) => number.innerText)"""
# Drawings whose type is too small, or whose hidden part nobody comes to.
DRAWINGS = """(legible) => [...document.querySelectorAll("main svg.chaingrad")]
    .filter((svg) => svg.checkVisibility())
    .map((svg) => {
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        const sizes = [...svg.querySelectorAll("text")]
            .map((text) => scale * parseFloat(getComputedStyle(text).fontSize));
        let box = svg.parentElement;
        const fits = (box) => box.scrollWidth <= box.clientWidth
            || getComputedStyle(box).overflowX === "visible";
        while (box && fits(box))
            box = box.parentElement?.closest("article *");
        const wrong = [];
        if (Math.min(...sizes) < legible - 0.05) wrong.push(`type of ${Math.min(...sizes)} px`);
        if (box && box.tabIndex !== 0) wrong.push("takes no focus");
        if (box && !box.getAttribute("aria-label")) wrong.push("is not named");
        return wrong.length ? [wrong, svg.outerHTML.slice(0, 200)] : [];
    }).filter((wrong) => wrong.length)"""
# What of a figure a reader would have to scroll to.
CUT = """() => [...document.querySelectorAll('article :is(.chaingrad-drawing, .chaingrad-plot)')]
    .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth)
    .map((e) => `${e.scrollWidth} of ${e.clientWidth}: ${e.textContent.slice(0, 40)}`)"""
# What of the list of contents, unfolded, is wider than its side bar.
CONTENTS = """() => {
    const lists = [...document.querySelectorAll(".bd-sidebar-secondary ul")];
    for (const list of lists) list.style.display = "block";
    const cut = lists.flatMap((list) => [...list.querySelectorAll("a")]).filter((link) => {
        const range = document.createRange();
        range.selectNodeContents(link);
        const bar = link.closest(".bd-sidebar-secondary").getBoundingClientRect();
        return range.getBoundingClientRect().right > bar.right;
    });
    for (const list of lists) list.style.display = "";
    return cut.map((link) => link.textContent);
}"""
# What is observed has been looked at: before a frame is drawn.
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Half a second and what else the page has to do, by its own clock: what it asks for late is asked
# for by then. (Playwright's "networkidle" waits for ever where the end of a request got lost, and
# so does an idle callback without a limit in a window that draws no more frames.)
IDLE = """new Promise((done) => setTimeout(
    () => requestIdleCallback(done, { timeout: 1000 }), 500))"""
# What all that is loaded takes, unpacked, once the images that wait have come.
WEIGHTS = """async () => {
    for (const image of document.images) image.loading = "eager";
    await Promise.all([...document.images].map((image) => image.decode().catch(() => 0)));
    return [...performance.getEntriesByType("navigation"),
            ...performance.getEntriesByType("resource")]
        .map((entry) => [entry.name, entry.decodedBodySize]);
}"""
# The upper edge of the first figure, and how far down it may be: in the first screen.
PICTURE = """() => [...document.querySelectorAll(
        'article :is(svg.chaingrad, [class^="chaingrad-"])')]
    .find((e) => e.checkVisibility()).getBoundingClientRect().top + scrollY"""
LOWEST = {DESKTOP: 720, PHONE: 2 * 844}
# Take back that a test reader has nothing veiled, once: what is kept later stays.
VEILED = """try {
    if (!sessionStorage.veiled) localStorage.setItem("backpropagation-course/reading", "{}");
    sessionStorage.veiled = 1;
} catch {}  // in a frame without an origin"""
# What is seen of answers that should be veiled.
SEEN = """() => [...document.querySelectorAll("[data-veil]")]
    .map((box) => [...document.querySelectorAll(`.answers-${box.dataset.veil}`)])
    .flatMap((parts) => parts.length ? parts : [document.createElement("nothing")])
    .filter((part) => part.hidden !== "until-found" || part.getBoundingClientRect().height > 0
        || [...part.children].some((e) => e.checkVisibility()))
    .map((part) => part.outerHTML.slice(0, 120))"""
# What is veiled and is neither output nor a paragraph.
OTHERS = """() => [...document.querySelectorAll("[hidden='until-found']")]
    .filter((part) => !part.matches("[class*='answers-']:is(.cell_output, p)"))
    .map((part) => part.outerHTML.slice(0, 120))"""
# The veils that are higher than half a screen of 900 px.
HIGH = """() => [...document.querySelectorAll(".veil-note")]
    .map((note) => note.getBoundingClientRect().height)
    .filter((height) => height > 450)"""
# What was veiled and isn't seen.
UNSEEN = """() => [...document.querySelectorAll("[class*='answers-']")]
    .filter((part) => part.hidden || !part.getBoundingClientRect().height)
    .map((part) => part.outerHTML.slice(0, 120))"""
# Skip all questions, one after the other; the veils that are left, and those that did not stay
# where the reader saw them.
SKIP = """() => {
    const moved = [];
    for (let note; (note = document.querySelector(".veil-note"));) {
        const cell = note.parentElement, before = cell.getBoundingClientRect().top;
        const skip = [...note.querySelectorAll("button")].find(
            (button) => button.textContent === "Skip the question" && button.checkVisibility());
        if (!skip) return [["no button"], moved];
        skip.click();
        if (note.isConnected) return [["a veil"], moved];
        const by = cell.getBoundingClientRect().top - before;
        if (Math.abs(by) > 1) moved.push(`${by} px`);
    }
    return [[], moved];
}"""
PRESSES = 25  # between two looks at whether the walk has come round
FOLLOWS = "theme => document.documentElement.dataset.theme === theme"


@dataclass
class Reading:
    """A page opened in one window, and what went wrong while it loaded."""

    page: Page
    origin: str
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def listeners(self) -> dict[str, Callable[[Any], None]]:
        return {
            "pageerror": lambda error: self.errors.append(str(error)),
            "console": self._console,
            "requestfailed": lambda request: self.errors.append(f"failed {request.url}"),
            "request": self._request,
        }

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.netloc and f"{parts.scheme}://{parts.netloc}" != self.origin:
            self.foreign.append(request.url)

    def open(self, document: str) -> None:
        self.page.goto(f"{self.origin}/{document}.html")
        self.page.evaluate(SETTLED)


@contextmanager
def reading(browser: Browser, origin: str, width: int, theme: str) -> Iterator[Reading]:
    """A page of the site in the window of a reader, who has read nothing yet."""
    page = window(browser, width, theme)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    opened = Reading(page, origin)
    listeners = opened.listeners()
    for event, heard in listeners.items():
        page.on(event, heard)  # type: ignore[call-overload]
    try:
        yield opened
    finally:
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.goto("about:blank")
        page.unroute_all()
        for event, heard in listeners.items():
            page.remove_listener(event, heard)


@cache
def window(browser: Browser, width: int, theme: str) -> Page:
    """One for all pages, which load the same files; on a phone, of a reader who wants veils."""
    context = browser.new_context(reduced_motion="reduce", service_workers="block")
    if width == PHONE:
        context.add_init_script(VEILED)
    return context.new_page()


def audit(reading: Reading, every_element: bool = False) -> Iterator[tuple[str, list[object]]]:
    """What is looked at, and what is wrong with it: folded, unfolded, and in the other theme.

    The contrast of text is measured once for each look in all pages, or at every element.
    """
    page = reading.page
    wide = width(page) >= DESKTOP
    if any(f"{lesson}.html" in page.url for lesson in numbered()):
        low = page.evaluate(PICTURE)
        yield "opens with its figure", [f"{low} px"] if low > LOWEST[width(page)] else []
    if not wide:
        yield from veils(page)
    yield "is complete", page.evaluate(MISSING)
    yield "fits the window", overflow(page)
    if wide:
        missed, plain = walk(page)
        yield "controls are reached by Tab", missed
        yield "the focus is seen", plain
        yield "weighs little", heavy(page)
    page.evaluate(UNFOLD)
    page.evaluate(SETTLED)
    # Before anything moves in the page, which would have it look again at what scrolls.
    yield "what scrolls takes the focus", page.evaluate(OUT_OF_REACH)
    yield from layout(page)
    if wide:
        yield "contents fit beside the page", page.evaluate(CONTENTS)
        page.set_viewport_size({"width": LAPTOP, "height": 900})
        yield "no figure is cut at 1280 px", page.evaluate(CUT)
        page.set_viewport_size({"width": TABLET, "height": 900})
        yield from layout(page)
        if not every_element:
            thin(page)
        page.set_viewport_size({"width": DESKTOP, "height": 900})
        yield "axe", severe(page, every=every_element)
    elif any(part in page.url for part in FIRST_READ):
        yield f"no figure is cut at {width(page)} px", page.evaluate(CUT)
    yield "the theme follows the system", switch(page)
    yield "fits the window in the other theme", overflow(page)
    if wide:
        yield "axe in the other theme", severe(page, colours=True, every=every_element)
    page.evaluate(IDLE)
    yield "asks the site alone", reading.foreign
    yield "no error", reading.errors


def veils(page: Page) -> Iterator[tuple[str, list[object]]]:
    """What is seen of answers before one has predicted or skipped; they unfold in place."""
    yield "answers are veiled", page.evaluate(SEEN)
    yield "nothing else is veiled", page.evaluate(OTHERS)
    yield "veils are low", page.evaluate(HIGH)
    left, moved = page.evaluate(SKIP)
    yield "questions can be skipped", left
    yield "what is skipped stays in place", moved
    yield "what was veiled is seen", page.evaluate(UNSEEN)


def layout(page: Page) -> Iterator[tuple[str, list[object]]]:
    """How an unfolded page stands in a window of this width."""
    at = f"at {width(page)} px"
    yield f"fits the window, unfolded, {at}", overflow(page)
    yield f"lines are read with ease {at}", ragged(page)
    yield f"punctuation stays with its formula {at}", page.evaluate(ALONE)
    yield f"numbers stand beside their formulas {at}", page.evaluate(COVERED)
    yield f"drawings can be read {at}", page.evaluate(DRAWINGS, LEGIBLE)


def width(page: Page) -> int:
    assert page.viewport_size is not None
    return page.viewport_size["width"]


def ragged(page: Page) -> list[object]:
    """The letters of a line in the middle, if they are too few or too many; a phone has few."""
    lines = sorted(page.evaluate(LINES))
    middle = lines[len(lines) // 2] if len(lines) >= 5 and width(page) > 700 else 75
    return [] if 60 <= middle <= 90 else [f"{middle:.0f} letters"]


def heavy(page: Page) -> list[object]:
    """The bytes of a page with its images, and of all that it loads, if they are too many."""
    weights = dict(page.evaluate(WEIGHTS))
    own = sum(size for name, size in weights.items() if ".html" in name or "/_images/" in name)
    assert own
    found = {own: OWN, sum(weights.values()): EVERYTHING}
    return [f"{size:.0f} of {limit:.0f} bytes" for size, limit in found.items() if size > limit]


def theme(page: Page) -> str:
    return str(page.evaluate("document.documentElement.dataset.theme"))


def switch(page: Page) -> list[object]:
    """Change the system's choice of light or dark; the theme, if it stays as it was."""
    before = theme(page)
    after = "light" if before == "dark" else "dark"
    page.emulate_media(color_scheme=after)  # type: ignore[arg-type]
    try:
        page.wait_for_function(FOLLOWS, arg=after, timeout=PATIENCE * 1000)
    except TimeoutError:
        return [before]
    return []


def overflow(page: Page) -> list[object]:
    beyond = page.evaluate(OVERFLOW)
    return [f"{beyond} px"] if beyond > 0 else []


def walk(page: Page) -> tuple[list[object], list[object]]:
    """Hold Tab down: the controls that it never reaches, and those that do not show the focus."""
    page.evaluate(WATCH)
    give_up = monotonic() + PATIENCE  # a frame that is slow to take the focus lets many keys go by
    while not page.evaluate("walk.ended") and monotonic() < give_up:
        for _ in range(PRESSES):
            page.keyboard.down("Tab")
    page.keyboard.up("Tab")
    page.evaluate("document.body.style.clipPath = ''")
    return page.evaluate("walk.missed()"), page.evaluate("walk.plain")
