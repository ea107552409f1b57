// Offers to run the cells of the page. All that running takes is fetched on the first click.
(() => {
  const found = document.getElementById("live-cells");
  if (!found) return;
  const { root, cells } = JSON.parse(found.textContent);
  const boxes = [...document.querySelectorAll("div.cell")].filter((cell) =>
    cell.querySelector(".cell_input"),
  );
  if (boxes.length !== cells.length) {
    console.error(`live cells: the page has ${boxes.length} cells, not ${cells.length}`);
    return;
  }
  const base = new URL(root, location.href);
  let controller;

  const load = () =>
    (controller ??= import(new URL("controller.js", base).href).then((module) =>
      module.start(boxes, cells, base),
    ));

  const button = (name, label, title, act) => {
    const element = document.createElement("button");
    Object.assign(element, { type: "button", className: `live-${name}`, textContent: label, title });
    element.addEventListener("click", act);
    return element;
  };

  const withoutServer = () => {
    const where = "Cells run in pages that come from a web server. In a copy of the course: make serve.";
    status.forEach((line) => (line.textContent = ""));
    return where;
  };

  const status = boxes.map((box, i) => {
    const bar = document.createElement("div");
    const line = document.createElement("span");
    bar.className = "live-bar";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", `Cell ${i + 1}`);
    line.className = "live-status";
    line.setAttribute("role", "status");
    if (cells[i].why) {
      line.append(...elsewhere(cells[i].why));
    } else {
      const act = (what) => async () => {
        if (location.protocol === "file:") line.textContent = withoutServer();
        else
          try {
            (await load())[what](i);
          } catch (error) {
            controller = undefined;
            line.textContent = `This cannot run now: ${error.message}`;
          }
      };
      bar.append(
        button("run", "Run", "Run this cell, and those above it that have not run (Shift+Enter)", act("run")),
        button("edit", "Edit", "Change the code of this cell", act("edit")),
        button("stop", "Stop", "End what runs; the values of all cells are lost", act("stop")),
        button("reset", "Reset", "Bring back the code and output of the book", act("reset")),
      );
      box.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !event.shiftKey || event.defaultPrevented) return;
        event.preventDefault();
        act("run")();
      });
    }
    bar.append(line);
    box.querySelector(".cell_input").append(bar);
    return line;
  });

  function elsewhere(why) {
    const colab = document.querySelector('meta[name="colab"]')?.content;
    const notebook = document.querySelector('link[type="application/x-ipynb+json"]')?.href;
    const link = document.createElement("a");
    link.href = colab ?? notebook ?? "#";
    link.textContent = colab ? "Run it in Colab" : "Download the notebook";
    const says = why.includes("need") ? `This cell ${why}.` : `Not run in the page: ${why}.`;
    return colab || notebook ? [`${says} `, link] : [says];
  }
})();
