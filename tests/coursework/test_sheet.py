"""Problems on paper: what is printed has the answers that the key gives, and fits the page."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser

from chaingrad import Node
from chainlab import drills
from chainlab.drills.draw.forms import Form
from chainlab.drills.draw.small_numbers import exact
from coursework import sheet
from coursework.__main__ import main
from coursework.collect.roster import Student
from coursework.exercise.drawing import student_seed
from coursework.exercise.trusted import ProblemError
from tests.coursework.classes import SECRET, roster
from tests.support import sampled

SEED = 7
CLASS = [Student("u1", "Ada <b>"), Student("u2", "Bo"), Student("u3", "Cy")]


def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def made(folder: Path, kind: str, *more: Any, **options: Any) -> tuple[list[Tag], list[str]]:
    """The problems of a sheet as they are printed, and the key to each."""
    printed, key = map(soup, sheet.write(folder, kind, SECRET, *more, **options))
    return printed.select(".question"), [found.text for found in key.select(".key pre")]


def problems(folder: Path) -> list[drills.Problem]:
    """The problems of the only sheet in a folder, by the names that its key gives."""
    [key] = folder.glob("*-key.html")
    names = (row.select("td")[-2].text.split("-") for row in soup(key).select(".key tr"))
    return [drills.problem(kind, int(level), int(number)) for kind, level, number in names]


def numbers(text: str) -> dict[str, str]:
    """{what: number} of "a 1, b −2" or of lines "∂L/∂a = 1"."""
    return dict(re.findall(r"(\S+)(?: =)? (−?[\d./]+)", text))


# --- right ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("kind", ["chain", "adjoints"])
def test_the_key_has_the_engine_s_adjoints(tmp_path: Path, kind: str, level: int) -> None:
    questions, keys = made(tmp_path, kind, SEED, 10, level)
    for question, key, problem in zip(questions, keys, problems(tmp_path), strict=True):
        form = Form.parse(drills.KINDS[kind].forms(level)[problem.number])
        root = form.run(problem.leaves)
        root.backward()
        found = {f"∂L/∂{node.label}": exact(node.grad) for node in graph_of(root) if node.label}
        assert found.pop("∂L/∂L") == "1"
        assert numbers(key) == found
        asked = [text.text for text in question.select("svg .asked")]
        assert sorted(asked) == sorted(found)
        assert len(question.select("svg .answer")) == len(found)


def graph_of(root: Node) -> list[Node]:
    found = {id(root): root}
    waiting = [root]
    while waiting:
        for parent in waiting.pop().parents:
            if id(parent) not in found:
                found[id(parent)] = parent
                waiting.append(parent)
    return list(found.values())


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_order_of_the_key_is_one(tmp_path: Path, level: int) -> None:
    _, keys = made(tmp_path, "orders", SEED, 10, level)
    for problem, key in zip(problems(tmp_path), keys, strict=True):
        node_of = {name: node for node, name in problem.names.items()}
        order = [node_of[name] for name in key.split(", ")]
        children = problem.entry["children"]
        assert len(order) == len(children)
        for place, node in enumerate(order):
            assert set(children[node]) <= set(order[:place])


def test_operands_are_called_as_the_nodes_are(tmp_path: Path) -> None:
    questions, _ = made(tmp_path, "orders", SEED, 10, 1)
    for question, problem in zip(questions, problems(tmp_path), strict=True):
        heads = [text.text.split(" = ") for text in question.select("text:has(.cg-note)")]
        names = dict(zip(problem.names.values(), problem.names, strict=True))
        children = problem.entry["children"]
        assert {name for name, _ in heads} == names.keys()
        for name, formula in heads:
            for operand in names.keys() & set(re.findall(r"\w", formula)):
                assert names[name] in children[names[operand]]


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_wrong_message_is_printed_and_the_right_one_is_not(tmp_path: Path, level: int) -> None:
    questions, keys = made(tmp_path, "messages", SEED, 10, level)
    for question, key in zip(questions, keys, strict=True):
        sender, to, right, wrong = re.fullmatch(  # type: ignore[union-attr]
            r"from (.+) to (.+): (\S+), and not (\S+)", key
        ).groups()
        names = {
            group["data-node"]: group.select_one(".cg-name").text  # type: ignore[union-attr]
            for group in question.select("[data-node]:has(.cg-name)")
        }
        there = [
            (
                names.get(str(edge["data-to"])),
                names.get(str(edge["data-from"])),
                edge.select_one("text").text,
            )  # type: ignore[union-attr]
            for edge in question.select("[data-from]")
        ]
        assert (sender, to, wrong) in there
        assert right != wrong
        assert "−000" not in [text.text for text in question.select("text")]


# --- drawn ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", sheet.KINDS)
def test_a_seed_gives_one_sheet(tmp_path: Path, kind: str) -> None:
    once, again, other = (
        [path.read_text() for path in sheet.write(tmp_path / name, kind, SECRET, seed)]
        for name, seed in [("once", 1), ("again", 1), ("other", 40)]
    )
    assert once == again
    assert once[0] != other[0]
    assert once[1] != other[1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", sampled(sheet.KINDS, *list(sheet.KINDS)[:3]))
def test_each_student_has_problems_of_their_own(tmp_path: Path, kind: str) -> None:
    printed, key = sheet.write(tmp_path, kind, SECRET, students=CLASS)
    sheets = soup(printed).select(".sheet")
    assert [str(each.select_one("bdi").text) for each in sheets] == [  # type: ignore[union-attr]
        student.shown for student in CLASS
    ]
    own = [[str(question) for question in each.select(".question")] for each in sheets]
    assert len({question for questions in own for question in questions}) == sum(map(len, own))
    rows = [row.bdi.text for row in soup(key).select(".key tr")]  # type: ignore[union-attr]
    assert rows == [student.shown for student in CLASS for _ in own[0]]
    assert SECRET not in printed.read_text() + key.read_text()
    later = sheet.write(tmp_path / "later", kind, SECRET, students=CLASS[1:])
    assert [str(each) for each in soup(later[0]).select(".sheet")] == list(map(str, sheets[1:]))
    others = sheet.write(tmp_path / "others", kind, "others", students=CLASS)
    assert soup(others[0]).select_one(".question") != sheets[0].select_one(".question")


def test_a_sheet_is_not_the_notebook_s_problem() -> None:
    seeds = {
        student_seed(SECRET, "u1", label) for label in ("ex-own-adjoints", "sheet adjoints-2-1")
    }
    assert len(seeds) == 2


@pytest.mark.slow
def test_no_problem_is_twice_on_a_sheet(tmp_path: Path) -> None:
    questions, _ = made(tmp_path, "adjoints", 1, 20, 1)
    assert len({str(question.svg) for question in questions}) == 20
    with pytest.raises(ProblemError, match="level 1 of adjoints has no 60 different problems"):
        sheet.write(tmp_path, "adjoints", SECRET, 1, 60, 1)


def test_a_sheet_says_neither_its_problems_names_nor_another_s_code(tmp_path: Path) -> None:
    """The page of problems plays the solution of a problem whose name one has."""
    for students in ([], CLASS):
        printed, key = sheet.write(tmp_path, "adjoints", SECRET, students=students)
        text, sheets = printed.read_text(), soup(printed).select(".sheet")
        assert not re.search(r"adjoints-\d|#adjoints", text)
        codes = [each.select_one(".code").text for each in sheets]  # type: ignore[union-attr]
        assert len(set(codes)) == len(sheets)
        assert all(re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}", c) for c in codes)
        assert dict.fromkeys(codes) == dict.fromkeys(c.text for c in soup(key).select(".code"))
    assert codes == [sheet.code(SECRET, printed.stem, student.id) for student in CLASS]
    assert codes[0] == sheet.code(SECRET, printed.stem, CLASS[0].id.upper())
    assert codes[0] != sheet.code("another secret", printed.stem, CLASS[0].id)


def test_without_a_roster_the_problems_come_from_the_secret(tmp_path: Path) -> None:
    texts = [
        [str(question) for question in soup(sheet.write(tmp_path / secret, "chain", secret)[0])]
        for secret in (SECRET, "another secret")
    ]
    assert texts[0] != texts[1]


# --- the command ----------------------------------------------------------------------------------


def test_the_command_writes_sheets_and_their_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret").write_text(SECRET)
    to = ["--to", str(tmp_path / "out"), "--secret", str(tmp_path / "secret")]
    assert main(["sheet", "adjoints", "--seed", "7", "--count", "20", *to]) == 0
    assert "1 sheet; the key" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "adjoints-2-7-key.html",
        "adjoints-2-7.html",
    ]
    assert len(soup(tmp_path / "out" / "adjoints-2-7.html").select(".question")) == 20
    roster(tmp_path, 3)
    drawn = ["--roster", str(tmp_path / "roster.csv")]
    assert main(["sheet", "orders", "--level", "1", *drawn, *to]) == 0
    assert "3 sheets; the key" in capsys.readouterr().out
    assert len(soup(tmp_path / "out" / "orders-1-1.html").select(".sheet")) == 3


# --- on paper -------------------------------------------------------------------------------------

COLOURS = """() => [...new Set([...document.querySelectorAll("body, body *")].flatMap((element) => {
    const style = getComputedStyle(element);
    return ["color", "backgroundColor", "fill", "stroke"].map((name) => style[name]);
}))]"""
OUTSIDE = """() => [...document.querySelectorAll(".question, .question *, .key")].filter((one) => {
    const { left, right, width } = one.getBoundingClientRect();
    return width && (left < -1 || right > document.body.clientWidth + 1);
}).length"""
SMALLEST = """() => Math.min(99, ...[...document.querySelectorAll("svg text")].map((text) => {
    const svg = text.closest("svg");
    const scale = svg.getBoundingClientRect().width / svg.getAttribute("width");
    return text.textContent ? scale * parseFloat(getComputedStyle(text).fontSize) : 99;
}))"""
PAPER = {"width": 680, "height": 1009}  # of A4 without its margins


@pytest.fixture(scope="module")
def printed(browsers: Callable[[str], Browser]) -> Any:
    def pages(path: Path) -> int:
        with browsers("").new_page(viewport=PAPER) as page:  # type: ignore[arg-type]
            page.goto(path.as_uri())
            page.emulate_media(media="print")
            black = {"rgb(0, 0, 0)", "rgb(255, 255, 255)", "rgba(0, 0, 0, 0)", "none"}
            assert set(page.evaluate(COLOURS)) <= black
            assert page.evaluate(OUTSIDE) == 0
            assert page.evaluate(SMALLEST) >= 7
            pdf = page.pdf(prefer_css_page_size=True)
        sizes = [list(map(float, box.split())) for box in re.findall(rb"MediaBox \[(.*?)\]", pdf)]
        assert sizes
        for size in sizes:
            assert size == pytest.approx([0, 0, 210 * 72 / 25.4, 297 * 72 / 25.4], abs=0.5)
        return len(sizes)

    return pages


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "level"),
    [
        pytest.param(name, level, marks=[pytest.mark.walk] if level in {1, 2} or number % 3 else [])
        for number, name in enumerate(sheet.KINDS)
        for level in (1, 2, 3)
    ],
)
def test_a_sheet_is_a_page_of_a4_in_black_and_white(
    tmp_path: Path, printed: Callable[[Path], int], kind: str, level: int
) -> None:
    path, key = sheet.write(tmp_path, kind, SECRET, 1, None, level, CLASS)
    assert printed(path) == len(CLASS)
    assert printed(key) >= 1


@pytest.mark.slow
def test_many_problems_are_several_pages_and_none_is_cut(
    tmp_path: Path, printed: Callable[[Path], int]
) -> None:
    path, _ = sheet.write(tmp_path, "adjoints", SECRET, SEED, 20)
    assert 4 <= printed(path) <= 6
