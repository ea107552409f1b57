import { makeButton } from "../../../chainview/ui.js";
import { apart } from "./apart.js";
import { sentence } from "./ramp.js";
import { Sheet } from "./sheet.js";

const HIGH = 26; // of a bubble
const OPERAND = ["first", "second"];

// One message of a backward pass is chosen: that which is wrong.
export class Arrows extends Sheet {
  constructor(...given) {
    super(...given);
    this.buttons = this.edges.map((edge, i) => {
      return makeButton(edge.number, () => this.choose(i), {
        "aria-label": `${edge.number} ${edge.says}${this.operand(edge)}`,
        "aria-pressed": "false",
      });
    });
  }

  get edges() {
    return this.problem.entry.edges;
  }

  // Which operand a message goes to, where an operation has two that are one node.
  operand({ ends: [parent, child, which] }) {
    const twins = this.edges.filter(({ ends }) => ends[0] === parent && ends[1] === child);
    return twins.length > 1 ? `, its ${OPERAND[which]} operand` : "";
  }

  over() {
    const pills = this.edges.map(({ ends }, i) => {
      const texts = [...this.shown.edge(...ends).querySelectorAll("text")];
      const width = Math.max(28, 12 + 9 * this.buttons[i].textContent.length);
      const [x, y] = ["x", "y"].map(
        (name) => texts.reduce((sum, text) => sum + +text.getAttribute(name), 0) / texts.length,
      );
      return { x: x - width / 2, y: y - 4 - HIGH / 2, width, height: HIGH };
    });
    return apart(pills).map(({ x, y, width }, i) => [this.buttons[i], x, y, width]);
  }

  choose(i) {
    this.chosen = i;
    this.clear();
    this.point("", this.edges[i].ends);
    this.buttons.forEach((one, k) => one.setAttribute("aria-pressed", String(k === i)));
  }

  fillOne() {
    this.choose(this.problem.entry.fault);
  }

  focus() {
    this.buttons[this.chosen ?? 0].focus();
  }

  check() {
    const { chosen } = this;
    if (chosen === undefined) return { words: "Choose a message first." };
    const { fault, says } = this.problem.entry;
    const [here, wrong] = [this.edges[chosen], this.edges[fault]];
    const found = `${wrong.product} = ${wrong.right}, and not ${wrong.number}.`;
    if (chosen === fault) return { right: true, words: `${found} ${sentence(says)}` };
    const zero = here.number === "0";
    return {
      place: "all", // whichever message is chosen, the question is the same
      edge: wrong.ends,
      label: `The ${here.number} ${here.says}`,
      wrong: [here.alike || "right"],
      where: "was computed rightly",
      look: zero ? "A 0 says that nothing changes, and that alone is no error" : "Look for another",
      hint: "",
      words: `The wrong message is ${wrong.says}: ${found}`,
    };
  }
}
