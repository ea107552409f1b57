// One problem and its buttons: check, show. Who shows it is told what comes of it.
class Task {
  constructor(problem, { pictures, asks, lessons, root, outcome }) {
    Object.assign(this, { problem, pictures, lessons, root, outcome });
    this.clean = true; // nothing was wrong, and nothing shown
    this.solved = false;
    this.boxes = new Boxes(problem, pictures, () => this.check());
    this.said = make("p", { class: "cg-words", "aria-live": "polite" });
    this.bar = make("div", { class: "cg-bar" });
    this.show = button("Show me", () => this.play());
    this.bar.append(
      button("Check", () => this.check(), { class: "cg-play" }),
      this.show,
    );
    this.shown = make("div");
    this.element = make("div", { class: "cg-task" });
    this.element.append(
      make("p", { class: "cg-asks" }, asks),
      this.boxes.element,
      this.said,
      this.bar,
      this.shown,
    );
  }

  say(words) {
    this.said.innerHTML = words;
  }

  check() {
    const { right, of, wrong, empty, says } = this.boxes.check();
    if (wrong) {
      this.clean = false;
      this.say(`✗ ${says.words} ${this.links(says.lessons)}`);
      this.boxes.focus(wrong.i);
      this.outcome("wrong");
    } else if (empty !== undefined) {
      this.say(`${right} of ${of} are right${right ? " so far" : ""}. Fill in the others.`);
      this.boxes.focus(empty);
    } else if (!this.solved) {
      this.solved = true;
      this.say(`<b>✓ Right.</b> ${this.outcome(this.clean ? "right" : "mended") ?? ""}`);
    }
  }

  links(names) {
    if (!this.root) return "";
    return names
      .map((name) => this.lessons[name])
      .filter((lesson, i, all) => lesson && all.indexOf(lesson) === i)
      .map(
        (lesson) =>
          `<a href="${this.root}chapters/${lesson.replace("#", ".html#")}">The lesson</a>`,
      )
      .join(" ");
  }

  // The player, on this very problem.
  play() {
    if (this.shown.firstChild) return this.shown.replaceChildren();
    if (!this.solved) {
      this.clean = false;
      this.outcome("shown");
    }
    const { entry, values, name } = this.problem;
    const phases = [...new Set(entry.steps.map(([phase]) => phase))];
    const text = (x) => (typeof x === "string" ? filled(x, values) : x);
    const steps = entry.steps.map(([phase, words, nodes, edge, changes]) => [
      phases.indexOf(phase),
      filled(words, values),
      nodes,
      edge?.map(text) ?? 0,
      changes.map((change) => change.map(text)),
      [],
    ]);
    const start = entry.shown.map(([node, place, before]) => {
      return [node, "data", before + exact(values[place])];
    });
    const label = `Step by step: ${name}`;
    const root = make("div", { class: "chaingrad-player", role: "group", "aria-label": label });
    const [wide, tall] = this.pictures;
    root.innerHTML = `<div class="cg-frames">${wide}</div><template>${tall}</template>`;
    const data = make("script", { type: "application/json" });
    data.textContent = JSON.stringify({ label, phases, start, steps });
    root.append(data);
    this.shown.append(root);
    new Player(root).begin();
  }
}
