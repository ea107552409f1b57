// Offers to run the cells of the page and to check answers. All that this takes is fetched when
// somebody is about to run something: has rested on a button or in an editor, or ran something before.
(() => {
  const found = document.getElementById("live-cells");
  if (!found) return;
  const told = JSON.parse(found.textContent);
  const boxes = [...document.querySelectorAll("div.cell:has(.cell_input)")];
  const places = [...document.querySelectorAll("div.live-answer")];
  if (boxes.length !== told.cells.length || places.length !== told.answers.length) {
    console.error(
      `live cells: the page has ${boxes.length} cells and ${places.length} answers, ` +
        `not ${told.cells.length} and ${told.answers.length}`,
    );
    return;
  }
  const base = new URL(told.root, location.href);
  let controller;

  const load = () =>
    (controller ??= import(new URL("controller.js", base).href).then((module) =>
      module.start(boxes, places, told, base),
    ));

  const VERBS = {
    cells: [
      ["run", "Run", "Run this cell, and those above it that have not run (Shift+Enter)"],
      ["stop", "Stop", "End what runs; the values of all cells are lost"],
      ["edit", "Edit", "Change the code of this cell"],
      ["reset", "Reset", "Bring back the code and output of the book"],
      ["undo", "Undo", "Bring back what Reset took"],
    ],
    answers: [
      ["run", "Check", "Run the checks on this answer (Shift+Enter)"],
      ["stop", "Stop", "End what runs; the values of all cells are lost"],
      ["edit", "Answer", "Write your answer here"],
      ["reset", "Reset", "Start again from the code of the book"],
      ["undo", "Undo", "Bring back what Reset took"],
    ],
  };

  const FILE = [
    ["download", "Download", "Have this file, as it stands here"],
    ["open", "Open", "Put a file of yours in the place of this one"],
  ];

  /** Put the controls below some code; `kind` and `i` say which it is. */
  function equip(box, bar, kind, i) {
    const line = bar.querySelector(".live-status");
    const act = (what) => async () => {
      if (location.protocol === "file:") withoutServer(line);
      else
        try {
          (await load())(what, kind, i);
        } catch (error) {
          controller = undefined;
          line.textContent = `This cannot run now: ${error.message}`;
        }
    };
    const verbs = kind === "cells" && told.cells[i].file ? [...VERBS.cells, ...FILE] : VERBS[kind];
    const buttons = verbs.map(([what, label, title]) =>
      makeButton(label, act(what), { className: `live-${what}`, title }),
    );
    const [run, stop, ...others] = buttons;
    bar.prepend(make("span", { className: "live-turn" }, run, stop), ...others);
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.shiftKey || event.defaultPrevented) return;
      event.preventDefault();
      act("run")();
    });
  }

  function toolbar(name) {
    const line = make("span", { className: "live-status", role: "status" });
    const note = make("span", { className: "live-note" });
    const says = make("span", { className: "live-says" }, line, " ", note);
    const bar = { className: "live-bar d-print-none", role: "group", ariaLabel: name };
    return make("div", bar, says);
  }

  function withoutServer(line) {
    document
      .querySelectorAll(".live-turn ~ .live-says > .live-status")
      .forEach((each) => (each.textContent = ""));
    line.textContent =
      "Cells run in pages that come from a web server. In a copy of the course: make serve.";
  }

  // Where cells run that cannot run here.
  const colab = document.querySelector('meta[name="colab"]')?.getAttribute("content");
  const notebook = document
    .querySelector('link[type="application/x-ipynb+json"]')
    ?.getAttribute("href");
  told.elsewhere = {
    href: colab ?? notebook ?? "#",
    textContent: colab ? "Run it in Colab" : "Download the notebook",
  };

  function elsewhere(why) {
    const says = why.includes("need") ? `This cell ${why}.` : `Not run in the page: ${why}.`;
    return [`${says} `, make("a", told.elsewhere)];
  }

  const isSaidAbove = (why) => Boolean(told.need && why?.endsWith(told.need));

  /** Say once, at the top, what most cells of the page need: below each, it would drown the others. */
  function sayAbove() {
    const most = told.cells.every(({ why }) => isSaidAbove(why)) ? "" : "most of ";
    const says = `A browser can't run ${most}this page's code: it ${told.need}. `;
    const links = [make("a", told.elsewhere)];
    if (colab && notebook)
      links.push(make("a", { href: notebook, textContent: "Download the notebook" }));
    const parts = links.flatMap((link) => [link, " "]);
    const head = document.querySelector("article .at-a-glance") ?? document.querySelector("h1");
    head?.after(make("p", { className: "live-need d-print-none" }, says, ...parts));
  }
  if (told.need) sayAbove();

  /** A link that hands what a cell is made of to the workbench. */
  function opening({ view, cells }) {
    const sources = kept.sourcesHere();
    const text = cells.map((i) => sources[i].trimEnd()).join("\n");
    const link = make("a", { href: told.workbench.address, textContent: "Open in the workbench" });
    link.onclick = () => kept.put(told.workbench.page, "bench", "came", { text, view });
    return link;
  }

  boxes.forEach((box, i) => {
    const made = toolbar(`Cell ${i + 1}`);
    made.append(make("span", { className: "live-number" }, `cell ${i + 1}`));
    box.querySelector(".cell_input").append(made);
    const line = made.querySelector(".live-status");
    const { why, idle, takes, opens } = told.cells[i];
    made.hidden = isSaidAbove(why);
    if (why) line.append(...elsewhere(why));
    else if (!idle) {
      equip(box, made, "cells", i);
      line.textContent = takes ?? "";
      if (opens && told.workbench) made.querySelector(".live-says").before(opening(opens));
    }
  });

  places.forEach((place, i) => {
    const made = toolbar(`Your answer to “${told.answers[i].title}”`);
    place.append(made);
    equip(place, made, "answers", i);
  });

  if (location.protocol === "file:") return;
  if (kept.read(told.page).code) load();

  const REST = 300; // ms of the pointer or the focus
  const PLACES = ".live-run, .live-edit, .live-editor:not(.bench-desk)";
  const begin = async () => {
    if (!navigator["connection"]?.saveData) (await load())("begin");
  };
  let timer;
  for (const event of ["pointerover", "focusin"])
    document.addEventListener(event, ({ target }) => {
      clearTimeout(timer);
      if (target instanceof Element && target.closest(PLACES)) timer = setTimeout(begin, REST);
    });
  const canRun = document.querySelector(".live-run");
  if (canRun && !document.getElementById("workbench")) kept.again(begin);
})();
