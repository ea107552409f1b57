// Drag a point over a surface: where a gradient step and where Newton's step lead from there.
import { keepKeys, startAll } from "../../chainview/ui.js";

const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const sum = (terms, of) => terms.reduce((total, term) => total + of(...term), 0);
// The n-th derivative of the k-th power.
const power = (x, k, n) => (n ? k && k * power(x, k - 1, n - 1) : x ** k);
const written = (x, digits = 3) => {
  if (Math.abs(x) >= 1e9) return "over 10⁹";
  const small = Math.abs(x) < 1000;
  const text = small ? x.toFixed(digits) : Math.round(x).toLocaleString("en");
  return text.replace(/^-(?=0\.0*$)/, "").replace("-", "−");
};

startAll(".chaingrad-two-steps", (root, { surfaces, steps, scale, box }) => {
  const [left, bottom, wide, high] = box;
  const all = (selector) => [...root.querySelectorAll(selector)];
  const find = (name) => root.querySelector(`.cg-${name}`);
  const [inside, point, words, frame] = ["inside", "point", "words", "frame"].map(find);
  const [choices, lands, rows] = [".cg-bar button", ".cg-heights", ".cg-row"].map(all);
  const [again, takeG, takeN] = rows.map((row) => row.querySelector("button"));
  const slider = root.querySelector("input");
  const px = ([x, y]) => [(x - left) * scale, (bottom + high - y) * scale];
  const isInside = (place) => place.every((x, i) => x >= box[i] && x <= box[i] + box[i + 2]);
  let chosen = 0;
  let at = surfaces[0][1];

  // The derivative of the surface, m times by the first variable and n times by the second.
  const partial = (m, n, [x, y] = at) =>
    sum(surfaces[chosen][0], (c, i, j) => c * power(x, i, m) * power(y, j, n));
  const put = (end, u, v) => {
    const here = end.tagName === "rect" ? { x: u - 6, y: v - 6 } : { cx: u, cy: v };
    for (const [key, value] of Object.entries(here)) end.setAttribute(key, value);
  };

  const show = () => {
    const slope = [partial(1, 0), partial(0, 1)];
    const [a, b, d] = [partial(2, 0), partial(1, 1), partial(0, 2)];
    const det = a * d - b * b;
    const step = steps[slider.value];
    const solved = [d * slope[0] - b * slope[1], a * slope[1] - b * slope[0]];
    const flat = Math.abs(det) < 1e-9;
    const ends = [
      at.map((x, i) => x - step * slope[i]),
      flat ? null : at.map((x, i) => x - solved[i] / det),
    ];
    const [u, v] = px(at);
    point.setAttribute("transform", `translate(${u} ${v})`);
    point.setAttribute("aria-label", `x0 ${written(at[0], 2)}, x1 ${written(at[1], 2)}`);
    rows[0].querySelector("b").textContent = written(partial(0, 0));
    ["g", "n"].forEach((kind, i) => {
      const end = ends[i];
      const [line, mark] = [find(`to-${kind}`), find(`end-${kind}`)];
      for (const shape of [line, mark]) shape.toggleAttribute("hidden", !end);
      if (end) {
        line.setAttribute("d", `M${u} ${v}L${px(end).map((x) => x.toFixed(1))}`);
        put(mark, ...px(end));
      }
      rows[i + 1].querySelector("b").textContent = end ? written(partial(0, 0, end)) : "none";
      rows[i + 1].querySelector("button").disabled = !end || !isInside(end);
    });
    takeG.onclick = () => go(ends[0]);
    takeN.onclick = () => go(ends[1]);
    const [middle, half] = [(a + d) / 2, Math.hypot((a - d) / 2, b)];
    const [most, least] = [middle + half, middle - half];
    const gone = ends.map((end) => end && !isInside(end));
    const bends = `by ${written(most, 2)} one way and by ${written(least, 2)} the other`;
    let says = `Here the surface bends ${bends}.`;
    if (flat) says += " A curvature of 0 leaves no Newton step.";
    else if (least < 0) says += " Along a negative one, the Newton step goes uphill.";
    if (gone[0]) says += " The gradient step leaves the picture.";
    if (gone[1]) says += " The Newton step leaves the picture.";
    words.textContent = says;
    slider.setAttribute("aria-valuetext", String(step));
    root.querySelector("label b").textContent = String(step);
    choices.forEach((choice, i) => choice.setAttribute("aria-pressed", String(i === chosen)));
    lands.forEach((land, i) => land.toggleAttribute("hidden", i !== chosen));
  };
  const go = (place) => {
    at = place.map((x, i) => Math.max(box[i], Math.min(box[i] + box[i + 2], x)));
    show();
  };
  choices.forEach((choice, i) => {
    choice.addEventListener("click", () => {
      chosen = i;
      slider.value = surfaces[i][2];
      go(surfaces[i][1]);
    });
  });
  again.addEventListener("click", () => go(surfaces[chosen][1]));
  slider.addEventListener("input", show);

  // A pointer drags the point; a press elsewhere brings it there.
  const place = (event) => {
    const area = frame.getBoundingClientRect();
    const u = (event.clientX - area.left) / area.width;
    const v = (event.clientY - area.top) / area.height;
    return [left + u * wide, bottom + (1 - v) * high];
  };
  inside.addEventListener("click", (event) => {
    if (!point.contains(event.target)) go(place(event));
  });
  point.addEventListener("pointerdown", (event) => point.setPointerCapture(event.pointerId));
  point.addEventListener("pointermove", (event) => {
    if (point.hasPointerCapture(event.pointerId)) go(place(event));
  });
  point.addEventListener("keydown", (event) => {
    const way = KEYS[event.key];
    if (!way) return;
    event.preventDefault();
    const far = event.shiftKey ? 0.25 : 0.05;
    go(at.map((x, i) => Number((x + far * way[i]).toFixed(3))));
  });
  point.setAttribute("tabindex", "0");
  point.setAttribute("role", "application");
  point.setAttribute("aria-roledescription", "point that the arrow keys move");
  for (const control of all("[hidden]:is(.cg-controls, button)")) control.hidden = false;
  keepKeys(root);
  show();
});
