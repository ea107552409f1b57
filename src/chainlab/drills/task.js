import { Player } from "../../chainview/player/player.js";
import { make, makeButton } from "../../chainview/ui.js";
import { Arrows } from "./arrows.js";
import { Boxes } from "./boxes.js";
import { Keep } from "./keep.js";
import { filled, named } from "./numbers.js";
import { Sequence } from "./sequence.js";
import { Tiles } from "./tiles.js";
import { Typed } from "./typed.js";

const SHEETS = {
  boxes: Boxes,
  messages: Arrows,
  order: Sequence,
  tiles: Tiles,
  keep: Keep,
  typed: Typed,
};

// One problem and its buttons: check, show. Who shows it is told what comes of it.
export class Task {
  constructor(problem, { sheet, pictures, asks, lessons, root, outcome }) {
    Object.assign(this, { problem, pictures, lessons, root, outcome });
    this.clean = true; // nothing was wrong, and nothing shown
    this.solved = false;
    this.sheet = new SHEETS[sheet](problem, pictures, () => this.check(), root);
    this.said = make("p", { class: "cg-words", "aria-live": "polite" });
    this.bar = make("div", { class: "cg-bar" });
    this.show = makeButton("Show me", () => this.play());
    this.bar.append(
      makeButton("Check", () => this.check(), { class: "cg-play" }),
      this.show,
    );
    this.shown = make("div");
    this.element = make("div", { class: "cg-task", "data-name": problem.name });
    this.element.append(
      make("p", { class: "cg-asks", innerHTML: asks }),
      this.sheet.element,
      this.said,
      this.bar,
      this.shown,
    );
  }

  say(words) {
    this.said.innerHTML = words;
  }

  check() {
    const found = this.sheet.check();
    if (found instanceof Promise) found.then((verdict) => this.tell(verdict));
    else this.tell(found);
  }

  tell({ right, wrong, words = "", at }) {
    if (!this.element.isConnected) return; // another problem was opened meanwhile
    if (wrong) {
      this.clean = false;
      this.say(`✗ ${words} ${this.links(wrong)}`);
      this.sheet.focus(at);
      this.outcome("wrong");
    } else if (!right) {
      this.say(words);
      this.sheet.focus(at);
    } else {
      const more = !this.solved && this.outcome(this.clean ? "right" : "mended");
      this.solved = true;
      this.say(`<b>✓ Right.</b> ${words} ${more || ""}`);
    }
  }

  links(names) {
    if (!this.root) return "";
    const lessons = new Set(names.map((name) => this.lessons[name]).filter(Boolean));
    const address = (lesson) => `${this.root}chapters/${lesson.replace("#", ".html#")}`;
    return [...lessons].map((one) => `<a href="${address(one)}">The lesson</a>`).join(" ");
  }

  // The player, on this very problem.
  play() {
    if (this.shown.firstChild) return this.shown.replaceChildren();
    if (!this.solved) {
      this.clean = false;
      this.outcome("shown");
    }
    const { entry, values, names, name } = this.problem;
    const phases = [...new Set(entry.steps.map(([phase]) => phase))];
    const text = (x) => (typeof x === "string" ? named(filled(x, values), names) : x);
    const steps = entry.steps.map(([phase, words, nodes, edge, changes]) => [
      phases.indexOf(phase),
      text(words),
      nodes,
      edge?.map(text) ?? 0,
      changes.map((change) => change.map(text)),
      [],
    ]);
    const start = this.sheet.start();
    const label = `Step by step: ${name}`;
    const root = make("div", { class: "chaingrad-player", role: "group", "aria-label": label });
    const [wide, tall] = this.pictures;
    root.innerHTML = `<div class="cg-frames">${wide}</div><template>${tall}</template>`;
    const data = JSON.stringify({ label, phases, start, steps });
    root.append(make("script", { type: "application/json" }, data));
    this.shown.append(root);
    for (const [node, called] of Object.entries(names)) {
      for (const at of root.querySelectorAll(`[data-node=${node}] .cg-name`))
        at.textContent = called;
    }
    new Player(root).begin();
  }
}
