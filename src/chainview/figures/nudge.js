import { number, startFigures } from "./figure.js";
import { run } from "./program.js";

startFigures("nudge", ({ data, boxes, put, toggle, find }) => {
  const { program, leaves, shown, top, plot, steps } = data;
  const [wide, high] = plot;
  const [words, said] = find("p");
  const [picture, curve, tangent, point] = find(".cg-plot, .cg-curve, .cg-tangent, circle");
  const sliders = find("input");
  const ids = leaves.map((leaf) => leaf.id);
  const parts = leaves.map(() => 0); // how many steps each leaf has moved
  let inputs;
  let chosen = 0;
  let timer;

  const result = (x) => {
    const moved = [...inputs];
    moved[chosen] = x;
    return +run(program, moved, program.forward)[top.at];
  };
  const drawPlot = (x, y, slope) => {
    const { at, reach, text } = leaves[chosen];
    const xs = Array.from({ length: 91 }, (_, i) => at + reach * (i / 45 - 1));
    const ys = xs.map(result);
    // the least and the most, but one: what runs away at a pole is cut off
    const sorted = [...ys, y].filter(Number.isFinite).sort((a, b) => a - b);
    const [least, most] = [sorted[1] ?? 0, sorted.at(-2) ?? 0];
    const room = 0.1 * (most - least) || Math.abs(least) || 1;
    const px = (v) => (((v - at) / reach + 1) * wide) / 2;
    const py = (v) => (high * (most + room - v)) / (most - least + 2 * room);
    const place = (u, v) => `${px(u)} ${Math.max(-9999, Math.min(9999, py(v))) || 0}`;
    let line = "";
    ys.forEach((v, i) => {
      if (Number.isFinite(v)) line += (Number.isFinite(ys[i - 1]) ? "L" : "M") + place(xs[i], v);
    });
    const side = (h) => `${px(x + h)} ${py(y + slope * h) || 0}`;
    curve.setAttribute("d", line);
    tangent.setAttribute("d", `M${side(-2 * reach)}L${side(2 * reach)}`);
    point.setAttribute("transform", `translate(${side(0)})`);
    const ends = [at - reach, at + reach, least - room, most + room].map(number);
    [...ends, text].forEach((tick, i) => (find(".cg-plot text")[i].textContent = tick));
  };

  const show = () => {
    inputs = leaves.map(({ at, reach }, i) => at + (reach * Math.round(parts[i])) / steps);
    const values = run(program, inputs).map(Number);
    for (const [id, value, grad] of shown) {
      put(id, "data", values[value]);
      put(id, "grad", values[grad]);
    }
    const { html, text, reach, grad } = leaves[chosen];
    const [x, y, slope] = [inputs[chosen], values[top.at], values[grad]];
    drawPlot(x, y, slope);
    const step = 10 ** Math.floor(Math.log10(reach / 5));
    words.innerHTML =
      `${html} = <b>${number(x)}</b>: ${top.html} = <b>${number(y)}</b>, ` +
      `<span class="g">∂${top.html}/∂${html} = <b>${number(slope)}</b></span>.<br>` +
      `If ${html} grows by ${step}, the tangent rises by ${number(step * slope)}, ` +
      `the curve by ${number(result(x + step) - y)}.`;
    const short = `${top.text} = ${number(y)}, slope ${number(slope)}`;
    picture.setAttribute("aria-label", `${top.text} against ${text}, with the tangent: ${short}`);
    clearTimeout(timer); // those who listen hear where it came to rest
    timer = setTimeout(() => (said.textContent = short), 300);
    sliders.forEach((slider, i) => {
      const at = number(inputs[i]);
      slider.value = parts[i];
      slider.setAttribute("aria-valuetext", at);
      slider.nextSibling.textContent = at;
      slider.parentNode.classList.toggle("cg-on", i === chosen);
      toggle(ids[i], "cg-on", ids[i] === ids[chosen]);
    });
  };
  const move = (i, part) => {
    chosen = i;
    parts[i] = Math.max(-steps, Math.min(steps, part));
    show();
  };
  const drag = (element, which, scale) => {
    let from;
    element.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      element.setPointerCapture(event.pointerId);
      sliders[which()].focus({ preventScroll: true });
      from = parts[which()] - event.clientX * scale;
    });
    element.addEventListener("pointermove", (event) => {
      if (element.hasPointerCapture(event.pointerId)) move(which(), from + event.clientX * scale);
    });
    element.classList.add("cg-drag");
  };
  sliders.forEach((slider, i) => {
    slider.addEventListener("input", () => move(i, +slider.value));
    slider.addEventListener("focus", () => move(i, parts[i]));
  });
  for (const id of new Set(ids)) {
    // of an array, the entry that was moved last
    const which = () => (ids[chosen] === id ? chosen : ids.indexOf(id));
    for (const box of boxes(id)) drag(box, which, 1);
  }
  drag(picture, () => chosen, (2 * steps) / wide);
  find("button")[0].addEventListener("click", () => (parts.fill(0), show()));
  show();
});
