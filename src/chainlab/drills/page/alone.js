// A problem by itself, in a notebook.
import { keepKeys, startAll } from "../../../chainview/ui.js";
import { Task } from "./task.js";

startAll(".chaingrad-player[data-kind=drill]", (root, data) => {
  const { asks, sheet, pictures, mistakes, ...problem } = data;
  const task = new Task(problem, { sheet, pictures, asks, mistakes, outcome: () => "" });
  root.querySelector(".cg-live").replaceChildren(task.element);
  task.sheet.fit();
  keepKeys(root);
});
