// Three programs of one function: the reader chooses x, which input changes, and steps through.
import { Transport } from "../../chainview/transport.js";
import { keepKeys, startAll } from "../../chainview/ui.js";

const written = (x, digits) =>
  (Math.round(x * 10 ** digits) / 10 ** digits + 0).toFixed(digits).replace("-", "−");

startAll(".chaingrad-three", (root, { lines, recorded, mirrors, step }) => {
  const [slider, controls, told] = [".cg-controls input", ".cg-controls", ".cg-told"].map((s) =>
    root.querySelector(s),
  );
  const all = (selector) => [...root.querySelectorAll(selector)];
  const [picks, rows, words, results] = [
    ".cg-bar button",
    ".cg-line",
    ".cg-told div",
    ".cg-out",
  ].map(all);
  const theirs = all(".cg-jax span b");
  const ends = [2, 7, 11]; // the last line of each program
  const compute = {
    sin: (a) => Math.sin(a),
    mul: (a, b) => a * b,
    add: (a, b) => a + b,
  };
  let changed = 0; // x, or y

  const show = () => {
    const x = +slider.value;
    const v = { x, y: 2, 2: 2, c: Math.cos(x), dx: 1 - changed, dy: changed, r̄: 1 };
    for (const [name, operation, operands] of lines) {
      v[name] = compute[operation](...operands.split(" ").map((operand) => v[operand]));
    }
    all("[data-v]").forEach((b) => (b.textContent = written(v[b.dataset.v], +b.dataset.d)));
    recorded[Math.round(x / step)].forEach((g, i) => (theirs[i].textContent = written(g, 4)));
    slider.setAttribute("aria-valuetext", `x is ${written(x, 1)}`);
  };
  const light = (k) => {
    const name = lines[k][0];
    rows.forEach((row, i) => {
      const it = row.dataset.line;
      row.classList.toggle("cg-lit", i === k);
      row.classList.toggle("cg-later", i > k);
      row.classList.toggle("cg-mirror", i < k && mirrors[it] === name);
    });
    results.forEach((result, i) => result.classList.toggle("cg-later", ends[i] > k));
    words.forEach((text, i) => (text.hidden = i !== k));
    return words[k].textContent;
  };
  const transport = new Transport(lines.length, light);
  picks.forEach((pick, chosen) => {
    pick.addEventListener("click", () => {
      changed = chosen;
      picks.forEach((other, i) => other.setAttribute("aria-pressed", String(i === chosen)));
      show();
    });
  });
  slider.addEventListener("input", show);
  told.before(transport.bar);
  controls.hidden = false;
  keepKeys(root);
  show();
  transport.put(lines.length - 1);
});
