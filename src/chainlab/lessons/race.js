// The race: two lanes on one clock, on which a run over all arrows of the net takes a second.
import { Drawing } from "../../chainview/player/drawing.js";
import { keepKeys, startAll } from "../../chainview/ui.js";

const LONGEST = 30; // seconds that the clock goes on for
const SENDS = 5; // arrows of a neuron with a skip: past it, to its tanh, to the product, to w and x
const written = (x) => x.toLocaleString("en");

// Of the arrows in the order of a sweep, those that the first part of it has crossed, or of a run.
const swept = (part) => (i, count) => i < Math.round(part * count);
const run = (part) => (i, count) => count - 1 - i < Math.round(part * count);
const none = swept(0);

// Where a program is that sends at once, when it sends message number `at`: from which neuron,
// the first being 1, and which of what a neuron sends. All below follows the first and the last.
const place = (neurons, at) => {
  for (let neuron = neurons; ; neuron--) {
    const below = SENDS * (2 ** (neuron - 1) - 1);
    if (!at) return [neuron, 0];
    at -= 1;
    if (at < below) continue;
    at -= below;
    if (at < SENDS - 1) return [neuron, at + 1];
    at -= SENDS - 1;
  }
};

// For each contest, what both lanes have counted after some seconds, and what their pictures show:
// which arrows were crossed on the way there and back, and which just now.
const contests = {
  nudging({ size, arrows, seconds: all }, seconds) {
    const [left, right] = [Math.min(seconds, all), Math.min(seconds, 2)];
    const runs = Math.floor(left);
    const found = Math.max(0, runs - 1);
    const back = Math.max(0, right - 1);
    const there = run(left < all ? left - runs : 1);
    const nudged = left < all ? runs : 0;
    return [
      { counts: [runs, Math.floor(left * arrows), found], there, nudged, found },
      {
        counts: [Math.floor(right), Math.floor(right * arrows), Math.floor(back * size)],
        there: run(Math.min(1, right)),
        back: swept(back),
      },
    ];
  },
  sending({ size, arrows, totals: [[all]] }, seconds) {
    const sent = Math.min(all, Math.floor(seconds * arrows));
    const below = SENDS * (2 ** (size - 1) - 1);
    const [neuron, send] = sent && sent < all ? place(size, sent - 1) : [];
    const back = (i, count) =>
      i < SENDS ? sent > (i && below) + i : sent >= size + Math.max(-1, i - count + SENDS);
    const now = (i, count) =>
      (neuron === size && i === send) || (neuron === 1 && i - count + SENDS === send);
    return [
      { counts: [sent], back, now },
      { counts: [Math.min(arrows, Math.floor(seconds * arrows))], back: swept(seconds) },
    ];
  },
};

// A lane: what it counts, and its pictures, of which one is shown.
const startLane = (element, { edges, knobs }) => {
  const counters = [...element.querySelectorAll("dd")];
  const pictures = [...element.querySelectorAll(".cg-picture")];
  const drawings = pictures.map((picture) => new Drawing(picture.querySelector("svg")));
  let chosen;

  const write = (totals, more) => {
    counters.forEach(({ lastChild }, i) => (lastChild.textContent = `of ${written(totals[i])}`));
    chosen = Math.min(more, pictures.length - 1);
    pictures.forEach((picture, i) => (picture.hidden = i !== chosen));
    drawings.at(-1)?.put("more", "count", written(more));
  };
  const show = ({ counts, there = none, back = none, now = none, nudged = 0, found = 0 }) => {
    counters.forEach(({ firstChild }, i) => (firstChild.textContent = written(counts[i])));
    const drawing = drawings[chosen];
    if (!drawing) return;
    const reached = new Set(knobs.slice(0, found));
    const order = edges[chosen];
    order.forEach((edge, i) => {
      if (!edge) return; // one of those in the box
      const { classList } = drawing.edge(...edge, 0);
      const states = { "cg-there": there, "cg-back": back, "cg-now": now };
      for (const [name, is] of Object.entries(states)) classList.toggle(name, is(i, order.length));
      if (back(i, order.length)) edge.forEach((id) => reached.add(id));
    });
    const turned = nudged && (knobs[nudged - 1] ?? "more");
    for (const [id, { group }] of Object.entries(drawing.nodes)) {
      group.classList.toggle("cg-back", reached.has(id));
      group.classList.toggle("cg-nudged", id === turned);
    }
  };
  return { write, show };
};

// A contest: its two lanes, the clock and the controls. What is returned stops the clock.
const startScene = (scene, data) => {
  const { name, asks, sweep, settings } = data;
  const [button, slider, clock, words, size] = [
    "button",
    "input",
    ".cg-clock",
    ".cg-words",
    "label b",
  ].map((selector) => scene.querySelector(selector));
  const lanes = [...scene.querySelectorAll(".cg-lane")].map((lane) => startLane(lane, data));
  let setting;
  let timer; // while the clock goes
  let passed = 0;

  const show = (seconds) => {
    passed = seconds;
    clock.textContent = `${seconds.toFixed(1)} s`;
    contests[name](setting, seconds).forEach((lane, i) => lanes[i].show(lane));
    const { seconds: all, swept: then, ended } = setting;
    const says = seconds >= all ? ended : seconds >= sweep ? then : asks;
    if (words.textContent !== says) words.textContent = says;
  };
  const rest = (next) => {
    cancelAnimationFrame(timer);
    timer = undefined;
    button.textContent = next;
  };
  const choose = () => {
    rest("Start");
    setting = settings[slider.value];
    size.textContent = written(setting.size);
    slider.setAttribute("aria-valuetext", size.textContent);
    lanes.forEach((lane, i) => lane.write(setting.totals[i], setting.more));
  };
  const arrive = () => (choose(), show(sweep)); // the moment at which the sweep is done
  const start = () => {
    const last = Math.min(LONGEST, setting.seconds);
    const from = button.textContent === "Go on" ? passed : 0;
    let began;
    const move = (now) => {
      began ??= now;
      show(Math.min(last, from + (now - began) / 1000));
      if (passed < last) timer = requestAnimationFrame(move);
      else rest("Start");
    };
    button.textContent = "Pause";
    timer = requestAnimationFrame(move);
  };

  button.addEventListener("click", () => {
    if (timer) rest("Go on");
    else if (matchMedia("(prefers-reduced-motion: reduce)").matches) arrive();
    else start();
  });
  slider.addEventListener("input", arrive);
  addEventListener("beforeprint", arrive);
  scene.querySelector(".cg-controls").hidden = false;
  choose();
  show(0);
  return () => timer && rest("Go on");
};

startAll(".chaingrad-race", (root, data) => {
  const scenes = [...root.querySelectorAll(".cg-scene")];
  const stops = scenes.map((scene, i) => startScene(scene, data[i]));
  const picks = root.querySelectorAll(".cg-picks button");
  picks.forEach((pick, chosen) => {
    pick.addEventListener("click", () => {
      stops.forEach((stop) => stop());
      picks.forEach((other, i) => other.setAttribute("aria-pressed", String(i === chosen)));
      scenes.forEach((scene, i) => scene.classList.toggle("cg-off", i !== chosen));
    });
  });
  keepKeys(root);
});
