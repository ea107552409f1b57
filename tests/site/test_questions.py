"""What learners type into the search box leads to where the answer stands.

Half of the last sixty questions were looked at only when the search was done. Of these fewer find
their answer, and that's what a new question may expect.
"""

import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.site.built import Site

QUESTIONS = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))
ASK = """async (questions) => {
    const input = document.querySelector(".bd-article form.bd-search input, main form input");
    const answers = {};
    for (const question of questions) {
        input.value = question;
        input.dispatchEvent(new Event("input"));
        await new Promise((resume) => setTimeout(resume));
        const links = [...document.querySelectorAll("#search-results a.hit")].slice(0, 3);
        answers[question] = links.map(
            (link) => link.getAttribute("href").replace(/[?][^#]*/, ""));
    }
    return answers;
}"""


@pytest.mark.parametrize(("half", "share"), [("seen", 0.9), ("kept", 0.8)])
def test_questions_find_their_answer_in_the_first_three(
    browser: Browser, site: Site, half: str, share: float
) -> None:
    page = browser.new_page()
    page.goto(f"{(site.folder / 'search.html').as_uri()}?q=gradient")
    page.locator("#search-results a.hit").first.wait_for()
    found = page.evaluate(ASK, list(QUESTIONS[half]))
    page.close()
    missed = [
        (question, found[question])
        for question, places in QUESTIONS[half].items()
        if not any(place in hit for hit in found[question] for place in places)
    ]
    assert len(missed) <= (1 - share) * len(QUESTIONS[half]), missed


def test_any_characters_can_be_asked_for(browser: Browser, site: Site) -> None:
    """Names that every object of JavaScript has, signs of patterns, other scripts."""
    page = browser.new_page()
    page.goto(f"{(site.folder / 'search.html').as_uri()}?q=gradient")
    page.locator("#search-results a.hit").first.wait_for()
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.evaluate(ASK, ["constructor", "__proto__", "toString", "()[]{}.*+?^$|\\", "ß 梯度", "-"])
    assert not failures
    assert page.evaluate(ASK, ["constructor gradient"])["constructor gradient"]
    page.close()


def test_each_place_is_a_section(site: Site) -> None:
    index = (site.folder / "_static" / "search" / "index.js").read_text(encoding="utf-8")
    places = {place for half in QUESTIONS.values() for each in half.values() for place in each}
    assert not [place for place in places if place not in index]
