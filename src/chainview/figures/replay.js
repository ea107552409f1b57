import { dragAlong, playOnce, Transport } from "../transport.js";
import { keepKeys, make, makeButton, startAll } from "../ui.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SECONDS = 6; // that it plays for
const APART = 14; // pixels between two names, as in replay.py

// Buttons of which one is chosen.
const makeSwitch = (name, options, chosen, choose) => {
  const buttons = options.map((text, i) =>
    makeButton(text, () => press(i), { "aria-pressed": String(i === chosen) }),
  );
  const press = (at) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === at)));
    choose(at);
  };
  const group = { role: "group", "aria-label": name, class: "cg-switch" };
  return make("div", group, make("span", {}, name), ...buttons);
};

startAll('.chaingrad-lookup[data-kind="replay"]', (root, data) => {
  const { switches, options, chosen, measure, every, panels, runs, measured } = data;
  const [left, right] = panels;
  const find = (selector) => root.querySelector(selector);
  const all = (selector) => [...root.querySelectorAll(selector)];
  const paths = all(".cg-curve").map((_, i) => find(`.cg-curve-${i}`));
  const names = all(".cg-name").reverse(); // the first curve is drawn last
  const mark = find(".cg-mark");
  const box = paths[0].ownerSVGElement.viewBox.baseVal;
  let run; // which is shown

  const top = ({ base, fine }, letters, at) =>
    base - fine * (64 * LETTERS.indexOf(letters[2 * at]) + LETTERS.indexOf(letters[2 * at + 1]));
  const line = (panel, letters, from = 0) => {
    const points = panel.x.map((x, p) => `${x} ${top(panel, letters, from + p).toFixed(1)}`);
    return `M${points.join("L")}`;
  };
  // Names stand at the ends of their curves, and none on another.
  const place = (ends) => {
    const order = [...ends.keys()].sort((a, b) => ends[a] - ends[b]);
    let last = -Infinity;
    for (const i of order) last = ends[i] = Math.max(ends[i], box.y, last + APART);
    last = box.y + box.height + APART;
    for (const i of order.reverse()) last = ends[i] = Math.min(ends[i], last - APART);
    names.forEach((name, i) => name.setAttribute("y", i in ends ? ends[i] + 4 : -99));
  };
  const show = (k) => {
    const curves = runs[run].slice(0, -1);
    const from = k * left.x.length;
    paths.forEach((path, i) => {
      path.setAttribute("d", curves[i] ? line(left, curves[i], from) : "M0 0");
    });
    place(curves.map((letters) => top(left, letters, from + left.x.length - 1)));
    const [x, y] = [right.x[k], top(right, runs[run].at(-1), k)];
    const value = mark.querySelector("text");
    mark.setAttribute("transform", `translate(${x})`);
    mark.querySelector("circle").setAttribute("cy", y);
    const isLate = k > 0.75 * bar.last;
    value.setAttribute("y", y - 12);
    value.setAttribute("x", isLate ? -8 : 8);
    value.setAttribute("text-anchor", isLate ? "end" : "start");
    value.textContent = measured[run][k];
    const said = `${measure} ${measured[run][k]}`;
    const step = `${data.step} ${k * every} of ${(right.x.length - 1) * every}`;
    const words = [...switches.map((name, i) => `${name} ${options[i][chosen[i]]}`), step, said];
    find(".cg-setting").textContent = words.join(", ");
    find("[role=img]").setAttribute("aria-label", words.join(", "));
    return said;
  };
  const choose = () => {
    run = chosen.reduce((at, i, n) => at * options[n].length + i, 0);
    find(".cg-over").setAttribute("d", line(right, runs[run].at(-1)));
  };
  const beat = (1000 * SECONDS) / right.x.length;
  const bar = new Transport(right.x.length, show, { beat, first: 0, every });

  find(".cg-live").append(bar.bar);
  switches.forEach((name, i) => {
    const take = (at) => {
      chosen[i] = at;
      choose();
      bar.go(0);
      show(0);
      bar.play(); // a new run is there to be watched
    };
    find(".cg-switches").append(makeSwitch(name, options[i], chosen[i], take));
  });

  dragAlong(bar, mark.ownerSVGElement, right.x[0], right.x.at(-1));
  playOnce(bar, root, find("[role=img]"));
  bar.listen(root);
  keepKeys(root);
  choose();
  bar.put(0);
});
