import { Answers } from "./answers.js";
import { exact, filled } from "./numbers.js";
import { judge } from "./problem.js";
import { numbersIn } from "./reading.js";

// Numbers are written into the nodes.
export class Boxes extends Answers {
  constructor(...given) {
    super(...given);
    this.fields = this.problem.entry.boxes.map(({ label, says }, i) =>
      this.field(i, says, { placeholder: label.replace(/<[^>]*>/g, "") }),
    );
  }

  over() {
    return this.problem.entry.boxes.map(({ node, slot, column: [place, columns] = [0, 1] }, i) => {
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
    const { values, entry } = this.problem;
    this.fields[i].value = exact(values[entry.boxes[i].right]);
  }

  judge(numbers, i) {
    return judge(this.problem, this.problem.entry.boxes[i], numbers);
  }

  told(i, numbers, { slips }) {
    const { entry, values } = this.problem;
    const { node, label, hint } = entry.boxes[i];
    this.point(node);
    if (!numbers.length) {
      return { wrong: [], words: `<b>${label}</b> is no number: write −3, 1/3, 0.5 or 0,5.` };
    }
    for (const [, , , edge] of slips) this.point(node, edge);
    const made = slips.map(([, , says]) => filled(says, values)).join("; or ");
    const words = made || `it is the first that is wrong, in the order of the pass. ${hint}`;
    return {
      wrong: slips.map(([name]) => name),
      words: `<b>${label} is not ${exact(numbers[0])}</b>: ${words}.`,
    };
  }
}
