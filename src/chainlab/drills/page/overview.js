import { make, makeButton } from "../../../chainview/ui.js";
import { begun, due, stateOf } from "./progress.js";

// All kinds and levels, and what the reader has done of each; a cell leads to its next problem.
export class Overview {
  constructor({ kinds, levels, read, start }) {
    this.kinds = kinds;
    this.levels = levels;
    this.read = read;
    this.left = false;
    this.advice = make("span");
    const ask = makeButton("Where should I start?", start);
    const line = make("p", { class: "cg-start", role: "status" }, ask, this.advice);
    this.sum = make("summary");
    this.table = make("table");
    this.element = make("details", { class: "cg-map" }, this.sum, line, this.table);
    this.table.addEventListener("click", ({ target }) => {
      if (target.closest("a")) this.leave();
    });
  }

  // Fold it for the problem that was chosen in it, which gets the focus once it is there.
  leave() {
    this.left = this.element.contains(document.activeElement);
    this.element.open = false;
  }

  // The address of what comes next on a level: what is due, else the next of its series.
  address(name, level) {
    const kept = this.read(name);
    const { seeds } = begun(kept);
    const seed = due(kept, false, level)?.seed ?? (seeds[level] ?? 0) + 1;
    return `#${name}-${level}-${seed}`;
  }

  cell({ name, title }, level) {
    const [mark, says] = stateOf(this.read(name), level);
    const about = {
      href: this.address(name, level),
      "aria-label": `${title}, level ${level}: ${says}`,
    };
    return make("td", {}, make("a", { ...about, "data-state": says }, mark));
  }

  show() {
    const levels = Array.from({ length: this.levels }, (_, i) => i + 1);
    const passed = this.kinds.reduce((sum, { name }) => sum + begun(this.read(name)).passed, 0);
    this.sum.textContent = `All problems: ${passed} of ${this.kinds.length * this.levels} levels passed`;
    const head = levels.map((level) => make("th", { scope: "col" }, `Level ${level}`));
    const rows = this.kinds.map((kind) => {
      const cells = levels.map((level) => this.cell(kind, level));
      return make("tr", {}, make("th", { scope: "row" }, kind.title), ...cells);
    });
    this.table.replaceChildren(
      make("thead", {}, make("tr", {}, make("td"), ...head)),
      make("tbody", {}, ...rows),
    );
  }
}
