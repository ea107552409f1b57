"""Problems: right by what knows better, and what the page reads of them."""

import functools
import json
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from py_mini_racer import MiniRacer

from chaingrad.account import Ledger
from chaingrad.functional import value_and_grad, vjp
from chaingrad.messages import local_gradients
from chaingrad.node import Node
from chainlab import random_problems
from chainlab.drills import KINDS, costs, equations, keep, orders, problem, tiles, typed
from chainlab.drills.bank import A_FILE, PROBLEMS, bank, names, pictures
from chainlab.drills.drill import PATH, TOLD, drill
from chainlab.drills.forms import Form
from chainlab.drills.formulas import BAR
from chainlab.drills.kind import LEVELS
from chainlab.drills.numbers import exact, is_small
from chainlab.drills.series import Series
from chainlab.mistakes import MISTAKES, PAGES
from chainview.read.reading import read
from tests.support import LOGIC, ROOT, sampled

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("problems")]
problem = functools.cache(problem)  # several tests look at the same
MANY = 600
CASES = [(kind, level) for kind in KINDS for level in LEVELS]
BOXES = [(kind, level) for kind, level in CASES if KINDS[kind].sheet == "boxes"]
NUMBERS = [(kind, level) for kind, level in BOXES if kind != "costs"]


@pytest.fixture(scope="module")
def page():
    """What the page computes with, without a page."""
    engine = MiniRacer()
    engine.eval(LOGIC)
    return engine


def typed_slips(kind, level, number):
    """The mistakes of each line of NumPy."""
    text = KINDS[kind].forms(level)[number]
    return equations.form(text).slips if KINDS[kind].sheet == "typed" else []


def called(page, code):
    return json.loads(page.eval(f"JSON.stringify({code})"))


def seeds(kind, level):
    """A third of many problems of a kind for each level."""
    return range(1, MANY // 3 + 2)


@pytest.mark.parametrize(("kind", "level"), sampled(CASES, ("adjoints", 3), ("shapes", 2)))
def test_the_page_has_the_same_problems(page, kind, level):
    firsts = [first for _, of, first in names(kind) if of == level]
    assert firsts == list(range(1, PROBLEMS + 1, A_FILE))
    for first in firsts:
        page.eval(f"globalThis.graphs = {bank(kind, level, first)}")
        theirs = called(
            page, f"Array.from({{length: {A_FILE}}}, (_, i) => pick(graphs, i + {first}))"
        )
        for seed, its in enumerate(theirs, start=first):
            ours = problem(kind, level, seed)
            assert its == json.loads(json.dumps(
                {"pictures": pictures(kind, level, ours.number), "entry": ours.entry,
                 "names": ours.names}
            ))  # fmt: skip


@pytest.mark.parametrize(("kind", "level"), NUMBERS)
def test_what_is_right_is_what_the_backward_pass_gives(kind, level):
    for seed in seeds(kind, level):
        drawn = problem(kind, level, seed)
        root = Form.parse(KINDS[kind].forms(level)[drawn.number]).run(drawn.leaves)
        root.backward()
        nodes = {node.label: node for node in root.sorted_graph()}
        for box, right in zip(drawn.entry["boxes"], drawn.right, strict=True):
            node = nodes[box["name"]]
            if box["slot"].startswith("grad"):
                known = node.grad
            elif box["slot"].startswith("data"):
                known = node.data
            else:
                known = local_gradients(node)[int(box["slot"][3:])][1]
            assert right == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize(("kind", "level"), [case for case in NUMBERS if case[0] != "local"])
def test_leaves_agree_with_differences(kind, level):
    for seed in seeds(kind, level):
        drawn = problem(kind, level, seed)
        form = Form.parse(KINDS[kind].forms(level)[drawn.number])
        boxes = zip(drawn.entry["boxes"], drawn.right, strict=True)
        adjoints = {box["name"]: right for box, right in boxes if box["slot"].startswith("grad")}
        for i, name in enumerate(form.leaves):
            if name not in adjoints:
                assert kind == "mlp"
                continue
            step = 1e-5 * np.eye(len(drawn.leaves))[i]
            up, down = (form.run(drawn.leaves + sign * step).data for sign in (1, -1))
            assert adjoints[name] == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_costs_are_those_of_the_ledger(level):
    """Of the same lines, computed on arrays of the sizes that were drawn."""
    for seed in seeds("costs", level):
        drawn = problem("costs", level, seed)
        *sizes, itemsize = drawn.leaves
        lines, shapes, frozen = costs.NETS[level - 1][drawn.number]
        leaves = [leaf.split() for leaf in shapes.split(",")]
        names = dict.fromkeys(letter for _, *of in leaves for letter in of)
        letters, known = dict(zip(names, sizes, strict=True)), {}
        for name, *of in leaves:
            data = np.zeros([int(letters[x]) for x in of], f"f{int(itemsize)}")
            known[name] = Node(data, name, requires_grad=name not in frozen)
        for line in lines.split("; "):
            name, text = line.split(" = ")
            known[name] = eval(text, {"np": np}, known)
        account = Ledger(known[name].sum())
        found = Counter()
        for box, right in zip(drawn.entry["boxes"], drawn.right, strict=True):
            found[box["slot"]] += right
            [row] = [row for row in account.rows if row.node is known.get(box["name"])] or [None]
            if box["slot"] == "forward":
                assert right == row.flops
            elif box["slot"] == "backward":
                assert bool(right) == row.node.requires_grad
            elif box["slot"] == "bytes":
                assert right == row.bytes * row.needed
        forward, backward = (
            flops["matmul"] for flops in (account.forward_flops, account.backward_flops)
        )
        assert (
            found
            == [
                {"forward": forward, "backward": backward},
                {
                    "forward": forward,
                    "backward": backward,
                    "ratio": pytest.approx(backward / forward),
                },
                {"bytes": account.needed_bytes},
            ][level - 1]
        )


@pytest.mark.parametrize(("kind", "level"), BOXES)
def test_numbers_are_small_and_mistakes_show(kind, level):
    for seed in seeds(kind, level):
        drawn = problem(kind, level, seed)
        most = KINDS[kind].most(level)
        assert all(is_small(number, most) for number in [*drawn.leaves, *drawn.right])
        names = {name for box in drawn.entry["boxes"] for name, *_ in box["mistakes"]}
        assert len(names) >= 4
        shown = set()
        for box, right in zip(drawn.entry["boxes"], drawn.right, strict=True):
            gives = [(name, x) for name, x, *_ in box["mistakes"] if x is not None]
            for name, number in gives:
                others = [right, *(x for other, x in gives if other != name)]
                if not np.isclose(number, others, rtol=0).any():
                    shown.add(name)
        assert len(shown) >= 2  # of a sum and a difference: the sign, and nothing at all


def made_by_drills():
    """The names of all mistakes that any graph of any kind knows, and those of a choice unnamed."""
    return {
        name
        for kind, task in KINDS.items()
        for level in LEVELS
        for seed in range(1, 41)
        for found in [problem(kind, level, seed).entry]
        for name in [
            *(made[0] for box in found.get("boxes", []) for made in box["mistakes"]),
            *(made[0] for line in found.get("lines", []) for made in line["mistakes"]),
            *(made[0] for made in found.get("wrong", [])),
            *([found["name"]] if "name" in found else []),
            *(edge["alike"] or "right" for edge in found.get("edges", [])),
            *(
                slip.name
                for slips in typed_slips(kind, level, (seed - 1) % len(task.forms(level)))
                for slip in slips
            ),
        ]
    }


def test_every_mistake_has_a_row_and_every_row_is_used():
    declared = (orders.MISTAKES, keep.MISTAKES, random_problems.MISTAKES, random_problems.FAULTS)
    assert made_by_drills().union(*declared) == MISTAKES.keys()


@pytest.mark.parametrize("name", MISTAKES)
def test_a_row_has_three_parts_and_a_lesson_that_is_there(name):
    row = MISTAKES[name]
    for part in (row.did, row.fails, row.look):
        assert re.search(r"[.?]$", part)
    assert row.did.startswith("You probably ")
    assert not re.search(r"[<>&\d]{2}", row.told.replace("float32", "").replace("float64", ""))
    page, _, anchor = row.lesson.partition("#")
    lines = (ROOT / "chapters" / f"{page}.md").read_text().splitlines()
    titles = [line.lstrip("#. 0123456789") for line in lines if line.startswith("##")]
    assert anchor in [re.sub(r"\W+", "-", title.lower()) for title in titles]


# --- what is said of a wrong answer ---------------------------------------------------------------

FOUND = {
    "label": "v",
    "wrong": ["swapped", "sign"],
    "look": "Look at the marked edge",
    "hint": "v = a b",
    "right": "7",
    "given": "5",
    "words": "a path is missing",
}


def words_of(page, tries, **changed):
    given = ", ".join(json.dumps(x) for x in (FOUND | changed, tries, TOLD))
    return page.eval(f"wordsFor({given})")


def test_a_wrong_answer_is_pointed_at_then_named_then_answered(page):
    where, kind, number = (words_of(page, tries) for tries in (1, 2, 3))
    assert where == "<b>v</b> isn’t right yet. Look at the marked edge."
    sign, swapped = MISTAKES["sign"].did, MISTAKES["swapped"].did
    assert kind == f"<b>v</b>: {sign} Or: {swapped} Both give this answer. v = a b."
    assert number == "<b>v is 7.</b> You wrote 5. A path is missing."
    assert words_of(page, 9) == number
    assert "7" not in where + kind


def test_one_mistake_is_told_in_full_and_too_many_are_no_diagnosis(page):
    assert words_of(page, 2, wrong=["swapped"]) == f"<b>v</b>: {MISTAKES['swapped'].told}"
    three, four = ([*MISTAKES][:count] for count in (3, 4))
    assert all(MISTAKES[name].did in words_of(page, 2, wrong=three) for name in three)
    assert words_of(page, 2, wrong=four) == words_of(page, 2, wrong=[])


def test_what_is_no_usual_mistake_is_told_how_to_compute(page):
    assert words_of(page, 2, wrong=[]) == "<b>v</b>: v = a b."
    assert "There is no product." in words_of(page, 1, error="there is no product")


@pytest.mark.parametrize(
    ("text", "told"),
    [("a path", "A path."), ("that is.", "That is."), ("x is", "x is."), ("λ is", "λ is."),
     ("<b>x</b>", "<b>x</b>."), ("1 is", "1 is."), ("", "")],
)  # fmt: skip
def test_sentences_begin_with_capitals_and_names_keep_theirs(page, text, told):
    assert page.eval(f"sentence({json.dumps(text)})") == told


@pytest.mark.parametrize(("kind", "level"), BOXES)
def test_the_step_of_a_box_writes_its_number(page, kind, level):
    for seed in range(1, 21):
        page.eval(f"globalThis.entry = {json.dumps(problem(kind, level, seed).entry)}")
        code = """entry.boxes.map((box) => {
            const [, , , , changes] = entry.steps[stepAt(entry.steps, box)];
            return [exact(box.right), changes.map(([, , text]) => text).join(" ")];
        })"""
        for right, texts in called(page, code):
            assert right in re.split(r"[ ,()]+", texts)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("−3", [-3]),
        ("1/3", [1 / 3]),
        ("-1/-4", [0.25]),
        ("0.5", [0.5]),
        ("0,5", [0.5]),
        ("0,165", [0.165]),
        (",5", [0.5]),
        ("1,500", [1500, 1.5]),
        ("1,500.25", [1500.25]),
        ("1,000,000", [1000000]),
        ("2e-1", [0.2]),
        ("1 000", [1000]),
        ("0,5/2", [0.25]),
        ("(-3/4)", [-0.75]),
        ("2*(−3)", [-6]),
        ("2 × −3 + 1", [-5]),
        ("-3^2", [-9]),
        ("(−3)**2", [9]),
        ("2³/4", [2]),
        ("2⁻¹", [0.5]),
        ("6÷4", [1.5]),
        ("−½", [-0.5]),
        ("(" * 100_000, []),
        ("1½", [1.5]),
        ("-1 1/2", [-1.5]),
        ("1 000/8", [125]),
        ("1e−3", [0.001]),
        ("5·10^-2", [0.05]),
        ("8/4/2", [1]),
        ("2 − 5 − 1", [-4]),
        ("x̄ = 2 · 3 = 6", [6]),
        ("= −3", [-3]),
        ("２", [2]),
        ("2(3)", []),
        ("(2", []),
        ("2)", []),
        ("2*", []),
        ("3-", []),
        ("()", []),
        ("x = ", []),
        ("(-8)^(1/3)", []),
        ("", []),
        ("a", []),
        ("1//2", []),
        ("1/0", []),
        ("0x10", []),
    ],
)
def test_numbers_are_read_as_people_write_them(page, typed, meant):
    assert called(page, f"numbersIn({json.dumps(typed)})") == meant


def test_a_number_is_written_the_same_in_both_languages(page):
    numbers = [0.0, -3.0, 0.25, -1 / 3, 7 / 12, 1 / 60, 99.0, -0.05]
    assert called(page, f"{json.dumps(numbers)}.map(exact)") == list(map(exact, numbers))


def test_a_wrong_number_is_called_by_the_mistakes_that_give_it(page):
    for kind in KINDS:
        for seed in range(1, 41):
            boxes = problem(kind, 2, seed).entry.get("boxes", [])
            page.eval(f"globalThis.boxes = {json.dumps(boxes)}")
            found = called(
                page,
                "boxes.map((box) => box.mistakes.map(([, gives]) => judge(box, [gives])))",
            )
            for box, verdicts in zip(boxes, found, strict=True):
                for (name, gives, *_), verdict in zip(box["mistakes"], verdicts, strict=True):
                    if gives is None:
                        continue
                    assert verdict["right"] == (abs(gives - box["right"]) < 1e-9)
                    named = [made[0] for made in verdict["mistakes"]]
                    assert verdict["right"] or name in named


@pytest.mark.parametrize(
    ("name", "box", "answer", "called_"),
    [  # y = a - b; y = a / b at −3, 2; y = a ** 2; and a ** 3
        ("local-1-3", 1, lambda drawn: 1.0, ["sign", "swapped"]),
        ("local-2-1", 1, lambda drawn: -drawn.leaves[0] / drawn.leaves[1], ["denominator"]),
        ("local-2-2", 0, lambda drawn: drawn.leaves[0], ["brought down", "operand"]),
        ("local-2-8", 0, lambda drawn: 3 * drawn.leaves[0] ** 3, ["exponent"]),
        ("local-2-8", 0, lambda drawn: drawn.leaves[0] ** 2, ["brought down"]),
    ],
)
def test_usual_mistakes_have_names_and_two_that_give_a_number_are_both_said(
    page, name, box, answer, called_
):
    kind, level, seed = name.split("-")
    drawn = problem(kind, int(level), int(seed))
    asked = drawn.entry["boxes"][box]
    found = called(page, f"judge({json.dumps(asked)}, [{answer(drawn)}])")
    assert not found["right"]
    assert [made[0] for made in found["mistakes"]][: len(called_)] == called_


@pytest.mark.parametrize(
    ("right", "typed", "is_right"),
    [
        (-1 / 3, -0.3333, True),
        (-1 / 3, -0.333, True),
        (-1 / 3, -0.33, False),
        (-1 / 3, 0.3333, False),
        (-1 / 3, -0.334, False),
        (2 / 3, 0.667, True),
        (2 / 3, 0.666, True),
        (20 / 3, 6.67, True),
        (20 / 3, 6.7, False),
        (7 / 12, 0.583, True),
        (0.75, 0.7501, False),
        (3.0, 3.001, False),
        (0.0, 0.0001, False),
    ],
)
def test_three_digits_of_a_third_are_right(page, right, typed, is_right):
    box = {"right": right, "mistakes": [["sign", -right, "the sign", None]]}
    assert called(page, f"judge({json.dumps(box)}, [{typed}])")["right"] == is_right


def after(page, kept, level, seed, outcome="right", graphs=8):
    given = {"level": level, "seed": seed, "graphs": graphs}
    return called(page, f"after({json.dumps(kept)}, {json.dumps(given)}, '{outcome}', 3)[0]")


def test_what_was_wrong_comes_back_with_other_numbers_after_two_and_six(page):
    came = called(page, """(() => {
        let [kept, seed, seen] = [{}, 0, []];
        for (let i = 0; i < 14; i++) {
            const back = due(kept);
            const one = back ?? { level: begun(kept).level, seed: ++seed };
            seen.push([one.level, one.seed]);
            [kept] = after(kept, { ...one, graphs: 8 }, i ? "right" : "wrong", 3);
            if (kept.passed && seen.at(-1)[0] < kept.level) seed = 0;
        }
        return [seen, due({ ...kept, again: [{ level: 1, seed: 4, at: 99 }] }, true), kept.passed];
    })()""")  # fmt: skip
    seen, back, passed = came
    assert seen[:3] == [[1, 1], [1, 2], [1, 3]]
    again = [seen[3], seen[7]]
    assert all(level == 1 and seed % 8 == 1 for level, seed in again)
    assert len({1, *(seed for _, seed in again)}) == 3
    assert not [seen.index(one) for one in again if seen.count(one) > 1]
    assert back["seed"] == 4
    assert passed == 2


@pytest.mark.parametrize("graphs", [1, 3, 8, 12])
def test_other_numbers_are_those_of_another_problem_of_the_graph(page, graphs):
    for seed in range(1, 301):
        found = called(page, f"others({seed}, {graphs})")
        assert len({seed, *found}) == 3
        assert all(1 <= other <= 200 and (other - seed) % graphs == 0 for other in found)


def test_a_problem_counts_once_and_one_wrong_part_leaves_the_row(page):
    kept = after(page, {}, 1, 1)
    assert after(page, kept, 1, 1)["row"] == kept["row"] == 1
    part = after(page, kept, 1, 2, "part")
    assert (part["row"], len(part["again"])) == (1, 2)
    assert after(page, kept, 1, 2, "wrong")["row"] == 0


def test_the_state_of_a_level(page):
    kept = after(page, after(page, {}, 1, 1), 1, 2)
    states = called(page, f"[1, 2].map((level) => stateOf({json.dumps(kept)}, level)[1])")
    assert states == ["2 of 5 in a row", "not begun"]
    kept |= {"passed": 1, "level": 2, "row": 0}
    assert called(page, f"stateOf({json.dumps(kept)}, 1)") == ["✓", "passed"]
    kept |= {"again": [{"level": 1, "seed": 9, "at": 0}]}
    assert called(page, f"stateOf({json.dumps(kept)}, 1)") == ["↻", "due again"]


@pytest.mark.parametrize("knows", range(10))
def test_where_to_start_is_found_within_six_problems(page, knows):
    """Readers who know the first stops begin with the next; a slip moves that a little."""
    found = {}
    for slip in range(-1, 6):
        answers = []
        while (stop := called(page, f"nextStop({json.dumps(answers)}, 9) ?? null")) is not None:
            right = stop < knows and len(answers) != slip
            answers.append({"stop": stop, "right": right})
        assert len(answers) <= 6
        found[slip] = called(page, f"firstStop({json.dumps(answers)}, 9)")
    assert found[-1] == min(knows, 8)
    assert all(abs(stop - found[-1]) <= 4 for stop in found.values())


def test_the_path_leads_to_pages_by_their_titles():
    for kind, level, page in PATH:
        assert kind in KINDS
        assert level in LEVELS
        assert page in PAGES
    for page, title in PAGES.items():
        assert f"# {title}\n" in (ROOT / "chapters" / f"{page}.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("slopes", 1, 1), "expected one of local"),
        (("chain", 4, 1), "levels 1 to 3"),
        (("chain", 1, 0), "whole number from 1"),
    ],
)
def test_there_is_no_such_problem(arguments, message):
    with pytest.raises(ValueError, match=message):
        problem(*arguments)


def number(text):
    return float(Fraction(text.replace("−", "-")))


@pytest.mark.parametrize("level", LEVELS)
def test_one_message_alone_is_wrong(level):
    """By the engine's local gradients, and what each node is shown to hold."""
    for seed in seeds("messages", level):
        drawn = problem("messages", level, seed)
        root = Form.parse(KINDS["messages"].forms(level)[drawn.number]).run(drawn.leaves)
        items = {item.id: item for item in read(root, "test", 100)}
        grads = [each for each in drawn.entry["written"] if each[1] == "grad"]
        shown = {id: number(text.removeprefix("grad ")) for id, _, text in grads}
        came = dict.fromkeys(shown, 0.0) | {list(items)[-1]: 1.0}
        wrong = []
        for i, edge in enumerate(drawn.entry["edges"]):
            parent, child, which = edge["ends"]
            places = [k for k, id in enumerate(items[child].parents) if id == parent]
            local = local_gradients(items[child].node)[places[which]][1]
            sent = number(edge["number"])
            came[parent] += sent
            if abs(sent - shown[child] * local) > 1e-9:
                wrong.append(i)
            assert edge["alike"] != "passed on" or edge["number"] != edge["right"]
        assert wrong == [drawn.entry["fault"]]
        assert came == pytest.approx(shown)


@pytest.mark.parametrize("level", LEVELS)
def test_the_network_is_that_of_matrices(level):
    """In arrays: the objective, and the gradients of both weights."""
    for seed in seeds("mlp", level):
        drawn = problem("mlp", level, seed)
        form = Form.parse(KINDS["mlp"].forms(level)[drawn.number])
        leaves = dict(zip(form.leaves, drawn.leaves, strict=True))
        d, q = (sum(name[0] == letter for name in leaves) for letter in "xy")
        x, y, W, V = (np.array([leaves[name] for name in sorted(leaves) if name[0] == letter])
                      for letter in "xywv")  # fmt: skip
        lam = leaves.get("lam", 0.0)

        def objective(W, V, x=x, y=y, lam=lam):
            apart = V @ (W @ x).relu() - y
            return ((apart * apart).sum() + lam * ((W * W).sum() + (V * V).sum())) / 2

        value, shares = value_and_grad(objective, (0, 1))(W.reshape(-1, d), V.reshape(q, -1))
        asked = {(box["name"], box["slot"][:4]): right
                 for box, right in zip(drawn.entry["boxes"], drawn.right, strict=True)}  # fmt: skip
        assert asked["J" if lam else "L", "data"] == pytest.approx(value)
        for letter, share in zip("wv", shares, strict=True):
            for i, j in np.ndindex(share.shape):
                assert asked[f"{letter}{i + 1}{j + 1}", "grad"] == pytest.approx(share[i, j])


@pytest.mark.parametrize("level", [2, 3])
def test_slips_in_the_network_are_named(page, level):
    """By hand: of the penalty, of the difference, and of the first weight of the output."""
    for seed in range(1, 9):
        drawn = problem("mlp", level, seed)
        form = Form.parse(KINDS["mlp"].forms(level)[drawn.number])
        leaves = dict(zip(form.leaves, drawn.leaves, strict=True))
        W, V = (np.array([x for name, x in leaves.items() if name[0] == letter]) for letter in "wv")
        lam, squares, norms = leaves["lam"], W @ W + V @ V, np.sqrt(W @ W) + np.sqrt(V @ V)
        boxes = {(box["name"], box["slot"][:4]): box for box in drawn.entry["boxes"]}
        o = boxes["o1", "grad"]["right"]
        for asked, answer, name in [
            (("s", "data"), squares / 2, "decay"),
            (("s", "data"), lam * norms / 2, "unsquared"),
            (("s", "data"), lam * squares, "half"),
            (("s", "data"), lam * (V @ V) / 2, "matrix"),
            (("o1", "grad"), 2 * o, "half"),
            (("o1", "grad"), o / 2, "half"),
            (("v11", "grad"), o + lam * leaves["v11"], "unchanged"),
        ]:
            found = called(page, f"judge({json.dumps(boxes[asked])}, [{answer}])")
            assert found["right"] or name in [made[0] for made in found["mistakes"]]


@pytest.mark.parametrize("level", LEVELS)
def test_tiles_give_what_vjp_gives(level):
    for seed in seeds("shapes", level):
        drawn = problem("shapes", level, seed)
        of = tiles.layer(KINDS["shapes"].forms(level)[drawn.number])
        known = {name: x if len(of.dims.get(name, "nm")) > 1 else x[0]
                 for name, x in drawn.known.items()}  # fmt: skip
        leaves = [name for name in of.given if name in of.dims]

        def line(*given, of=of, known=known, leaves=leaves):
            phi = {"phi": lambda z: z * known[tiles.SLOPE]}
            return of.run(phi | dict(zip(leaves, given, strict=True)))[of.root]

        shares = vjp(line, *(known[name] for name in leaves))[1](known[of.root + BAR])
        for name, share in zip(leaves, shares, strict=True):
            right = known.get(name + BAR)
            np.testing.assert_allclose(share, np.reshape(right, np.shape(share)), atol=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_tiles_are_judged_and_their_mistakes_named(page, level):
    for seed in range(1, 41):
        found = called(
            page,
            f"""(() => {{
            const entry = {json.dumps(problem("shapes", level, seed).entry)};
            const judged = (i, tiles) => judgeTiles(entry, matricesOf(entry), i, tiles);
            return entry.lines.map(({{ right, mistakes }}, i) => [judged(i, right),
                mistakes.map(([name, tiles]) => [name, judged(i, tiles)])]);
        }})()""",
        )
        assert len({name for _, made in found for name, _ in made}) >= 4
        for right, made in found:
            assert right["right"]
            for name, verdict in made:
                assert not verdict["right"]
                assert [made[0] for made in verdict["mistakes"]] == [name]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["Z̄", "X"], "columns meet"),
        (["Z̄", "⊙", "X"], "do not fit, entry by entry"),
        (["W", "W"], "columns meet"),
        (["X", "⊙"], "a factor is missing"),
        (["Z̄ᵀ", "Z̄"], " is "),
        (["W̄"], "still to be found"),
    ],
)
def test_tiles_that_do_not_fit_are_told(page, typed, words):
    verdict = judged_tiles(page, problem("shapes", 1, 1), 1, typed)
    assert not verdict["right"]
    assert words in verdict["words"]


def judged_tiles(page, drawn, line, tiles):
    page.eval(f"globalThis.entry = {json.dumps(drawn.entry)}")
    return called(page, f"judgeTiles(entry, matricesOf(entry), {line}, {json.dumps(tiles)})")


@pytest.mark.parametrize(
    ("seed", "label", "typed", "is_right"),
    [  # Y = X - c; Z = Y @ W.T, whose c̄ is − Σ rows Ȳ, and Z = X @ W.T + b
        (6, "c̄", "− Σ-rows Ȳ", True),
        (6, "c̄", "Σ-rows − Ȳ", True),
        (6, "c̄", "− Σ-rows Z̄ W", True),
        (6, "c̄", "Σ-rows − Z̄ W", True),
        (6, "c̄", "+ − Σ-rows Ȳ", True),
        (6, "c̄", "− Σ-rows − Ȳ", False),
        (6, "c̄", "Σ-rows Ȳ", False),
        (6, "Ȳ", "Z̄ W", True),
        (6, "Ȳ", "Z̄ W − Z̄ W + Z̄ W", True),
        (1, "b̄", "Σ-rows Z̄ − Z̄ + Z̄", True),
        (1, "b̄", "Σ-rows Z̄ − Σ-rows Z̄ + Σ-rows Z̄", True),
        (1, "b̄", "Z̄ Σ-rows", False),
    ],
)
def test_right_tiles_are_right_in_other_forms(page, seed, label, typed, is_right):
    drawn = problem("shapes", 2, seed)
    label, typed = (unicodedata.normalize("NFD", text) for text in (label, typed))
    [line] = [i for i, line in enumerate(drawn.entry["lines"]) if line["label"] == label]
    tiles_ = [tile.replace("-", " ") for tile in typed.split()]
    assert judged_tiles(page, drawn, line, tiles_)["right"] == is_right


def computed(lines):
    form = Form.parse(lines)
    return form.run([1.0] * len(form.leaves))


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_kept_is_what_gradients_change_with(page, level):
    """A value that becomes another after the forward pass changes gradients if it is read."""
    for number, lines in enumerate(KINDS["keep"].forms(level)):
        found = problem("keep", level, number + 1).entry
        form = Form.parse(lines)

        def gradients(spoiled=None, form=form):
            root = form.run(keep.VALUES[: len(form.leaves)], keep.FROZEN)
            nodes = {item.id: item.node for item in read(root, "test", 100)}
            if spoiled:
                nodes[spoiled].data *= -1.3
            root.backward()
            return [node.grad for node in nodes.values() if not node.parents]

        known = pytest.approx(gradients(), rel=1e-9, abs=1e-15)
        right, moves = found["right"], [id for id in found["says"] if gradients(id) != known]
        code = f"judgeKept({json.dumps(found)}, chosen)"
        tried = [found["also"], right, *(kept for _, kept in found["wrong"])]
        verdicts = called(page, f"{json.dumps(tried)}.map((chosen) => {code} ?? null)")
        assert set(moves) <= set(right)
        cancel = len(right) - len(moves)  # as q does in (p / q) * q
        assert not cancel or "/" in lines
        assert cancel <= 2
        assert verdicts[:2] == [None, None]
        names = [name for name, _ in found["wrong"]]
        assert [verdict["name"] for verdict in verdicts[2:]] == names


def test_a_quotient_may_keep_what_pytorch_keeps():
    """s = q / r, where q is a sum: {r, s} or {q, r}."""
    [found] = [
        problem("keep", 2, number + 1)
        for number, text in enumerate(KINDS["keep"].forms(2))
        if text == "p = sqrt(b); q = p + a; r = sigmoid(b); s = q / r"
    ]
    called_ = {id: text.partition(",")[0] for id, text in found.entry["says"].items()}
    letter = dict(zip(found.names, "pqrs", strict=True))
    ours, torch = ({letter[id] for id in found.entry[key]} for key in ("right", "also"))
    assert (ours, torch) == ({"p", "r", "s"}, {"p", "q", "r"})
    assert found.names.items() <= called_.items()


@pytest.mark.parametrize(("kind", "level", "no"), [
    ("costs", 1, "bytes|<i>L</i>"), ("costs", 2, "bytes"), ("costs", 3, "FLOPs|product"),
    ("mlp", 1, "λ"), ("keep", 1, "grey|quotient"), ("keep", 2, "grey"),
])  # fmt: skip
def test_what_is_asked_speaks_of_its_level_alone(kind, level, no):
    assert not re.search(no, KINDS[kind].asks(level))
    assert not re.search(r"levels? \d", KINDS[kind].asks(level))


@pytest.mark.parametrize("level", LEVELS)
def test_an_order_is_judged_by_who_uses_whom(page, level):
    for number, lines in enumerate(KINDS["orders"].forms(level)):
        found = problem("orders", level, number + 1).entry
        items = {item.id: item for item in read(computed(lines), "test", 100)}
        engine = [id for id, item in items.items() if item.node.parents]
        by_node = {item.node: item.id for item in items.values()}
        sorted_ = [by_node[node] for node in items[engine[-1]].node.sorted_graph()]
        order = [id for id in sorted_ if id in engine]
        tried = [order, found["order"], *(made for _, made in found["wrong"])]
        dice = Series(lines)
        for _ in range(30):
            tried.append(sorted(engine, key=lambda _: dice.below(1000)))
        code = f"judgeOrder({json.dumps(found)}, order) ?? null"
        verdicts = called(page, f"{json.dumps(tried)}.map((order) => {code})")
        for order, verdict in zip(tried, verdicts, strict=True):
            valid = all(
                order.index(id) < order.index(parent)
                for id in engine
                for parent in items[id].parents
                if parent in engine
            )
            assert (verdict is None) == valid
        assert verdicts[:2] == [None, None]
        names = [name for name, _ in found["wrong"]]
        assert [v["name"] for v in verdicts[2 : 2 + len(names)]] == names
        assert len(names) >= 4


# --- lines of NumPy -------------------------------------------------------------------------------


def typed_problem(level, seed):
    """A problem, its form, and its arrays."""
    drawn = problem("equations", level, seed)
    of = equations.form(KINDS["equations"].forms(level)[drawn.number])
    sizes = dict(zip(of.letters, map(int, drawn.leaves), strict=True))
    return drawn, of, sizes, equations.arrays(of, list(sizes.values()), f"{drawn.name} once")


def right_lines(drawn):
    return [line["right"] for line in drawn.entry["typed"]]


@pytest.mark.parametrize("level", sampled(LEVELS, 3))
def test_lines_of_numpy_give_what_vjp_gives(level):
    """For leaves by `vjp`, and by differences of the forward lines, which are plain NumPy."""
    for seed in seeds("equations", level):
        drawn, of, sizes, known = typed_problem(level, seed)
        names = [name for name in of.leaves if "d" + name in known]
        seeded = known.get("d" + of.root, 1.0)
        given = {name: known[name] for name in of.leaves}

        def last(*leaves, of=of, sizes=sizes, names=names, given=given):
            return of.run(sizes | given | dict(zip(names, leaves, strict=True)))[of.root]

        shares = vjp(last, *(known[name] for name in names))[1](seeded)
        rights = dict(zip((line.made for line in of.asked), right_lines(drawn), strict=True))
        direction = Series(drawn.name)
        for name, share in zip(names, shares, strict=True):
            right = equations.computed(rights["d" + name], known)
            np.testing.assert_allclose(right, share, rtol=1e-9, atol=1e-11)
            way = np.reshape([direction.below(9) - 4 for _ in range(right.size)], right.shape)
            ends = [of.run({**sizes, **given, name: given[name] + step * way})[of.root]
                    for step in (1e-6, -1e-6)]  # fmt: skip
            slope = np.sum((ends[0] - ends[1]) / 2e-6 * seeded)
            assert slope == pytest.approx(np.sum(right * way), rel=1e-4, abs=1e-6)
        assert typed.judge(drawn, right_lines(drawn)).marks == ("right",) * len(of.asked)


@pytest.mark.parametrize("level", LEVELS)
def test_mistakes_in_lines_differ_from_what_is_right_and_from_each_other(level):
    for seed in seeds("equations", level):
        _, of, _, known = typed_problem(level, seed)
        assert sum(map(len, of.slips)) >= 4
        for (name, _), slips in zip(of.asked, of.slips, strict=True):
            values = [equations.computed(slip.text, known) for slip in slips]
            found = [known[name], *(value for value in values if value is not None)]
            assert not any(equations.alike(a, b) for i, a in enumerate(found) for b in found[:i])
            assert len({slip.text for slip in slips}) == len(slips)


@pytest.mark.parametrize("level", sampled(LEVELS, 3))
def test_mistakes_in_lines_are_named(level):
    for seed in range(1, len(KINDS["equations"].forms(level)) + 1):
        drawn, of, *_ = typed_problem(level, seed)
        right = right_lines(drawn)
        for place, slips in enumerate(of.slips):
            for slip in slips:
                verdict = typed.judge(drawn, [*right[:place], slip.text, *right[place + 1 :]])
                assert (verdict.at, verdict.wrong) == (place, (slip.name,))
                assert slip.says in verdict.words
                assert verdict.marks.count("wrong") == 1  # those after it are right by themselves


# Z = X @ W.T + b; H = np.tanh(Z): dZ, db, dW, dX
@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["dH * (1 - H ** 2"], "Python cannot read `dH * (1 - H ** 2`: '(' was never closed"),
        (["dH * (1 - h ** 2)"], "there is no `h`. There are `np`, `X`, `W`, `b`, `Z`, `H`, `dH`."),
        (["tanh(Z)"], "NumPy’s functions begin with np: `np.tanh`"),
        (["open('x')"], "there is no `open`"),
        (["dX"], "`dX` is itself still to be found"),
        (["db = dH"], "it begins with `db =`, and is to give `dZ`"),
        (["np.tan2(Z)"], "Python stops at `np.tan2`: module 'numpy' has no attribute 'tan2'"),
        (["np.tanh"], "`np.tanh` is no array of numbers: it is a ufunc"),
        (["dH.sort()"], "read-only"),
        (["dH @ H"], "there is no product of `dH` "),
        (["dH * X"], " do not fit"),
        (["dH[:, 0]"], "your line has the shape "),
        (["dH + Z"], "its entries are not: `dZ[0, 0]` is "),
        (["", "dZ.sum(axis=5)"], "axis 5 is out of bounds"),
        (["", "", "dZ.T @ X"], "1 of 4 is right so far. Type the others."),
    ],
)
def test_lines_that_give_nothing_are_told_in_words(lines, words):
    verdict = typed.check("equations-2-1", [*lines, *[""] * (4 - len(lines))])
    assert words in verdict.words


def test_lines_are_read_as_people_type_them():
    lines = ["dZ = dH * (1 − H**2)", "np.sum(dZ, 0)", "(X.T@dZ).T", " np.dot(dZ, W)\u00a0"]
    assert repr(typed.check("equations-2-1", lines)) == "✓ Right."
    for line in ("dH*(1 - H^2)", "dH · (1 − H²)", "dH / np.cosh(Z)^2", "-dH × (H ^ 2 − 1)"):
        assert typed.check("equations-2-1", [line, "", "", ""]).marks[0] == "right"
    shown = drill("equations", 2, 1)
    assert shown.check(db="dZ.sum(axis=0)").marks == ("empty", "right", "empty", "empty")
    with pytest.raises(ValueError, match="there is no line for dQ"):
        shown.check(dQ="dZ")


def test_a_few_functions_of_python_compute_too():
    for line in (
        "sum(np.outer(x, dz) for x, dz in zip(X, dZ))",
        "sum(np.outer(X[i], dZ[i]) for i in range(len(X)))",
        "sum(X[:, :, None] * dZ[:, None, :])",
        "X.T @ dZ * len(X) / float(X.shape[0])",
    ):
        assert typed.check("equations-1-1", [line, ""]).marks == ("right", "empty")
    assert "there is no `i`" in typed.check("equations-1-1", ["X[i]", ""]).words
    verdict = typed.check("equations-1-1", ["sum(X[i] for i in range(99))", ""])
    assert "index 4 is out of bounds" in verdict.words


# Each in a process of its own, that has computed nothing yet: NumPy imports some of its parts when
# a method runs first. What is said of a line must be what Python says where nothing is left out.
FIRST = """
import json, os, sys
import numpy as np
from chainlab.drills import typed

def said(evaluate, known):
    try:
        return repr(evaluate(known))
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def told(line):
    known = {"X": np.arange(6.0).reshape(2, 3)}
    known["X"].flags.writeable = False
    out, into = os.pipe()
    if not os.fork():
        by_page = said(lambda known: typed._evaluated(typed._parsed(line, "dX"), known), known)
        by_python = said(lambda known: eval(line, {"np": np, **known}), known)
        os.write(into, json.dumps([line, by_page, by_python]).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as pipe:
        text = pipe.read()
    os.wait()
    return json.loads(text)

print(json.dumps([told(line) for line in json.load(sys.stdin)]))
"""
WRITE = {"tofile", "dump"}
METHODS = [name for name in dir(np.ndarray) if not name.startswith("_") and name not in WRITE]
FUNCTIONS = (
    "abs all any argmax average clip concatenate cumsum diag diff dot einsum exp eye full_like "
    "hstack inner linalg.inv linalg.norm linalg.solve log matmul max maximum mean median min "
    "moveaxis multiply multiply.reduce nansum newaxis ones_like outer pad prod ptp repeat reshape "
    "roll sign sqrt square squeeze stack std sum swapaxes take tanh tensordot tile trace transpose "
    "tril unique var vdot vstack where zeros"
)


def test_what_runs_first_runs_as_in_python():
    lines = []
    for name in METHODS:
        lines += [f"X.{name}()", f"X.{name}(0)", f"X.{name}(axis=0)"]
    for name in FUNCTIONS.split():
        lines += [f"np.{name}(X)", f"np.{name}(X, X)", f"np.{name}(X, axis=1)"]
    lines += ["np.einsum('ij,kj->ik', X, X)", "np.linalg.inv(X @ X.T)", "len(X)", "sum(X)"]
    run = subprocess.run(
        [sys.executable, "-c", FIRST], input=json.dumps(lines), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert len(told) == len(lines)
    assert not [one for one in told if one[1] != one[2]]
    assert sum("Error" not in python for _, _, python in told) > 100
