import { actAsButton } from "../../../chainview/ui.js";
import { Sheet } from "./sheet.js";

// Nodes are chosen: which of the two, or in which order, is for those that extend it.
export class Choice extends Sheet {
  constructor(problem, pictures, done) {
    super(problem, pictures, done);
    this.chosen = [];
    for (const node of Object.keys(this.problem.entry.says)) {
      for (const box of this.groups(node)) actAsButton(box, () => this.choose(node));
    }
    this.show();
  }

  choose(node) {
    const { chosen } = this;
    this.chosen = chosen.includes(node) ? chosen.filter((one) => one !== node) : [...chosen, node];
    this.clear();
    this.show();
  }

  // The mark of a chosen node, and how it is spoken.
  mark(place) {
    return [`#${place}`, `number ${place}`];
  }

  show() {
    for (const [node, says] of Object.entries(this.problem.entry.says)) {
      const place = this.chosen.indexOf(node) + 1;
      const [mark, spoken] = place ? this.mark(place) : ["", "not chosen"];
      for (const box of this.groups(node)) {
        box.setAttribute("aria-label", `${says}: ${spoken}`);
      }
      for (const drawing of this.drawings) drawing.put(node, "number", mark);
    }
  }

  get draft() {
    return this.chosen;
  }

  set draft(chosen) {
    this.chosen = chosen;
    this.show();
  }

  // What is right, in the order in which it is chosen.
  get wanted() {
    const { order, right } = this.problem.entry;
    return order ?? right;
  }

  fillOne() {
    const next = this.wanted.find((node) => !this.chosen.includes(node));
    if (next) this.choose(next);
  }

  // What is said of the first wrong node; the mistake is that of all that is chosen, or the usual.
  told(node, words, name, usual) {
    this.point(node);
    const [label] = this.problem.entry.says[node].split(",");
    return { at: node, node, label, wrong: [name ?? usual], words };
  }

  focus(node = Object.keys(this.problem.entry.says)[0]) {
    this.shown.nodes[node].group.focus();
  }
}
