// A problem by itself, in a notebook.
for (const root of document.querySelectorAll(
  ".chaingrad-player[data-kind=drill]:not([data-ready])",
)) {
  const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const { kind, level, seed, name, asks, sheet, entries } = data;
  root.dataset.ready = "";
  const problem = { ...draw(kind, level, seed, entries), name };
  const task = new Task(problem, { sheet, pictures: entries[0].pictures, asks, outcome: () => "" });
  root.querySelector(".cg-live").replaceChildren(task.element);
  task.sheet.fit();
  root.addEventListener("keydown", (event) => {
    // a notebook has its own use for most keys
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
}
