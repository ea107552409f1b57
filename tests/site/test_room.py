"""Room for messages: in each step of a figure with steps, no label, box or frame covers another."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from chainlab.lessons import engine
from chainlab.lessons.autograd_engine import play_pass
from chainlab.lessons.computational_graph import click, neuron
from chainview import play
from tests.site.built import Site, toc_documents
from tests.site.conftest import Show

WIDTHS = (390, 768, 1280, 1440, 1920)
STEPPED = ".chaingrad-player:not([data-kind]), .chaingrad-moving[data-kind=order]"
# What of a figure covers something else, or leaves the frame, at each of its steps.
COVERED = """(figures) => figures.flatMap((figure) => {
  const rect = (element) => element.getBoundingClientRect();
  const within = (element, by = 2) => {
    const { left, top, right, bottom } = rect(element);
    return { left: left + by, top: top + by, right: right - by, bottom: bottom - by };
  };
  const meet = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const holds = (a, b) => a.left <= b.left && a.top <= b.top && a.right >= b.right
    && a.bottom >= b.bottom;
  const seen = (list) => [...list].filter((x) => rect(x).width && x.textContent.trim());
  const live = figure.querySelector(".cg-live");
  const look = (step) => {
    const svg = [...live.querySelectorAll("svg.chaingrad")].find((x) => rect(x).width);
    if (!svg) return [];
    const boxes = [...svg.querySelectorAll(".cg-box")];
    const labels = seen(svg.querySelectorAll("g.edge text, .cg-number"));
    const name = (x) => x.textContent || x.parentNode.querySelector(".cg-name")?.textContent;
    const said = [];
    for (const [i, label] of labels.entries()) {
      for (const other of [...boxes, ...labels.slice(i + 1)])
        if (meet(within(label), within(other))) said.push(`${name(label)} covers ${name(other)}`);
      const beyond = label.matches(".cg-number") ? -14 : -4; // drawn over the frame's padding
      if (!holds(within(svg, beyond), within(label))) said.push(`${name(label)} is outside`);
    }
    for (const [i, box] of boxes.entries()) {
      for (const other of boxes.slice(i + 1))
        if (meet(within(box), within(other))) said.push(`${name(box)} covers ${name(other)}`);
      for (const text of seen(box.parentNode.querySelectorAll("text:not(.cg-number)")))
        if (!holds(within(box, -1), within(text))) said.push(`${name(text)} leaves its box`);
    }
    return said.map((words) => `step ${step}: ${words}`);
  };
  const slider = live.querySelector("input[type=range]");
  const pressed = [...live.querySelectorAll("g[role=button]")].reverse();
  const [found, steps] = [[], slider ? +slider.max + 1 : 2 * pressed.length];
  for (let step = 0; step < steps; step += 1) {
    if (slider) {
      slider.value = step;
      slider.dispatchEvent(new Event("input"));
    } else pressed[step >> 1].dispatchEvent(new MouseEvent("click"));
    found.push(...look(step));
  }
  return steps ? found : ["no steps"];
})"""
LENGTHS = """(svgs) => svgs.flatMap((svg) => [...svg.querySelectorAll("g.edge:has(text) path")]
  .map((path) => path.getTotalLength()))"""


def unfold(page: Page) -> None:
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")


def covered(page: Page) -> Iterator[str]:
    """What is covered in the figures of a page, at each step and in windows of each width."""
    figures = page.locator(STEPPED)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(100)  # a resize is seen at the next frame
        for said in dict.fromkeys(figures.evaluate_all(COVERED)):
            yield f"{width}: {said}"


def readers_neuron() -> str:
    """The player of *An autograd engine*."""
    w, x, b, target = map(engine.Node, (0.5, 1.5, -0.2, 0.2))
    named = {"w": w, "x": x, "b": b, "target": target, "p": w * x}
    named["z"] = named["p"] + b
    named["h"] = named["z"].tanh()
    named["out"] = named["z"] + named["h"]
    named["error"] = named["out"] - target
    named["loss"] = named["error"] ** 2
    return play_pass(named["loss"], named).html


def test_nothing_is_covered_in_the_neurons_passes(show: Show) -> None:
    page = show(readers_neuron(), play(neuron()).html, click().html, reduced_motion="reduce")
    assert list(covered(page)) == []


def test_messages_have_arrows_of_ninety_pixels(show: Show) -> None:
    page = show(readers_neuron(), click().html, reduced_motion="reduce")
    page.set_viewport_size({"width": 1280, "height": 900})
    drawn = page.locator(".cg-live svg.chaingrad").locator("visible=true")
    lengths = drawn.evaluate_all(LENGTHS)
    assert len(lengths) == 2 * 10
    assert min(lengths) >= 80  # without the arrow's head


@pytest.mark.walk
def test_nothing_is_covered_in_any_page(browser: Browser, site: Site, address: str) -> None:
    found = []
    with browser.new_context(reduced_motion="reduce", service_workers="block") as context:
        page = context.new_page()
        for name in toc_documents():
            if site.document(name).select(STEPPED):
                page.goto(f"{address}/{name}.html")
                unfold(page)
                found += [f"{name}, {words}" for words in covered(page)]
    assert found == []
