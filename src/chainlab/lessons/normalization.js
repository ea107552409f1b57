// A normalized row: one drags its features, or the gradient that arrives, and the parts follow.
import { keepKeys, startAll } from "../../chainview/ui.js";

const mean = (xs) => xs.reduce((sum, x) => sum + x, 0) / xs.length;
const written = (x) => (Math.round(x * 100) / 100 + 0).toFixed(2).replace("-", "−");

startAll(".chaingrad-norm", (root, { row, upstream, eps, top, high, panels }) => {
  const [words, said, bar, line] = [".cg-words", ".cg-said", ".cg-bar", ".cg-mu"].map((selector) =>
    root.querySelector(selector),
  );
  const bars = panels.map(({ name }) => [...root.querySelectorAll(`.cg-${name} g`)]);
  const held = { x: [...row], d: [...upstream] }; // what the reader has dragged
  let timer;

  const compute = () => {
    const { x, d } = held;
    const mu = mean(x);
    const sigma = Math.sqrt(mean(x.map((v) => (v - mu) ** 2)) + eps);
    const hat = x.map((v) => (v - mu) / sigma);
    const shift = mean(d);
    const stretch = mean(d.map((v, i) => v * hat[i]));
    const along = hat.map((v) => v * stretch);
    const out = d.map((v, i) => (v - shift - along[i]) / sigma);
    return { x, d, hat, along, out, mean: d.map(() => shift), mu, sigma, shift, stretch };
  };
  const show = () => {
    const found = compute();
    panels.forEach(({ name, range: [least, most], step }, k) => {
      const unit = high / (most - least);
      const zero = top + most * unit;
      if (name === "x") line.setAttribute("d", `M0 ${top + (most - found.mu) * unit}H176`);
      found[name].forEach((v, i) => {
        const at = zero - Math.max(least, Math.min(most, v)) * unit;
        const group = bars[k][i];
        const [box, text] = [group.querySelector("rect"), group.querySelector("text")];
        box.setAttribute("y", Math.min(at, zero));
        box.setAttribute("height", Math.abs(at - zero));
        text.setAttribute("y", at + (v < 0 ? 17 : -9));
        text.textContent = written(v);
        if (!step) return;
        group.querySelector("circle").setAttribute("cy", at);
        group.setAttribute("aria-valuenow", v.toFixed(2));
      });
    });
    const [mu, sigma, shift, stretch] = ["mu", "sigma", "shift", "stretch"].map(
      (name) => `<b>${written(found[name])}</b>`,
    );
    words.innerHTML =
      `The row has mean μ = ${mu} and deviation σ = ${sigma}. Of what arrives, the mean ` +
      `${shift} is deleted, and ${stretch} times x̂.`;
    clearTimeout(timer); // those who listen hear where it came to rest
    const left = found.out.map(written).join(", ");
    timer = setTimeout(() => (said.textContent = `The rest, divided by σ: ${left}`), 300);
  };
  const fits = (xs) =>
    Math.max(...xs) <= panels[0].range[1] && Math.min(...xs) >= panels[0].range[0];
  const change = (make, often, seldom) => {
    const next = make(often);
    held.x = fits(next) ? next : make(seldom);
  };
  const acts = [
    () => change((by) => held.x.map((v) => v + by), 1, -3),
    () => change((by) => held.x.map((v) => mean(held.x) + (v - mean(held.x)) * by), 1.5, 0.5),
    () => held.d.fill(1),
    () => (held.d = compute().hat),
    () => ([held.x, held.d] = [[...row], [...upstream]]),
  ];
  bar.querySelectorAll("button").forEach((button, k) => {
    button.addEventListener("click", () => (acts[k](), show()));
  });
  panels.forEach(({ name, range: [least, most], step }, k) => {
    if (!step) return;
    bars[k].forEach((group, i) => {
      const set = (v) => {
        const next = Math.round(v / step) * step;
        held[name][i] = Math.max(least, Math.min(most, next));
        show();
      };
      let from;
      group.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        group.setPointerCapture(event.pointerId);
        group.focus({ preventScroll: true });
        from = { y: event.clientY, v: held[name][i] };
      });
      group.addEventListener("pointermove", (event) => {
        if (!group.hasPointerCapture(event.pointerId)) return;
        const size = group.ownerSVGElement.getBoundingClientRect().width / 176;
        set(from.v + ((from.y - event.clientY) / size / high) * (most - least));
      });
      group.addEventListener("keydown", (event) => {
        const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 };
        const more = steps[event.key] ?? { PageUp: 5, PageDown: -5 }[event.key];
        if (!more) return;
        event.preventDefault();
        set(held[name][i] + more * step);
      });
    });
  });
  bar.hidden = false;
  keepKeys(root);
});
