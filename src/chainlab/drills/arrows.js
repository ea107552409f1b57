import { makeButton } from "../../chainview/ui.js";
import { apart } from "./apart.js";
import { exact, filled } from "./numbers.js";
import { sentence } from "./ramp.js";
import { Sheet } from "./sheet.js";

const HIGH = 26; // of a bubble
const OPERAND = ["first", "second"];

// One message of a backward pass is chosen: that which is wrong.
export class Arrows extends Sheet {
  constructor(...given) {
    super(...given);
    const { entry, variant } = this.problem;
    this.buttons = entry.edges.map((edge, i) => {
      const number = this.number(variant.sent[i]);
      const choose = () => this.choose(i);
      return makeButton(number, choose, {
        "aria-label": `${number} ${edge.says}${this.operand(edge)}`,
        "aria-pressed": "false",
      });
    });
  }

  // Which operand a message goes to, where an operation has two that are one node.
  operand({ ends: [parent, child, which] }) {
    const twins = this.problem.entry.edges.filter(
      ({ ends }) => ends[0] === parent && ends[1] === child,
    );
    return twins.length > 1 ? `, its ${OPERAND[which]} operand` : "";
  }

  number(place) {
    return exact(this.problem.values[place]);
  }

  written() {
    const { sums } = this.problem.variant;
    const grads = Object.entries(sums).map(([node, place]) => {
      return [node, "grad", `grad ${this.number(place)}`];
    });
    return [...super.written(), ...grads];
  }

  over() {
    const pills = this.problem.entry.edges.map(({ ends }, i) => {
      const text = this.shown.edge(...ends).querySelector("text");
      const width = Math.max(28, 12 + 9 * this.buttons[i].textContent.length);
      text.textContent = "";
      const [x, y] = ["x", "y"].map((name) => +text.getAttribute(name));
      return { x: x - width / 2, y: y - 17, width, height: HIGH };
    });
    return apart(pills).map(({ x, y, width }, i) => [this.buttons[i], x, y, width]);
  }

  choose(i) {
    this.chosen = i;
    this.clear();
    this.point("", this.problem.entry.edges[i].ends);
    this.buttons.forEach((one, k) => one.setAttribute("aria-pressed", String(k === i)));
  }

  fillOne() {
    this.choose(this.problem.variant.fault);
  }

  focus() {
    this.buttons[this.chosen ?? 0].focus();
  }

  // A message as the product that it should be: label = above × local = number.
  product(i) {
    const { entry, variant, values } = this.problem;
    const { label, local, ends } = entry.edges[i];
    const above = variant.sums[ends[1]];
    const number = exact(values[above] * values[local]);
    return filled(`${label} = {${above}} × {${local}} = ${number}`, values);
  }

  check() {
    const { chosen } = this;
    if (chosen === undefined) return { words: "Choose a message first." };
    const { entry, variant, values } = this.problem;
    const { fault, alike } = variant;
    const found = `${this.product(fault)}, and not ${this.number(variant.sent[fault])}.`;
    if (chosen === fault) {
      return { right: true, words: `${found} ${sentence(filled(variant.says, values))}` };
    }
    const zero = this.number(variant.sent[chosen]) === "0";
    return {
      place: "all", // whichever message is chosen, the question is the same
      edge: entry.edges[fault].ends,
      label: `${this.number(variant.sent[chosen])}, ${entry.edges[chosen].says},`,
      wrong: [alike[chosen] || "right"],
      isRight: true,
      look: zero ? "A 0 says that nothing changes: that alone is no error" : "Look for another",
      hint: "",
      words: `The wrong message is ${entry.edges[fault].says}: ${found}`,
    };
  }
}
