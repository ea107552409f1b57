"""What a reader writes is kept in the browser, brought back, undone, downloaded, forgotten."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, StorageState, expect

from tests.axe import severe
from tests.site.live import COLD, PAGE, RIGHT, answer, cell, place, says, write
from tests.support import serve

pytestmark = pytest.mark.xdist_group("live")
EDIT = "x = 41\nx + 1"
KEPT = "Object.keys(kept.read('chapters/page')).length"
FULL = """Storage.prototype.setItem = () => {
    throw new DOMException("full", "QuotaExceededError");
};"""
REFUSED = """Object.defineProperty(window, "localStorage", {
    get: () => { throw new DOMException("no", "SecurityError"); },
});"""


@pytest.fixture(scope="module")
def page_address(live_site: Path) -> Iterator[str]:
    with serve(live_site) as address:
        yield f"{address}/{PAGE}"


def without_python(context: BrowserContext) -> BrowserContext:
    """Keep Python from starting, as it does beside who writes: what is kept is kept without it."""
    context.set_default_timeout(COLD)
    context.route("**/_live/worker.js", lambda route: route.abort())
    return context


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context() as context:
        yield without_python(context)


@pytest.fixture
def page(context: BrowserContext, page_address: str) -> Page:
    page = context.new_page()
    page.goto(page_address)
    return page


@pytest.fixture(scope="module")
def answered(browsers: Callable[[str], Browser], page_address: str) -> StorageState:
    """What a browser keeps of a reader who has answered right."""
    with browsers("").new_context() as context:
        page = context.new_page()
        page.goto(page_address)
        answer(page, RIGHT)
        expect(says(page)).to_have_text("Right.")
        expect(page.locator(".work")).to_contain_text("1 exercise answered, 1 right")
        return context.storage_state()


@pytest.fixture
def returned(browser: Browser, answered: StorageState, page_address: str) -> Iterator[Page]:
    """The page, to which that reader comes back."""
    with browser.new_context(storage_state=answered) as context:
        page = without_python(context).new_page()
        page.goto(page_address)
        yield page


def text(page: Page, name: str) -> str:
    return "\n".join(cell(page, name).locator(".cm-line").all_inner_texts())


def test_an_edit_is_there_when_the_reader_returns(page: Page) -> None:
    write(page, "six", EDIT)
    page.reload()
    expect(cell(page, "six").locator(".cm-line").first).to_have_text("x = 41")
    assert text(page, "six") == EDIT
    expect(cell(page, "six").locator(".live-note")).to_contain_text("as this browser kept it")
    assert page.evaluate("document.activeElement === document.body")
    assert page.evaluate("scrollY") == 0


def test_cells_of_the_same_code_are_told_apart(page: Page) -> None:
    keys = page.evaluate("kept.keys(['a', 'b', 'a\\n'])")
    assert len(set(keys)) == 3


def test_nothing_is_kept_of_what_is_only_run(page: Page) -> None:
    cell(page, "six").locator(".live-edit").click()
    expect(cell(page, "six").locator(".cm-content")).to_be_focused()
    page.keyboard.press("End")
    page.reload()
    assert not page.evaluate(KEPT)
    expect(page.locator(".work")).to_have_count(0)


def test_a_reset_is_undone_even_later(page: Page) -> None:
    write(page, "six", EDIT)
    cell(page, "six").locator(".live-reset").click()
    expect(cell(page, "six").locator(".live-editor")).to_have_count(0)
    page.reload()
    expect(cell(page, "six").locator(".live-editor")).to_have_count(0)
    cell(page, "six").locator(".live-undo").click()
    expect(cell(page, "six").locator(".cm-line").first).to_have_text("x = 41")
    assert text(page, "six") == EDIT
    expect(cell(page, "six").locator(".live-undo")).to_be_hidden()


@pytest.mark.walk
def test_an_answer_is_kept_with_its_verdict(returned: Page) -> None:
    expect(says(returned)).to_have_text("Right, when it was last checked.")
    place(returned).locator(".cm-content").click()
    returned.keyboard.press("ControlOrMeta+End")
    returned.keyboard.insert_text("  # more")
    expect(returned.locator(".work")).to_contain_text("1 exercise answered, 0 right")


def changed_since(page: Page, was: str) -> None:
    """Let what is kept be of an older page, whose code was another."""
    page.evaluate(
        """(was) => {
            const key = "backpropagation-course/chapters/page";
            const record = JSON.parse(localStorage[key]);
            const [[name, kept]] = Object.entries(record.code);
            const other = name.startsWith("cell") ? `cell 0 ${was}` : name;
            record.code = { [other]: { ...kept, was } };
            localStorage[key] = JSON.stringify(record);
        }""",
        was,
    )
    page.reload()


def test_a_text_for_code_that_has_changed_is_not_lost(page: Page) -> None:
    write(page, "six", EDIT)
    page.wait_for_function(KEPT)
    changed_since(page, "x = 5")
    lost = page.locator(".work-lost")
    expect(lost).to_contain_text("1 text of yours belongs to code that the book has changed since")
    expect(lost.locator("pre")).to_have_text(EDIT)
    expect(cell(page, "six").locator(".live-editor")).to_have_count(0)
    lost.get_by_role("button").click()
    expect(page.locator(".work")).to_have_count(0)


@pytest.mark.walk
def test_an_answer_to_an_exercise_that_has_changed_says_so(returned: Page) -> None:
    changed_since(returned, "def twice(x, y):\n    raise NotImplementedError")
    note = place(returned).locator(".live-note")
    expect(note).to_contain_text("from before the book changed this code")
    expect(place(returned).locator(".cm-line").last).to_have_text("    return x + x")
    expect(says(returned)).to_have_text("")


@pytest.mark.walk
@pytest.mark.parametrize(("script", "why"), [(FULL, "full"), (REFUSED, "allows no storage")])
def test_a_browser_that_keeps_nothing_says_so(
    context: BrowserContext, page_address: str, script: str, why: str
) -> None:
    page = context.new_page()
    page.add_init_script(script)
    page.goto(page_address)
    write(page, "six", EDIT)
    expect(cell(page, "six").locator(".live-note")).to_contain_text(why)
    expect(page.locator(".work")).to_contain_text("This browser keeps nothing of it")
    with page.expect_download() as begun:
        page.get_by_role("button", name="Download as a notebook").click()
    assert EDIT in [c["source"] for c in json.loads(begun.value.path().read_text())["cells"]]


def test_the_work_is_downloaded_as_the_pages_notebook(returned: Page) -> None:
    write(returned, "six", EDIT)
    expect(returned.locator(".work")).to_contain_text("1 cell edited")
    with returned.expect_download() as begun:
        returned.get_by_role("button", name="Download as a notebook").click()
    assert begun.value.suggested_filename == "page-mine.ipynb"
    notebook = json.loads(begun.value.path().read_text())
    sources = ["".join(c["source"]) for c in notebook["cells"]]
    place = sources.index(EDIT)
    assert sources[place + 1] == "x + 1"  # the cell below it on the page
    assert sources[-1] == RIGHT
    assert sources[-2] == "## My answer: Twice (right)"
    ids = [c["id"] for c in notebook["cells"]]
    assert len(set(ids)) == len(ids)


def test_what_is_forgotten_can_be_undone(page: Page) -> None:
    write(page, "six", EDIT)
    page.wait_for_function(KEPT)
    page.get_by_role("button", name="Forget it").click()
    page.wait_for_timeout(1000)  # longer than the pause after which a text is kept
    assert not page.evaluate(KEPT)
    expect(page.get_by_role("button", name="Undo").last).to_be_focused()
    page.keyboard.press("Enter")
    page.reload()
    expect(cell(page, "six").locator(".cm-line").first).to_have_text("x = 41")


def test_nothing_leaves_the_browser(context: BrowserContext, page: Page) -> None:
    sent: list[str] = []
    context.unroute_all()  # Python, too, sends nothing
    context.on("request", lambda r: sent.append(f"{r.url} {r.post_data}"))
    write(page, "six", "secret = 7301")
    page.wait_for_function(KEPT)
    page.reload()
    expect(cell(page, "six").locator(".cm-line").first).to_have_text("secret = 7301")
    assert not [what for what in sent if "7301" in what]


def test_the_page_of_progress_says_what_is_right_and_what_is_next(returned: Page) -> None:
    returned.get_by_role("link", name="Your progress").last.click()
    tried = returned.locator("ul.to-try li")
    expect(tried).to_have_text(
        [
            "Predict: What is twice 3?",
            "Predict: What is the slope?",
            "Predict: What is one half?",
            "Predict: What is left?",
            "Twice ✓ right",
        ]
    )
    expect(returned.locator(".progress-sum")).to_have_text(
        "1 of 5 are right. Next: Predict: What is twice 3?"
    )
    fold = returned.locator("details.progress-page")
    expect(fold.locator("summary")).to_contain_text("1 of 5")
    expect(tried.first).to_be_hidden()
    fold.locator("summary").click()
    assert not severe(returned, within="main")
    returned.locator(".progress-sum a").click()
    question = returned.locator("#predict-doubled")
    question.get_by_label("5").check()
    question.get_by_role("button", name="Check").click()
    returned.go_back()
    expect(tried.first).to_have_text("Predict: What is twice 3? … begun")


@pytest.fixture
def progress(returned: Page) -> Page:
    returned.get_by_role("link", name="Your progress").last.click()
    returned.locator(".progress-sum").wait_for()
    return returned


def bring(page: Page, text: str) -> Locator:
    """Choose a file on the page of progress; what the page says then."""
    file = {"name": "mine.json", "mimeType": "application/json", "buffer": text.encode()}
    page.locator("input[type=file]").set_input_files(file)
    return page.locator(".work").get_by_role("status")


def test_what_is_kept_is_saved_and_brought_back_elsewhere(progress: Page) -> None:
    with progress.expect_download() as download:
        progress.get_by_role("button", name="Save all in a file").click()
    saved = download.value.path().read_text()
    before = progress.evaluate("JSON.stringify(kept.all())")
    assert json.loads(saved)["kept"] == json.loads(before)
    progress.evaluate("localStorage.clear()")
    progress.evaluate("kept.put('chapters/page', 'code', 'cell 0 x', {now: 'y'})")
    said = bring(progress, saved)
    expect(said).to_contain_text("Brought back what mine.json has")
    expect(progress.locator(".progress-sum")).to_contain_text("1 of 5 are right")
    assert progress.evaluate("kept.read('chapters/page').code['cell 0 x'].now") == "y"
    said.get_by_role("button", name="Undo").click()
    expect(progress.locator(".progress-sum")).to_contain_text("0 of 5 are right")
    assert list(progress.evaluate("kept.all()")) == ["chapters/page"]


@pytest.mark.walk
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not JSON"),
        ("[]", "it was not saved on this page"),
        ('{"course": "backpropagation-course", "kept": {"a": 3}}', "what it has of a cannot"),
    ],
)
def test_another_file_is_left_alone(progress: Page, text: str, reason: str) -> None:
    before = progress.evaluate("kept.all()")
    expect(bring(progress, text)).to_contain_text(f"mine.json was left alone: {reason}")
    assert progress.evaluate("kept.all()") == before


@pytest.mark.walk
def test_axe_finds_nothing_serious(page: Page) -> None:
    write(page, "six", EDIT)
    page.wait_for_function(KEPT)
    changed_since(page, "x = 5")
    expect(page.locator(".work-lost")).to_be_visible()
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert not severe(page, within="main")


def test_a_file_is_downloaded_and_opened(page: Page, tmp_path: Path) -> None:
    box = cell(page, "module")
    with page.expect_download() as found:
        box.get_by_role("button", name="Download").click()
    assert found.value.suggested_filename == "local.py"
    assert Path(found.value.path()).read_text() == "from chaingrad import Node\nNINE = 9\n"
    (tmp_path / "mine.py").write_text("NINE = 1\n")
    with page.expect_file_chooser() as chooser:
        box.get_by_role("button", name="Open").click()
    chooser.value.set_files(tmp_path / "mine.py")
    lines = box.locator(".cm-line")
    expect(lines).to_have_text(["%%writefile local.py", "NINE = 1"])
    page.reload()
    expect(lines).to_have_text(["%%writefile local.py", "NINE = 1"])
    expect(cell(page, "six").get_by_role("button", name="Download")).to_have_count(0)
