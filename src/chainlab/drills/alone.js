// A problem by itself, in a notebook.
import { keepKeys, startAll } from "../../chainview/ui.js";
import { draw } from "./problem.js";
import { Task } from "./task.js";

startAll(".chaingrad-player[data-kind=drill]", (root, data) => {
  const { kind, level, seed, name, asks, sheet, entries, mistakes } = data;
  const problem = { ...draw(kind, level, seed, entries), name };
  const [{ pictures }] = entries;
  const task = new Task(problem, { sheet, pictures, asks, mistakes, outcome: () => "" });
  root.querySelector(".cg-live").replaceChildren(task.element);
  task.sheet.fit();
  keepKeys(root);
});
