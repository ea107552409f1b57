import { escaped, make } from "../../../chainview/ui.js";
import { Fields } from "./fields.js";

// Adjoints are typed as lines of NumPy; Python, which the page's live cells have, judges them.
const SLOW = 5000; // ms that judging may take, once Python is there
let python;
let ready; // the worker that has imported what judges

const coded = (text) => escaped(text).replace(/`([^`]*)`/g, "<code>$1</code>");

export class Typed extends Fields {
  constructor(problem, pictures, done, root) {
    super(problem, pictures, done);
    this.root = root;
    const { entry } = problem;
    const whole = (text) => text && `\u00a0${text.replaceAll(" ", "\u00a0")}`;
    const names = entry.names.map(([name, is]) => `<code>${name}</code>${whole(is)}`);
    const about = { class: "cg-code", tabindex: "0", role: "group", "aria-label": "Forward" };
    this.marks = [];
    const lines = entry.typed.map(({ label, shape }, i) => this.row(i, label, shape));
    this.line = make("p", { class: "cg-asks cg-status", role: "status" });
    this.below(
      "The graph and your lines",
      make("pre", about, entry.forward.join("\n")),
      make("p", { class: "cg-asks", innerHTML: `Names: ${names.join(", ")}.` }),
      ...lines,
      this.line,
    );
  }

  row(i, label, size) {
    const row = make("label", { class: "cg-line" });
    this.fields[i] = this.field(i, `${label}, of shape ${size}, in NumPy`);
    this.marks[i] = make("span", { class: "cg-mark", "aria-hidden": "true" });
    const name = make("code", {}, `${label} =`);
    row.append(name, this.fields[i], make("span", {}, size), this.marks[i]);
    return row;
  }

  mark(i, state) {
    this.marks[i].textContent = { right: "✓", wrong: "✗" }[state] ?? "";
    super.mark(i, state);
  }

  read() {
    return this.draft.map((text) => text.trim());
  }

  fill(i) {
    this.fields[i].value = this.problem.entry.typed[i].right;
  }

  check() {
    const texts = this.draft;
    const { name } = this.problem;
    if (!this.read().some(Boolean)) return { words: "Nothing is typed yet." };
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
    if (texts.join("\n") !== this.draft.join("\n")) {
      return { words: "The lines have changed meanwhile. Check them again." };
    }
    const { marks, at, wrong, error, words } = verdict;
    const first = marks.indexOf("wrong");
    marks.forEach((mark, i) => this.mark(i, mark === "wrong" && i > first ? "" : mark));
    if (first < 0) return { right: !words, at, words: coded(words) };
    const { node, label, right } = this.problem.entry.typed[at];
    this.point(node);
    return {
      at,
      node,
      wrong,
      step: at,
      label: `<code>${label}</code>`,
      error: coded(error),
      look: "Look at this line again, and at the marked node",
      hint: coded(verdict.hint),
      right: `<code>${escaped(right)}</code>`,
      given: `<code>${escaped(texts[at].trim())}</code>`,
      words: coded(words),
    };
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

  loading(words) {
    this.status(words);
  }
}
