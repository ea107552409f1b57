"""The timeline of a pipeline in a browser: every setting, by keys, in both themes."""

import pytest

from chainlab.lessons.pipelines import (
    MICROBATCHES,
    SCHEDULES,
    STAGES,
    ends,
    held,
    idle,
    pipeline,
    timeline,
)
from tests.axe import severe
from tests.site.conftest import Show, themed

DRAWN = """() => {
  const root = document.querySelector(".chaingrad-pipeline");
  const [m, p] = root.querySelectorAll("input"), all = [];
  for (const pick of root.querySelectorAll("button")) {
    pick.click();
    for (p.value = p.min; ; p.stepUp()) {
      for (m.value = m.min; ; m.stepUp()) {
        m.dispatchEvent(new Event("input"));
        const rows = [...root.querySelectorAll(".cg-line")].map((line) =>
          [...line.children].map((box) => [box.className.slice(3), box.textContent,
            parseFloat(box.style.left), parseFloat(box.style.width)]));
        all.push([rows, root.querySelector(".cg-words").textContent]);
        if (m.value === m.max) break;
      }
      if (p.value === p.max) break;
    }
  }
  return all;
}"""


def test_every_setting_is_that_of_the_simulation(show: Show) -> None:
    drawn = iter(show(timeline().html).evaluate(DRAWN))
    for schedule in SCHEDULES:
        length = schedule.length
        for p in STAGES:
            for m in MICROBATCHES:
                pieces = pipeline(p, m, schedule.rule, schedule.room(p, m), length)
                turns = ends(pieces, length)
                rows, words = next(drawn)
                for s, row in enumerate(rows):
                    for (kind, text, left, width), piece in zip(
                        row, [piece for piece in pieces if piece.device == s], strict=True
                    ):
                        assert (kind, text) == (piece.kind, str(piece.microbatch + 1))
                        assert left == pytest.approx(100 * piece.begin / turns, abs=0.001)
                        assert width == pytest.approx(100 * length[kind] / turns, abs=0.001)
                share = int(100 * idle(pieces, length) + 0.5)
                assert f"after {turns} turns; each device is idle {share} %" in words
                assert f"up to {max(held(pieces))} of" in words
    assert next(drawn, None) is None


def test_it_is_played_by_keys(show: Show) -> None:
    page = show(timeline().html)
    for _ in range(7):
        page.get_by_role("slider", name="microbatches").press("ArrowRight")
    page.get_by_role("button", name="backward in two halves").press("Enter")
    assert "27 turns; each device is idle 11 %" in page.locator(".cg-words").inner_text()
    assert page.get_by_text("backward, weights only").is_visible()


@pytest.mark.parametrize(("theme", "width"), [("light", 800), ("dark", 360)])
def test_it_fits_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = themed(show, theme, width, timeline().html)
    for schedule in SCHEDULES:
        page.get_by_role("button", name=schedule.name).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not severe(page)


def test_it_stands_without_scripts(show: Show) -> None:
    page = show(timeline().html, java_script_enabled=False)
    assert page.locator(".cg-line i").count() == 8
    assert not page.locator("button:visible").count()
