// Adjoints are typed as lines of NumPy; Python, which the page's live cells have, judges them.
const SLOW = 5000; // ms that judging may take, once Python is there
let python;
let ready; // the worker that has imported what judges

const escaped = (text) =>
  text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
const coded = (text) => escaped(text).replace(/`([^`]*)`/g, "<code>$1</code>");

class Typed extends Sheet {
  constructor(problem, pictures, done, root) {
    super(problem, pictures, done);
    this.root = root;
    const { entry, values } = problem;
    const sized = (text) => filled(text, values);
    const whole = (text) => text && `\u00a0${sized(text).replaceAll(" ", "\u00a0")}`;
    const names = entry.names.map(([name, is]) => `<code>${name}</code>${whole(is)}`);
    const graph = this.element;
    this.rows = entry.typed.map((line) => this.row(line, sized(line.shape)));
    this.line = make("p", { class: "cg-asks cg-status", role: "status" });
    this.element = make("div", { role: "group", "aria-label": "The graph and your lines" });
    this.element.append(
      graph,
      make(
        "pre",
        { class: "cg-code", tabindex: "0", role: "group", "aria-label": "Forward" },
        escaped(entry.forward.join("\n")),
      ),
      make("p", { class: "cg-asks" }, `Names: ${names.join(", ")}.`),
      ...this.rows.map(({ element }) => element),
      this.line,
    );
  }

  row({ label }, size) {
    const element = make("label", { class: "cg-line" });
    const field = make("input", {
      type: "text",
      autocomplete: "off",
      autocapitalize: "off",
      autocorrect: "off",
      spellcheck: "false",
      enterkeyhint: "go",
      "aria-label": `${label}, of shape ${size}, in NumPy`,
    });
    const mark = make("span", { class: "cg-mark", "aria-hidden": "true" });
    element.append(make("code", {}, `${label} =`), field, make("span", {}, size), mark);
    field.addEventListener("input", () => this.mark({ field, mark }, ""));
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.done();
    });
    return { element, field, mark };
  }

  mark({ field, mark }, state) {
    mark.textContent = { right: "✓", wrong: "✗" }[state] ?? "";
    field.classList.toggle("cg-wrong", state === "wrong");
    if (state === "wrong") field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    this.clear();
  }

  get texts() {
    return this.rows.map(({ field }) => field.value);
  }

  fillOne() {
    const i = this.texts.findIndex((text) => !text.trim());
    if (i < 0) return;
    this.rows[i].field.value = this.problem.entry.typed[i].right;
    this.mark(this.rows[i], "right");
  }

  focus(i = 0) {
    this.rows[i].field.focus();
  }

  check() {
    const { texts } = this;
    const { name } = this.problem;
    if (!texts.some((text) => text.trim())) return { words: "Type a line first." };
    if (this.root) return this.judged(name, texts);
    return { words: `Python runs in this notebook: ${coded(this.cell(name, texts))}` };
  }

  // What judges the lines in a notebook.
  cell(name, texts) {
    const [kind, level, seed] = name.split("-");
    const { typed } = this.problem.entry;
    const lines = texts.map(
      (text, i) => text.trim() && `${typed[i].label}=${JSON.stringify(text)}`,
    );
    return `\`drill("${kind}", ${level}, ${seed}).check(${lines.filter(Boolean).join(", ")})\``;
  }

  // What Python says of the lines, if they are still the same then.
  async judged(name, texts) {
    if (this.asking) return { words: this.asking };
    this.asking = "Python is still at work.";
    this.doing("Asking Python");
    let verdict;
    try {
      verdict = await this.ask({ type: "typed", name, lines: texts });
    } catch (error) {
      return { words: this.whyNot(error) };
    } finally {
      this.asking = undefined;
      this.status();
    }
    if (texts.join("\n") !== this.texts.join("\n")) {
      return { words: "The lines have changed meanwhile. Check them again." };
    }
    const { marks, at, wrong, words } = verdict;
    const first = marks.indexOf("wrong");
    marks.forEach((mark, i) =>
      this.mark(this.rows[i], i > first && first >= 0 && mark === "wrong" ? "" : mark),
    );
    if (first < 0) return { right: !words, at, words: coded(words) };
    this.point(this.problem.entry.typed[at].node);
    return { at, wrong: [...new Set(wrong)], words: coded(words) };
  }

  // One question at a time, of the Python that live cells run in.
  async ask(question) {
    const base = new URL(`${this.root}_live/`, location.href);
    const { Python, UNREACHABLE } = await import(new URL("python.js", base).href);
    this.unreachable = UNREACHABLE;
    python ??= new Python(base);
    await python.started(this);
    if (ready !== python.worker) {
      await python.ask(this, { ...question, lines: question.lines.map(() => "") });
      ready = python.worker;
    }
    const slow = setTimeout(() => python.fail("slow"), SLOW);
    return python.ask(this, question).finally(() => clearTimeout(slow));
  }

  whyNot({ message }) {
    if (message === "slow") return `Ended: it ran for more than ${SLOW / 1000} s. The lines stay.`;
    if (message === "unreachable") return this.unreachable;
    return `This cannot run now: ${escaped(message)}. The lines stay.`;
  }

  // How far Python is.
  status(words = "") {
    this.line.textContent = words;
  }

  doing(what) {
    this.status(`${what} …`);
  }
}
