// A graph with boxes for numbers in its nodes. Of its two drawings the first that fits is shown.
class Boxes {
  constructor(problem, pictures, done) {
    const { entry, values } = problem;
    this.problem = problem;
    this.done = done;
    const parsed = new DOMParser().parseFromString(`<div>${pictures.join("")}</div>`, "text/html");
    this.drawings = [...parsed.querySelectorAll("svg")].map((svg) => {
      svg.style.cssText = "";
      return Object.assign(new Drawing(svg), { width: +svg.getAttribute("width") });
    });
    for (const drawing of this.drawings) {
      for (const [node, place, before] of entry.shown) {
        drawing.put(node, "data", before + exact(values[place]));
      }
      for (const change of entry.given) drawing.put(...change);
    }
    this.inputs = entry.boxes.map((box) => this.input(box));
    this.canvas = make("div", { class: "cg-canvas" });
    this.element = make("div", { class: "cg-scroll", role: "group", "aria-label": "Graph" });
    this.element.append(this.canvas);
    new ResizeObserver(() => this.fit()).observe(this.element);
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

  mark(field, state) {
    field.classList.toggle("cg-right", state === "right");
    field.classList.toggle("cg-wrong", state === "wrong");
    if (state === "wrong") field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    for (const on of this.canvas.querySelectorAll(".cg-on")) on.classList.remove("cg-on");
  }

  // Mark a node, and the edge along which something went wrong.
  point(node, edge) {
    for (const drawing of this.drawings) {
      drawing.nodes[node].group.classList.add("cg-on");
      if (edge) drawing.edge(...edge).classList.add("cg-on");
    }
  }

  fit() {
    const room = this.element.clientWidth - 8;
    if (room <= 0) return;
    const shown =
      this.drawings.find(({ width }) => width <= room) ??
      this.drawings.reduce((a, b) => (a.width < b.width ? a : b));
    if (shown === this.shown) return;
    this.shown = shown;
    const { svg, width, nodes } = shown;
    const [left, top] = svg.firstElementChild
      .getAttribute("transform")
      .match(/translate\((\S+)[ ,](\S+)\)/)
      .slice(1)
      .map(Number);
    const held = document.activeElement;
    this.canvas.style.width = `${width}px`;
    this.canvas.replaceChildren(svg, ...this.inputs);
    this.problem.entry.boxes.forEach(({ node, slot }, i) => {
      const frame = nodes[node].group.querySelector(".cg-box");
      const at = (name) => +frame.getAttribute(name);
      const { style } = this.inputs[i];
      style.left = `${left + at("x") + 4}px`;
      style.top = `${top + +nodes[node][slot].getAttribute("y") - 11}px`;
      style.width = `${at("width") - 8}px`;
    });
    if (this.inputs.includes(held)) held.focus();
  }

  // What is written in each box: the numbers that it may mean; nothing where it is empty.
  read() {
    return this.inputs.map(({ value }) => (value.trim() ? numbersIn(value) : undefined));
  }

  // Write into a box what is right.
  fill(i) {
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
      else if (wrong === undefined) wrong = { i, numbers, slips: verdict.slips };
    });
    if (wrong) this.mark(inputs[wrong.i], "wrong");
    return { right, of: boxes.length, wrong, empty, says: wrong && this.told(wrong) };
  }

  told({ i, numbers, slips }) {
    const { entry, values } = this.problem;
    const { node, label, hint } = entry.boxes[i];
    if (!numbers.length) {
      this.point(node);
      return { words: `<b>${label}</b> is no number: write −3, 1/3, 0.5 or 0,5.`, lessons: [] };
    }
    for (const [, , , edge] of slips.length ? slips : [[]]) this.point(node, edge);
    const made = slips.map(([, , says]) => filled(says, values)).join("; or ");
    const words = made || `it is the first that is wrong, in the order of the pass. ${hint}`;
    const lessons = [...new Set(slips.map(([name]) => name))];
    return { words: `<b>${label} is not ${exact(numbers[0])}</b>: ${words}.`, lessons };
  }
}
