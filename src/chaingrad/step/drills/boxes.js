// Numbers are written into the nodes.
class Boxes extends Sheet {
  constructor(...given) {
    super(...given);
    this.inputs = this.problem.entry.boxes.map((box) => this.input(box));
  }

  input({ label, says }) {
    const field = make("input", {
      type: "text",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      enterkeyhint: "go",
      placeholder: label.replace(/<[^>]*>/g, ""),
      "aria-label": says,
    });
    field.addEventListener("input", () => this.mark(field, ""));
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.done();
    });
    return field;
  }

  over() {
    return this.problem.entry.boxes.map(({ node, slot, column: [place, columns] = [0, 1] }, i) => {
      const { group, [slot]: text } = this.shown.nodes[node];
      const frame = group.querySelector(".cg-box");
      const [x, whole] = ["x", "width"].map((name) => +frame.getAttribute(name));
      const width = (whole - 4) / columns;
      const left = x + 4 + place * width;
      return [this.inputs[i], left, +text.getAttribute("y") - 11, width - 4];
    });
  }

  mark(field, state) {
    field.classList.toggle("cg-right", state === "right");
    field.classList.toggle("cg-wrong", state === "wrong");
    if (state === "wrong") field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    this.clear();
  }

  // What is written in each box: the numbers that it may mean; nothing where it is empty.
  read() {
    return this.inputs.map(({ value }) => (value.trim() ? numbersIn(value) : undefined));
  }

  // Write what is right into the first empty box.
  fillOne() {
    const i = this.read().findIndex((numbers) => !numbers);
    if (i < 0) return;
    this.inputs[i].value = exact(this.problem.values[this.problem.entry.boxes[i].right]);
    this.mark(this.inputs[i], "right");
  }

  focus(i = 0) {
    this.inputs[i].focus();
  }

  // Judge what stands there: how many are right, and of the first wrong one what is to be said.
  check() {
    const { problem, inputs } = this;
    const { boxes } = problem.entry;
    let [right, wrong, empty] = [0, undefined, undefined];
    this.read().forEach((numbers, i) => {
      if (!numbers) return (empty ??= i);
      const verdict = judge(problem, boxes[i], numbers);
      right += verdict.right;
      if (verdict.right) this.mark(inputs[i], "right");
      else wrong ??= { i, numbers, slips: verdict.slips };
    });
    if (wrong) {
      this.mark(inputs[wrong.i], "wrong");
      return { at: wrong.i, ...this.told(wrong) };
    }
    if (empty === undefined) return { right: true };
    const so = right ? " so far" : "";
    return { at: empty, words: `${right} of ${boxes.length} are right${so}. Fill in the others.` };
  }

  told({ i, numbers, slips }) {
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
