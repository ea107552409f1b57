// The three products of a layer, cut along an axis that the reader chooses.
import { keepKeys, make, startAll } from "../../chainview/ui.js";

const ENTRY = 4;
const UNITS = /** @type {[number, string][]} */ ([
  [1e6, "MB"],
  [1e3, "kB"],
  [1, "bytes"],
]);
const written = (bytes) => {
  const number = Number(bytes.toPrecision(3));
  const [unit, name] = UNITS.find(([one]) => number >= one);
  return `${(number / unit).toPrecision(3)} ${name}`;
};

startAll(".chaingrad-cuts", (root, { products, sizes, devices, examples }) => {
  const bar = root.querySelector(".cg-controls");
  const [count, batch] = bar.querySelectorAll("input[type=range]");
  const choices = [...bar.querySelectorAll("input[type=radio]")];
  const group = `cut-${document.querySelectorAll(".chaingrad-cuts").length}-${Math.random()}`;
  for (const choice of choices) choice.name = group;

  const show = () => {
    const p = devices[count.value];
    const size = { ...sizes, n: examples[batch.value] };
    [
      [count, p],
      [batch, size.n],
    ].forEach(([slider, value]) => {
      slider.setAttribute("aria-valuetext", String(value));
      slider.parentElement.querySelector("b").textContent = String(value);
    });
    const axis = choices.find((choice) => choice.checked).value;
    const stateOf = (axes) => (axis === axes[0] ? "rows" : axis === axes[1] ? "columns" : "whole");
    root.querySelectorAll(".cg-row").forEach((row, k) => {
      const [[, left], , [name, out]] = products[k];
      const states = products[k].map(([, axes]) => (p > 1 ? stateOf(axes) : "whole"));
      if (p > 1 && left[1] === axis) states[2] = "partial";
      row.querySelectorAll(".cg-array").forEach((array, i) => {
        const axes = products[k][i][1];
        array.style.setProperty("--r", size[axes[0]]);
        array.style.setProperty("--c", size[axes[1]]);
        array.dataset.state = states[i];
        const parts = ["rows", "columns"].includes(states[i]) ? p : 1;
        const stripes = Array.from({ length: parts }, () => make("i", {}));
        array.querySelector(".cg-box").replaceChildren(...stripes);
      });
      const state = states[2];
      const sent = ((2 * (p - 1)) / p) * ENTRY * size[out[0]] * size[out[1]];
      row.querySelector(".cg-told").textContent =
        state === "partial"
          ? `${name} is partial: all-reduce, ${written(sent)} sent by each`
          : state === "whole"
            ? `${name} is whole: no message`
            : `${name} is cut by ${state}: no message`;
    });
  };
  for (const control of [count, batch, ...choices]) control.addEventListener("input", show);
  bar.hidden = false;
  keepKeys(root);
});
