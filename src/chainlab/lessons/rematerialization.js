// The arrays alive in a training step, and layers whose result the reader keeps or drops.
import { keepKeys, make, makeShape, startAll } from "../../chainview/ui.js";

// What is alive at each operation: [kind, results, adjoints], as `moments` in Python has it.
export const moments = (marks, layers) => {
  const step = [];
  let held = 0;
  for (let layer = 1; layer <= layers; layer++) {
    const before = layer > 1 && !marks.includes(layer - 1) ? 1 : 0;
    step.push(["forward", held + before + 1, 0]);
    if (marks.includes(layer)) held++;
  }
  for (let i = marks.length - 1; i >= 0; i--) {
    const long = marks[i] - (i ? marks[i - 1] : 0);
    held--;
    if (long > 1) for (let n = 1; n <= long; n++) step.push(["again", held + n, 1]);
    for (let n = long; n; n--) step.push(["backward", held + n, 2]);
  }
  return step;
};

startAll(".chaingrad-alive", (root, { layers, mib, flops, left, top, high, step, most }) => {
  const bar = root.querySelector(".cg-layers");
  const presets = root.querySelector(".cg-presets");
  const columns = root.querySelector(".cg-columns");
  const boxes = [...bar.children];
  const height = top + most * high;

  const show = () => {
    const marks = boxes.flatMap((box, i) => (box.ariaPressed === "true" ? [i + 1] : []));
    const course = moments(marks, layers);
    const peak = Math.max(...course.map(([, results, adjoints]) => results + adjoints));
    const again = course.filter(([kind]) => kind === "again").length;
    const shapes = course.flatMap(([kind, results, adjoints], i) => {
      const column = (name, from, tall) =>
        makeShape("rect", {
          class: `cg-${name}`,
          x: left + i * step,
          y: height - (from + tall) * high,
          width: step - 1,
          height: tall * high,
        });
      return [column(kind, 0, results), column("adjoint", results, adjoints)];
    });
    columns.replaceChildren(...shapes);
    const line = `M${left} ${height - peak * high}H${left + 3 * layers * step}`;
    root.querySelector(".cg-peak").setAttribute("d", line);
    const plain = 3 * layers - 1;
    const bold = (text) => make("b", {}, text);
    root
      .querySelector(".cg-words")
      .replaceChildren(
        "At most ",
        bold(`${peak} arrays`),
        ` are alive, ${(peak * mib).toFixed(1)} MiB. Run again: `,
        bold(`${again} layers`),
        `, ${((again * flops) / 1e9).toFixed(2)} GFLOPs, `,
        `${((100 * again) / plain).toFixed(0)} % more than the step's ${plain} products.`,
      );
  };

  for (const box of boxes)
    box.addEventListener("click", () => {
      box.ariaPressed = String(box.ariaPressed !== "true");
      show();
    });
  for (const button of presets.children)
    button.addEventListener("click", () => {
      const every = Number(button.dataset.every);
      boxes.forEach((box, i) => {
        box.ariaPressed = String((i + 1) % every === 0);
      });
      show();
    });
  bar.hidden = presets.hidden = false;
  keepKeys(root);
});
