"""What a page tells of an answer while the veil is down, read from its HTML.

Seen is what stands between a question and the next one or heading, without what is veiled, what is
folded, tables and boxes. It gives an answer away if it has its number, its count with the noun that
the question counts, or words that only the right choice has. What has been said further up counts
for nothing.
"""

import re
from collections.abc import Iterator
from copy import copy
from itertools import dropwhile, takewhile

from bs4 import BeautifulSoup, Tag

from common.numbers import as_number
from predict import shows

UNSEEN = (
    "[class*='answers-'], details, table, .admonition, .predict, .katex-html, .katex-mathml mrow, "
    "script"
)
COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
ROUND = {1e3: "thousand", 1e6: "million", 1e9: "billion"}
TELLING = 3  # digits with which a number is hardly there by chance
PHRASE = 4  # words in a row that are hardly there by chance


def is_question(tag: Tag) -> bool:
    return "predict" in tag.get("class", [])


def seen(parts: list[Tag]) -> str:
    """The text of the parts as a reader sees it; a part that is unseen has none."""
    page = BeautifulSoup("<div></div>", "html.parser")
    assert page.div is not None
    page.div.extend(map(copy, parts))
    for unseen in page.select(UNSEEN):
        unseen.decompose()
    for code in page.select("pre"):
        code.string = code.get_text().replace("\n", " ; ")  # no words run from line to line
    return re.sub(r"\s+", " ", page.get_text(" "))


def behind(box: Tag) -> list[Tag]:
    rest = dropwhile(is_question, (tag for tag in box.next_siblings if isinstance(tag, Tag)))
    return list(takewhile(lambda tag: not is_question(tag) and tag.name != "section", rest))


def above(box: Tag) -> str:
    """What has been said before the question, and in it, without the choices."""
    article = box.find_parent("article")
    before = [text for text in box.find_all_previous(string=True) if article in text.parents]
    asked = [tag for tag in box.children if isinstance(tag, Tag) and tag.name == "p"]
    return re.sub(r"\s+", " ", " ".join([*reversed(before), seen(asked)]))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def phrases(text: str) -> set[str]:
    said = words(text)
    return {" ".join(said[i : i + PHRASE]) for i in range(len(said) - PHRASE + 1)}


def ways_to_say(number: float, asked: str) -> Iterator[str]:
    """Patterns by which a text would say a count: `two arrows`, `a single ramp`, `a thousand`."""
    for size, name in ROUND.items():
        if 0.9 < number / size < 1.1:
            yield rf"\b(a|one) {name}\b"
    counted = re.search(r"how many ((?:different )?\w+)s\b", asked, re.IGNORECASE)
    if counted and number in range(len(COUNTS)):
        noun = counted[1] if number == 1 else f"{counted[1]}s"
        yield rf"(?<![\d.])\b({number:.0f}|{COUNTS[int(number)]}) {noun}\b"
        if number == 1:
            yield rf"\ba single \w+|(?<!one )\b{noun}\b(?!s)"


def stems(text: str) -> set[str]:
    return {word[:4] for word in words(text) if len(word) >= 4}


def giveaways(box: Tag) -> Iterator[str]:
    """What stands visible behind a question and gives its answer away."""
    claim = box.select_one("details > summary ~ p strong")
    assert claim is not None
    for hidden in claim.select(".katex-html"):
        hidden.decompose()
    right, text, known = claim.get_text(), seen(behind(box)), above(box)
    asked = box["data-asked"]
    number = as_number(right)
    if number is not None:
        digits = re.sub(r"\D", "", right).lstrip("0")
        if len(digits) >= TELLING and shows(text, right) and not shows(known, right):
            yield right
        for way in ways_to_say(number, asked):
            if not re.search(way, known, re.IGNORECASE):
                yield from (found[0] for found in re.finditer(way, text, re.IGNORECASE))
        return
    choices = [choice.get_text() for choice in box.select("ul.predict-choices li")]
    others = " | ".join(choice for choice in choices if choice != right)
    said = phrases(right) - phrases(others) - phrases(known)
    yield from sorted(said & phrases(text))
    if len(words(right)) == 1:
        last = re.split(r"[.?!]\s", asked)[-1]
        for sentence in re.split(r"[.?!;:]\s", text):
            if right in words(sentence) and len(stems(sentence) & stems(last)) >= 2:
                yield sentence
