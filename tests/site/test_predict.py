"""Questions whose right answer is what the page computed."""

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Locator, Page, expect

from tests.axe import severe
from tests.site.audit import DESKTOP, PHONE
from tests.site.live import PAGE
from tests.support import serve

pytestmark = pytest.mark.xdist_group("live")


@pytest.fixture(scope="module")
def page_address(live_site: Path) -> Iterator[str]:
    with serve(live_site) as address:
        yield f"{address}/{PAGE}"


@pytest.fixture
def page(browser: Browser, page_address: str) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    page.goto(page_address)
    yield page
    context.close()


def question(page: Page, name: str) -> Locator:
    return page.locator(f"#predict-{name}")


def told(page: Page, name: str) -> Locator:
    return question(page, name).get_by_role("status")


def check(page: Page, name: str) -> None:
    question(page, name).get_by_role("button", name="Check").click()


def test_a_choice_is_compared_with_what_the_page_computed(page: Page) -> None:
    box = question(page, "doubled")
    expect(box.locator("details")).to_be_hidden()
    box.get_by_label("9").check()
    check(page, "doubled")
    expect(told(page, "doubled")).to_have_text("✗ Not this. That is the square.")
    box.get_by_label("6").check()
    check(page, "doubled")
    expect(told(page, "doubled")).to_have_text("✓ Two times three.")
    box.locator("summary").click()
    expect(box.locator("details > p").first).to_have_text("What the page computes: 6")


def test_a_second_miss_is_compared_with_the_choice_that_is_right(page: Page) -> None:
    box = question(page, "doubled")
    for choice in ("9", "5"):
        box.get_by_label(choice).check()
        check(page, "doubled")
    expect(told(page, "doubled")).to_have_text("✗ Not this; it is 6. That is the sum of 2 and 3.")
    expect(box.locator(".predict-hit")).to_have_text("6")
    expect(box.locator(".predict-miss")).to_have_text("5")


FIRST_GUESSES = {
    "-1/3": "✓ You said -1/3; it is −0.3333. ",
    "−0,3333": "✓ You said −0,3333; it is −0.3333. ",
    "−0.3333": "✓ It is −0.3333. ",
    "-3.33e-1": "✓ You said -3.33e-1; it is −0.3333. ",
    "-0.333": "✓ You said -0.333; it is −0.3333. ",
    "0.333": "✗ You said 0.333. The slope is that of a falling line.",
    "−0,33": "✗ You said −0,33. So far it is right: write another digit.",
    "−0,334": "✗ You said −0,334. It is larger.",
    "-2": "✗ You said -2. It is larger.",
    "-3": "✗ You said -3. It is larger.",
    "2e0": "✗ You said 2e0. It is smaller.",
    "a third": "Write a number, such as 6, −0.5 or 1/3.",
    "": "Write a number, such as 6, −0.5 or 1/3.",
}


def test_a_number_is_right_to_its_last_shown_digit(page: Page) -> None:
    again = question(page, "third").get_by_role("button", name="Ask me again")
    for typed, says in FIRST_GUESSES.items():
        if again.is_visible():
            again.click()
        question(page, "third").get_by_role("textbox").fill(typed)
        page.keyboard.press("Enter")
        expect(told(page, "third")).to_have_text(says)


def test_a_second_miss_is_compared_with_the_number(page: Page) -> None:
    for typed in ("-2", "0.333"):
        question(page, "third").get_by_role("textbox").fill(typed)
        page.keyboard.press("Enter")
    expect(told(page, "third")).to_have_text(
        "✗ You said 0.333; it is −0.3333. The slope is that of a falling line."
    )


def test_an_answer_that_the_source_marks_is_right(page: Page) -> None:
    box = question(page, "marked")
    expect(box).not_to_contain_text("✓")
    box.get_by_role("textbox").fill("0.5")
    page.keyboard.press("Enter")
    expect(told(page, "marked")).to_have_text("✓ You said 0.5; it is 1/2. Half of one.")


@pytest.mark.parametrize(("typed", "verdict"), [("3.2", "✓"), ("4", "✗")])
def test_an_estimate_is_right_within_its_tolerance(page: Page, typed: str, verdict: str) -> None:
    question(page, "halved").get_by_role("textbox").fill(typed)
    page.keyboard.press("Enter")
    expect(told(page, "halved")).to_contain_text(verdict)


def test_a_question_is_read_without_the_marks_of_its_formulas(page: Page) -> None:
    expect(question(page, "doubled").locator("form")).to_have_attribute(
        "aria-label", "Your prediction: What is twice 3?"
    )


def test_python_is_not_asked(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    question(page, "doubled").get_by_label("6").check()
    check(page, "doubled")
    expect(told(page, "doubled")).to_contain_text("✓")
    assert not [url for url in asked if "/_live/" in url]


def test_a_prediction_is_kept_and_asked_again(page: Page) -> None:
    question(page, "doubled").get_by_label("5").check()
    check(page, "doubled")
    question(page, "third").get_by_role("textbox").fill("-1/3")
    check(page, "third")
    page.reload()
    expect(told(page, "doubled")).to_contain_text("Not this. That is the sum")
    expect(told(page, "third")).to_contain_text("✓")
    expect(page.locator(".work")).to_contain_text("2 results predicted")
    question(page, "doubled").get_by_role("button", name="Ask me again").click()
    expect(question(page, "doubled").get_by_label("5")).to_be_focused()
    expect(question(page, "doubled").get_by_label("5")).not_to_be_checked()
    page.reload()
    expect(told(page, "doubled")).to_have_text("")
    expect(page.locator(".work")).to_contain_text("1 result predicted")


def test_a_question_that_has_changed_says_so(page: Page) -> None:
    before = '{asked: "?", value: "5", right: false}'
    page.evaluate(f'kept.put("chapters/page", "guesses", "doubled", {before})')
    page.reload()
    expect(told(page, "doubled")).to_have_text("The question has changed since you predicted 5.")


def test_an_exercise_can_ask_before_its_answer(page: Page) -> None:
    assert page.locator("#ex-page-halve").locator("#predict-halved").count() == 1
    question(page, "halved").get_by_role("textbox").fill("3")
    check(page, "halved")
    expect(told(page, "halved")).to_have_text("✗ You said 3. A half is exact here.")
    question(page, "halved").get_by_role("textbox").fill("7/2")
    check(page, "halved")
    expect(told(page, "halved")).to_have_text("✓ You said 7/2; it is 3.5. ")
    page.goto(page.url.replace("page.html", "reference/progress.html"))
    page.locator(".progress-page summary").click()
    asked = page.get_by_role("listitem").filter(has_text="Predict: What is left?")
    expect(asked).to_contain_text("✓ right")


def test_the_keyboard_is_enough(page: Page) -> None:
    question(page, "doubled").get_by_label("5").focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(told(page, "doubled")).to_contain_text("✓")


def test_without_scripts_the_answer_unfolds(live_site: Path) -> None:
    soup = BeautifulSoup((live_site / PAGE).read_text(), "html.parser")
    box = soup.find(id="predict-doubled")
    assert box is not None
    assert [p.get_text() for p in box.select("ul li p")] == ["5", "6", "9"]
    for details in soup.select(".predict > details"):
        assert details.select("summary")[0].get_text() == "Answer"
        assert not details.has_attr("open")
    first = box.select("details > summary + p")[0]
    assert first.get_text() == "What the page computes: 6"
    assert "Two times three." in box.select("details dd")[1].get_text()


def test_the_notebook_asks_too(live_site: Path) -> None:
    notebook = json.loads((live_site / "notebooks" / "page.ipynb").read_text())
    text = "\n".join("".join(cell["source"]) for cell in notebook["cells"])
    text = re.sub("^> ?", "", text, flags=re.MULTILINE)  # boxes are quotes
    assert "What is twice $3$?" in text
    assert "<summary><b>Answer</b></summary>\n\nWhat the page computes: **6**" in text
    asked, answered = text.index("What is left?"), text.index("What the page computes: **3.5**")
    unfolded = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert "What the page computes" not in unfolded + "".join(re.findall("<summary>.*", text))
    assert text.index("Take half of 7.") < asked < answered < text.index("So it is:")


@pytest.mark.walk
def test_axe_finds_nothing_serious(page: Page) -> None:
    question(page, "doubled").get_by_label("9").check()
    check(page, "doubled")
    expect(told(page, "doubled")).to_contain_text("Not this")
    for theme, width in product(("light", "dark"), (PHONE, DESKTOP)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert not severe(page, within="main", colours=theme == "dark")
