import { Answers } from "./answers.js";
import { exact, filled } from "./numbers.js";
import { judge } from "./problem.js";
import { sentence, sentences } from "./ramp.js";
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

  get draft() {
    return this.fields.map(({ value }) => value);
  }

  set draft(texts) {
    this.fields.forEach((field, i) => (field.value = texts[i] ?? ""));
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
    const { node, label, hint, right } = entry.boxes[i];
    this.point(node);
    if (!numbers.length) {
      return { words: `<b>${label}</b> is no number. Write −3, 1/3, 0.5 or 0,5.` };
    }
    for (const [, , , along] of slips) this.point(node, along);
    const edge = slips.find(([, , , along]) => along)?.[3];
    return {
      edge,
      wrong: slips.map(([name]) => name),
      look: edge ? "Look at the marked edge again" : "Look at the marked node again",
      hint,
      right: exact(values[right]),
      words: sentences(slips.map(([, , says]) => filled(says, values))) || sentence(hint),
    };
  }
}
