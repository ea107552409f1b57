import { escaped } from "../../../chainview/ui.js";
import { Fields } from "./fields.js";
import { exact } from "./small_numbers.js";
import { judge } from "./problem.js";
import { sentence, sentences } from "./ramp.js";
import { numbersIn } from "./reading.js";

// Numbers are written into the nodes.
export class Boxes extends Fields {
  constructor(problem, pictures, done) {
    super(problem, pictures, done);
    this.fields = this.boxes.map(({ label, says }, i) =>
      this.field(i, says, { placeholder: label.replace(/<[^>]*>/g, "") }),
    );
  }

  get boxes() {
    return this.problem.entry.boxes;
  }

  over() {
    return this.boxes.map(({ node, slot, column: [place, columns] = [0, 1] }, i) => {
      const { group, [slot]: text } = this.shown.nodes[node];
      const frame = group.querySelector(".cg-box");
      const [x, whole] = ["x", "width"].map((name) => +frame.getAttribute(name));
      const width = (whole - 4) / columns;
      const left = x + 4 + place * width;
      return [this.fields[i], left, +text.getAttribute("y") - 11, width - 4];
    });
  }

  // What is written in each box: the numbers that it may mean; nothing where it is empty.
  read() {
    return this.fields.map(({ value }) => (value.trim() ? numbersIn(value) : undefined));
  }

  fill(i) {
    this.fields[i].value = exact(this.boxes[i].right);
  }

  judge(numbers, i) {
    return judge(this.boxes[i], numbers);
  }

  told(i, numbers, { mistakes }) {
    const { node, label, hint, right } = this.boxes[i];
    this.point(node);
    if (!numbers.length) {
      return { words: `<b>${label}</b> is no number. Write −3, 1/3, 0.5 or 0,5.` };
    }
    for (const [, , , along] of mistakes) this.point(node, along);
    const edge = mistakes.find(([, , , along]) => along)?.[3];
    return {
      edge,
      wrong: mistakes.map(([name]) => name),
      look: edge ? "Look at the marked edge again" : "Look at the marked node again",
      hint,
      right: exact(right),
      given: escaped(this.fields[i].value.trim()),
      words: sentences(mistakes.map(([, , says]) => says)) || sentence(hint),
    };
  }
}
