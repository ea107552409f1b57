// Memory: drag the batch, the width and the size of a device; the bars say what fits.
import { keepKeys, startAll } from "../../chainview/ui.js";

const KINDS = ["parameters", "gradients", "state", "examples", "values"];
const written = (bytes) => `${(bytes / 1e6).toFixed(2)}\u00a0MB`;

startAll(".chaingrad-memory", (root, data) => {
  const { inputs: d, outputs: q, item: k, states, choices } = data;
  const sliders = [...root.querySelectorAll(".cg-size input")];
  const picks = [...root.querySelectorAll("button")];
  const bars = [...root.querySelectorAll(".cg-row")];
  const [rows, words] = [".cg-rows", ".cg-words"].map((part) => root.querySelector(part));
  let { optimizer, cut } = data;

  const trains = (n, h) => {
    const device = (weights, examples, values) => [
      weights,
      weights,
      states[optimizer] * weights,
      examples,
      values,
    ];
    const [P, half] = [h * (d + q), h / 2];
    const [oneHalf, each] = [half * (d + q), device(P, (n / 2) * (d + q), (n / 2) * (h + q))];
    const devices = {
      layers: [device(h * d, n * d, n * h), device(q * h, n * q, n * (h + q))],
      units: [device(oneHalf, n * d, n * half), device(oneHalf, n * (d + q), n * (half + q))],
      batch: [each, each],
    }[cut];
    return [device(P, n * (d + q), n * (h + q)), ...devices];
  };
  const show = () => {
    const [n, h, limit] = sliders.map((slider, i) => choices[i][slider.value]);
    const predicts = [h * (d + q), 0, 0, n * d, n * h + n * Math.max(h, q)];
    const found = [predicts, ...trains(n, h)].map((row) => row.map((size) => k * size));
    const totals = found.map((row) => row.reduce((sum, size) => sum + size, 0));
    const most = Math.max(...totals, limit * 1e6);
    const scale = 2 ** Math.ceil(Math.log2((1.06 * most) / 1e6)) * 1e6;
    bars.forEach((bar, i) => {
      KINDS.forEach((kind, j) => {
        bar.querySelector(`.cg-${kind}`).style.width = `${(100 * found[i][j]) / scale}%`;
      });
      bar.querySelector("b").textContent = written(totals[i]);
      bar.classList.toggle("cg-over", totals[i] > limit * 1e6);
    });
    rows.style.setProperty("--limit", `${(1e8 * limit) / scale}%`);
    sliders.forEach((slider, i) => {
      const text = choices[i][slider.value].toLocaleString("en");
      slider.setAttribute("aria-valuetext", text);
      slider.previousElementSibling.textContent = text;
    });
    for (const pick of picks) {
      const isOn = [optimizer, cut].includes(pick.dataset.pick);
      pick.setAttribute("aria-pressed", String(isOn));
    }
    const [predicted, trained, ...devices] = totals;
    const crossing = 2 * k * { layers: n * h, units: n * q, batch: h * (d + q) }[cut];
    words.textContent =
      `Prediction takes ${written(predicted)}; training takes ${written(trained)}, ` +
      `${(trained / predicted).toFixed(1)} times as much. Over two devices it’s ` +
      `${devices.map(written).join(" and ")}, and ${(crossing / 1e6).toFixed(3)}\u00a0MB cross in ` +
      `each step.`;
  };
  sliders.forEach((slider) => slider.addEventListener("input", show));
  for (const pick of picks) {
    pick.addEventListener("click", () => {
      if (pick.dataset.pick in states) optimizer = pick.dataset.pick;
      else cut = pick.dataset.pick;
      show();
    });
  }
  root.querySelector(".cg-controls").hidden = false;
  keepKeys(root);
  show();
});
