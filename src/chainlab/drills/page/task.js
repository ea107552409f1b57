import { Player } from "../../../chainview/player/player.js";
import { make, makeButton, reveal } from "../../../chainview/ui.js";
import { Arrows } from "./arrows.js";
import { Boxes } from "./boxes.js";
import { Keep } from "./keep.js";
import { stepAt } from "./problem.js";
import { rowsOf, stageOf, wordsFor } from "./ramp.js";
import { Sequence } from "./sequence.js";
import { drawn } from "./sheet.js";
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
  constructor(problem, { sheet, pictures, asks, mistakes, lesson = ["", ""], root = "", outcome }) {
    this.problem = problem;
    this.pictures = pictures;
    this.mistakes = mistakes;
    this.lesson = lesson; // for a wrong answer that no mistake explains
    this.root = root;
    this.outcome = outcome;
    this.tries = {}; // how often a wrong answer was given at a place
    this.failed = new Set(); // the parts with a wrong answer
    this.lost = false; // more than one of them, or all of it shown
    this.solved = false;
    this.sheet = new SHEETS[sheet](problem, pictures, () => this.check(), root);
    this.said = make("p", { class: "cg-words", "aria-live": "polite" });
    this.bar = make("div", { class: "cg-bar" });
    this.show = makeButton("Show me", () => this.toggle());
    this.bar.append(
      makeButton("Check", () => this.check(), { class: "cg-play" }),
      this.show,
    );
    this.foot = make("div", { class: "cg-foot" }, this.said, this.bar);
    this.shown = make("div");
    this.element = make("div", { class: "cg-task", "data-name": problem.name });
    this.element.append(
      make("p", { class: "cg-asks", innerHTML: asks }),
      this.sheet.element,
      this.foot,
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

  tell(found) {
    if (!this.element.isConnected) return; // another problem was opened meanwhile
    const { right, wrong, words = "", at } = found;
    if (wrong) {
      this.correct(found);
    } else if (!right) {
      this.say(words);
      this.sheet.focus(at);
    } else {
      const more = !this.solved && this.outcome(this.result);
      this.solved = true;
      this.say(`<b>✓ Right.</b> ${words} ${more || ""}`);
    }
  }

  // What came of it: of a problem in parts, one may go wrong.
  get result() {
    if (this.lost) return "mended";
    return this.failed.size ? "part" : "right";
  }

  // Say a little more of a place at each wrong answer to it; at last play its step.
  correct(found) {
    const { at, place = String(at), part = "" } = found;
    const tries = (this.tries[place] = (this.tries[place] ?? 0) + 1);
    this.fail(part);
    this.say(`✗ ${wordsFor(found, tries, this.mistakes)} ${this.links(found, tries)}`);
    this.sheet.focus(at);
    if (stageOf(tries) === "number") this.play(found);
  }

  // One part of several may go wrong before the problem does.
  fail(part) {
    if (part) this.failed.add(part);
    if (part && this.failed.size === 1) return;
    this.lost = true;
    this.outcome("wrong");
  }

  links({ wrong }, tries) {
    if (!this.root || stageOf(tries) === "where") return "";
    const lessons = new Map(rowsOf(this.mistakes, wrong).map(([, , to, page]) => [page, to]));
    if (!lessons.size) lessons.set(this.lesson[0], this.lesson[1]);
    const address = (lesson) => `${this.root}chapters/${lesson.replace("#", ".html#")}`;
    return [...lessons].map(([page, to]) => `<a href="${address(to)}">${page}</a>`).join(" · ");
  }

  toggle() {
    if (this.shown.firstChild) return this.shown.replaceChildren();
    if (!this.solved) this.fail("");
    this.play();
  }

  // The player, on this very problem: at the step of a place, or at the first.
  play(place) {
    const { entry, name } = this.problem;
    const phases = [...new Set(entry.steps.map(([phase]) => phase))];
    const steps = entry.steps.map(([phase, words, nodes, edge, changes]) => [
      phases.indexOf(phase),
      words,
      nodes,
      edge ?? 0,
      changes,
      [],
    ]);
    const start = this.sheet.start();
    const label = `Step by step: ${name}`;
    const root = make("div", { class: "chaingrad-player", role: "group", "aria-label": label });
    const [wide, ...others] = drawn(this.problem, this.pictures);
    const template = make("template");
    template.content.append(...others);
    root.append(make("div", { class: "cg-frames" }, wide), template);
    const data = JSON.stringify({ label, phases, start, steps });
    root.append(make("script", { type: "application/json" }, data));
    this.shown.replaceChildren(root);
    const player = new Player(root);
    player.begin();
    if (place) player.go(place.step ?? stepAt(entry.steps, place));
    reveal(this.shown, this.foot);
  }
}
