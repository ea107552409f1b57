// A training step at several batch sizes: a slider chooses one, and its recorded bars are shown.
import { keepKeys, startAll } from "../../chainview/ui.js";

startAll(".chaingrad-step", (root, steps) => {
  const [input, output, said] = ["input", "output", ".cg-words"].map((choice) =>
    root.querySelector(choice),
  );
  const rows = [...root.querySelectorAll(".cg-row")];
  const kinds = root.querySelectorAll("dd");
  const place = (bar, start, end) => {
    bar.style.left = `${start / 100}%`;
    bar.style.width = `${(end - start) / 100}%`;
  };

  const show = () => {
    const { batch, spans, bars, parts, words } = steps[input.value];
    rows.forEach((row, k) => {
      const [start, end] = spans[k];
      place(row.querySelector("b"), start, end);
      row.querySelector("span").textContent = `${Math.round((end - start) / 100)} %`;
      row.querySelectorAll("i").forEach((bar, i) => place(bar, bars[k][2 * i], bars[k][2 * i + 1]));
    });
    kinds.forEach((kind, k) => (kind.textContent = `${parts[k]} %`));
    output.textContent = batch;
    said.textContent = words;
    input.setAttribute("aria-valuetext", `${batch} examples`);
  };
  input.addEventListener("input", show);
  input.parentElement.hidden = false;
  keepKeys(root);
  show();
});
