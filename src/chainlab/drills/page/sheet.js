import { Drawing, fitting } from "../../../chainview/player/drawing.js";
import { make } from "../../../chainview/ui.js";

// Call the nodes of a picture as a problem does, in the formulas of others, too.
const rename = (picture, names) => {
  const called = {};
  for (const [node, name] of Object.entries(names)) {
    const title = picture.querySelector(`[data-node=${node}] .cg-name`);
    called[title.textContent] = name;
    title.textContent = name;
  }
  for (const note of picture.querySelectorAll(".cg-note")) {
    note.textContent = note.textContent.replace(/\b[a-z]\b/g, (letter) => called[letter] ?? letter);
  }
};

// The drawings of a problem.
export const drawn = ({ names }, pictures) => {
  const parsed = new DOMParser().parseFromString(pictures.join(""), "text/html");
  const svgs = [...parsed.querySelectorAll("svg")];
  for (const svg of svgs) rename(svg, names);
  return svgs;
};

// A graph to be answered in. Of its two drawings the first that fits is shown.
export class Sheet {
  constructor(problem, pictures, done) {
    this.problem = problem;
    this.done = done;
    this.drawings = drawn(problem, pictures).map((svg) => {
      svg.style.cssText = "";
      svg.setAttribute("role", "group"); // no mere picture: its texts are read, its nodes chosen
      return new Drawing(svg);
    });
    for (const change of problem.entry.written) {
      for (const drawing of this.drawings) drawing.put(...change);
    }
    this.canvas = make("div", { class: "cg-canvas" });
    this.element = make("div", { class: "cg-scroll", role: "group", "aria-label": "Graph" });
    this.element.append(this.canvas);
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  // What stands in the nodes before the first step.
  start() {
    return this.problem.entry.written.filter(([, slot]) => slot.startsWith("data"));
  }

  groups(node) {
    return this.drawings.map(({ nodes }) => nodes[node].group);
  }

  // What stands over the drawing: elements, and where their place is.
  over() {
    return [];
  }

  fit() {
    const room = (this.element.clientWidth - 8) / (+getComputedStyle(this.canvas).zoom || 1);
    if (room <= 0) return;
    const shown = fitting(this.drawings, room); // numbers to be typed are not made smaller
    if (shown === this.shown) return;
    this.shown = shown;
    const [left, top] = shown.svg.firstElementChild
      .getAttribute("transform")
      .match(/translate\((\S+)[ ,](\S+)\)/)
      .slice(1)
      .map(Number);
    const held = /** @type {HTMLElement} */ (document.activeElement);
    const over = this.over();
    this.canvas.style.width = `${shown.width}px`;
    this.canvas.replaceChildren(shown.svg, ...over.map(([element]) => element));
    for (const [{ style }, x, y, width] of over) {
      Object.assign(style, { left: `${left + x}px`, top: `${top + y}px`, width: `${width}px` });
    }
    if (this.canvas.contains(held)) held.focus();
  }

  // Mark a node, and the edge along which something went wrong.
  point(node, edge) {
    for (const drawing of this.drawings) {
      drawing.nodes[node]?.group.classList.add("cg-on");
      if (edge) drawing.edge(...edge).classList.add("cg-on");
    }
  }

  clear() {
    for (const { svg } of this.drawings) {
      for (const on of svg.querySelectorAll(".cg-on")) on.classList.remove("cg-on");
    }
  }
}
