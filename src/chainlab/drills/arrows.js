import { makeButton } from "../../chainview/ui.js";
import { exact, filled } from "./numbers.js";
import { Sheet } from "./sheet.js";

// One message of a backward pass is chosen: that which is wrong.
export class Arrows extends Sheet {
  constructor(...given) {
    super(...given);
    const { entry, variant } = this.problem;
    this.buttons = entry.edges.map(({ says }, i) => {
      const number = this.number(variant.sent[i]);
      const choose = () => this.choose(i);
      return makeButton(number, choose, {
        "aria-label": `${number} ${says}`,
        "aria-pressed": "false",
      });
    });
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
    return this.problem.entry.edges.map(({ ends }, i) => {
      const text = this.shown.edge(...ends).querySelector("text");
      const width = Math.max(28, 12 + 9 * this.buttons[i].textContent.length);
      text.textContent = "";
      const [x, y] = ["x", "y"].map((name) => +text.getAttribute(name));
      return [this.buttons[i], x - width / 2, y - 17, width];
    });
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

  check() {
    const { chosen } = this;
    if (chosen === undefined) return { words: "Choose a message first." };
    const { entry, variant, values } = this.problem;
    const { label, local, child, parent, ends } = entry.edges[chosen];
    const above = variant.sums[ends[1]];
    const product = filled(`${label} = {${above}} × {${local}}`, values);
    const here = this.number(variant.sent[chosen]);
    if (chosen === variant.fault) {
      return {
        right: true,
        words: `${filled(variant.says, values)}. ${product}, and not ${here}.`,
      };
    }
    const zero = here === "0" ? " Nothing is wrong with a 0: it says that nothing changes." : "";
    const why = {
      "passed on": `But what ${child} holds is wrong already: go back towards the root.`,
      beside: `The sum at ${parent} is wrong, and another of its messages makes it so.`,
      "same sender": `${child} holds what it should, and sends something wrong elsewhere.`,
      "": `Neither what ${child} holds nor its local gradient is wrong here.`,
    }[variant.alike[chosen]];
    return {
      wrong: [variant.alike[chosen] || "right"],
      words: `<b>This one is right for what had come</b>: ${product} = ${here}. ${why}${zero}`,
    };
  }
}
