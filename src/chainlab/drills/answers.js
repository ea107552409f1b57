import { make } from "../../chainview/ui.js";
import { Sheet } from "./sheet.js";

// Answers are given one after the other, into fields or lines: which, is for those that extend it.
export class Answers extends Sheet {
  // A field to type into; Enter hands in.
  field(i, label, more = {}) {
    const field = make("input", {
      type: "text",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: false,
      enterkeyhint: "go",
      "aria-label": label,
      ...more,
    });
    field.setAttribute("autocorrect", "off"); // where it is a property, that is true or false
    field.addEventListener("input", () => this.mark(i, ""));
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.done();
    });
    return field;
  }

  // What stands below the graph.
  below(label, ...parts) {
    const graph = this.element;
    this.element = make("div", { role: "group", "aria-label": label });
    this.element.append(graph, ...parts);
  }

  mark(i, state) {
    const field = this.fields[i];
    for (const one of ["right", "wrong"]) field.classList.toggle(`cg-${one}`, state === one);
    if (state === "wrong") field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    this.clear();
  }

  focus(i = 0) {
    this.fields[i].focus();
  }

  // Give what is right where nothing stands yet.
  fillOne() {
    const i = this.read().findIndex((answer) => !answer);
    if (i < 0) return;
    this.fill(i);
    this.mark(i, "right");
  }

  // Judge what stands there: how many are right, and of the first wrong one what is to be said.
  check() {
    const answers = this.read();
    const verdicts = answers.map((answer, i) => answer && this.judge(answer, i));
    verdicts.forEach((verdict, i) => verdict?.right && this.mark(i, "right"));
    const wrong = verdicts.findIndex((verdict) => verdict && !verdict.right);
    if (wrong >= 0) {
      this.mark(wrong, "wrong");
      return { at: wrong, ...this.told(wrong, answers[wrong], verdicts[wrong]) };
    }
    const right = verdicts.filter(Boolean).length;
    if (right === answers.length) return { right: true };
    const words = `${right} of ${answers.length} are right${right ? " so far" : ""}.`;
    return { at: verdicts.findIndex((verdict) => !verdict), words: `${words} Fill in the others.` };
  }
}
