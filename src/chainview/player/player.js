import { Transport } from "../transport.js";
import { dataOf, make } from "../ui.js";
import { Details, Phases, Words } from "./parts.js";
import { Stage } from "./stage.js";

// Shows one step of a graph after the other; see player.py for what it reads.
export class Player {
  constructor(root) {
    const { label, phases, start, steps } = dataOf(root);
    this.root = root;
    this.steps = steps.map(([phase, words, nodes, edge, changes, entries]) => {
      return { phase, title: phases[phase], words, nodes, edge, changes, entries };
    });
    this.at = -1; // which step is shown
    this.build(phases, label);
    this.stage.put(start);
    this.undo = this.before(start);
  }

  build(phases, label) {
    const { root, steps } = this;
    const frames = [...root.querySelectorAll(".cg-frames svg.chaingrad")];
    const others = root.querySelector("template").content.querySelectorAll("svg");
    const jump = (i) => this.go(steps.findIndex(({ phase }) => phase === i));
    this.stage = new Stage([frames.at(-1), ...others], label);
    this.phases = new Phases(phases, jump);
    this.words = new Words(steps);
    this.bar = new Transport(steps.length, (k) => this.show(k));
    this.details = new Details();
    const live = make("div", { class: "cg-live" });
    if (phases.length > 1) live.append(this.phases.bar);
    live.append(this.stage.place, this.bar.bar, this.words.place);
    if (steps.some(({ entries }) => entries.length)) live.append(this.details.fold);
    root.querySelector("script").before(live);
  }

  // What stood where a step writes, for each step.
  before(start) {
    const now = Object.fromEntries(start.map(([node, slot, text]) => [node + slot, text]));
    const note = ([node, slot, text]) => {
      const known = now[node + slot];
      now[node + slot] = text;
      return [node, slot, known];
    };
    return this.steps.map(({ changes }) => changes.map(note));
  }

  begin() {
    this.root.dataset.ready = "";
    this.fit();
    this.bar.put(0);
    new ResizeObserver(() => this.fit()).observe(this.root);
    window.addEventListener("resize", () => this.fit());
    this.bar.listen(this.root);
  }

  // Leave the graph as much height as the words and the controls do not take.
  fit() {
    const page = document.scrollingElement || document.documentElement;
    const framed = window !== window.top; // a frame may be as high as what it holds
    const view = framed ? screen.availHeight * 0.8 : page.clientHeight;
    const above = parseFloat(getComputedStyle(page).scrollPaddingTop) || 0; // a fixed header
    const rest = [this.phases.bar, this.words.place, this.bar.bar, this.details.fold.firstChild];
    const room = rest.reduce((left, part) => left - part.offsetHeight, view - above);
    if (this.stage.fit(room) && this.at >= 0) this.stage.mark(this.steps[this.at], this.bar.beat);
  }

  show(to) {
    while (this.at < to) this.stage.put(this.steps[++this.at].changes);
    while (this.at > to) this.stage.put(this.undo[this.at--]);
    const step = this.steps[to];
    this.stage.mark(step, this.bar.beat);
    this.stage.reveal(step);
    for (const part of [this.words, this.phases, this.details]) part.show(step);
    return step.title;
  }

  go(k) {
    this.bar.go(k);
  }
}
