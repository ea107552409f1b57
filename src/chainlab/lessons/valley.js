// The valley: drag the point over both knobs, choose a step size, take the step.
import { keepKeys, makeShape, startAll } from "../../chainview/ui.js";

const LONGEST = 110; // pixels of the gradient's arrow
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const written = (x, digits) => x.toFixed(digits).replace("-", "−");

startAll(".chaingrad-valley", (root, data) => {
  const { x, target, start, steps, arrow, left, top, wide, high, scale } = data;
  const find = (name) => root.querySelector(`.cg-${name}`);
  const [inside, point, trail, been] = ["inside", "point", "trail", "been"].map(find);
  const [ahead, to, gradient, words] = ["ahead", "to", "gradient", "words"].map(find);
  const rows = [...root.querySelectorAll(".cg-row")];
  const knobs = rows.map((row) => row.querySelector("input"));
  const size = find("size");
  const length = size.querySelector("input");
  const [take, again] = root.querySelectorAll("button");
  const px = (place) => [(place[0] - left) * scale, (top - place[1]) * scale];
  const path = (points) => points.map((p, i) => `${i ? "L" : "M"}${p.map((v) => v.toFixed(1))}`);
  let at = start;
  let visited = [start];

  // The answer's error, and the gradient, at a place.
  const z = (place) => place[0] * x + place[1];
  const error = (place) => z(place) + Math.tanh(z(place)) - target;
  const loss = (place) => error(place) ** 2;
  const slopes = (place) => {
    const zBar = 2 * error(place) * (2 - Math.tanh(z(place)) ** 2);
    return [x * zBar, zBar];
  };
  const next = () => slopes(at).map((slope, i) => at[i] - steps[length.value] * slope);
  const isInside = (place) => px(place).every((v, i) => v >= 0 && v <= scale * [wide, high][i]);

  const show = (says) => {
    const [u, v] = px(at);
    const found = slopes(at);
    point.setAttribute("transform", `translate(${u} ${v})`);
    point.setAttribute("aria-label", `w ${written(at[0], 3)}, b ${written(at[1], 3)}`);
    trail.setAttribute("d", path(visited.map(px)).join(""));
    been.replaceChildren(
      ...visited.map(px).map(([cx, cy]) => makeShape("circle", { cx, cy, r: 3.5 })),
    );
    const [toU, toV] = px(next());
    ahead.setAttribute("d", `M${u} ${v}L${toU} ${toV}`);
    to.setAttribute("cx", toU);
    to.setAttribute("cy", toV);
    const whole = Math.hypot(...found) * arrow * scale || 1;
    const part = Math.min(1, LONGEST / whole) * arrow * scale;
    const [du, dv] = [found[0] * part, -found[1] * part];
    gradient.setAttribute("d", `M${u} ${v}l${du} ${dv}`);
    rows.forEach((row, i) => {
      knobs[i].value = at[i];
      knobs[i].setAttribute("aria-valuetext", written(at[i], 3));
      row.querySelector(".cg-at").textContent = written(at[i], 3);
      row.querySelector(".g b").textContent = written(found[i], 3);
    });
    find("loss b").textContent = written(loss(at), 4);
    const step = String(steps[length.value]);
    size.querySelector("b").textContent = step;
    length.setAttribute("aria-valuetext", step);
    again.disabled = at === start && visited.length === 1;
    words.textContent = says;
  };
  const asks = () => "The dashed line is the step that you’d take from here, against the arrow.";
  const put = (place) => {
    const limits = [left, left + wide, top - high, top];
    at = place.map((v, i) => Math.max(limits[2 * i], Math.min(limits[2 * i + 1], v)));
    visited = [at];
    show(asks());
  };
  const step = () => {
    const [from, was] = [at, loss(at)];
    at = next();
    visited.push(at);
    const now = loss(at);
    const past = error(from) * error(at) < 0;
    const losses = visited.slice(-4).map((place) => written(loss(place), 4));
    const end = past ? "past the valley’s floor, on the other side" : "short of the valley’s floor";
    const verdict = now > was ? " That was too long: the loss has grown." : "";
    const lost = isInside(at) ? "" : " The point has left the picture.";
    show(`Loss ${losses.join(" → ")}. The step ended ${end}.${verdict}${lost}`);
  };

  // A pointer drags the point; a press elsewhere brings it there.
  const place = (event) => {
    const box = find("frame").getBoundingClientRect(); // of `inside` it's of all that is clipped
    const [u, v] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    return [left + u * wide, top - v * high];
  };
  inside.addEventListener("click", (event) => {
    if (!point.contains(event.target)) put(place(event));
  });
  point.addEventListener("pointerdown", (event) => point.setPointerCapture(event.pointerId));
  point.addEventListener("pointermove", (event) => {
    if (point.hasPointerCapture(event.pointerId)) put(place(event));
  });
  point.addEventListener("keydown", (event) => {
    const way = KEYS[event.key];
    if (!way) return;
    event.preventDefault();
    put(at.map((v, i) => v + way[i] * (event.shiftKey ? 0.1 : 0.01)));
  });
  knobs.forEach((knob, i) => {
    knob.hidden = false;
    knob.addEventListener("input", () => put(at.map((v, k) => (k === i ? +knob.value : v))));
  });
  length.addEventListener("input", () => show(asks()));
  take.addEventListener("click", step);
  again.addEventListener("click", () => {
    at = start;
    visited = [start];
    show(asks());
  });
  point.setAttribute("tabindex", "0");
  point.setAttribute("role", "application");
  point.setAttribute("aria-roledescription", "point that the arrow keys move");
  find("controls").hidden = false;
  keepKeys(root);
  show(asks());
});
