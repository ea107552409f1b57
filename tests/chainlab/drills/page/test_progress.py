"""How far a reader has come, and where one begins."""

import itertools
import json

from tests.chainlab.drills.support import called


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


def test_other_numbers_are_those_of_another_problem_of_the_graph(page):
    for graphs, seed in itertools.product([1, 3, 8, 12], range(1, 301)):
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


def test_where_to_start_is_found_within_six_problems(page):
    """Readers who know the first stops begin with the next; a slip moves that a little."""
    for knows, slip in itertools.product(range(10), [None, *range(6)]):
        answers = []
        while (stop := called(page, f"nextStop({json.dumps(answers)}, 9) ?? null")) is not None:
            answers.append({"stop": stop, "right": stop < knows and len(answers) != slip})
        assert len(answers) <= 6
        away = called(page, f"firstStop({json.dumps(answers)}, 9)") - min(knows, 8)
        assert abs(away) <= 4 * (slip is not None)
