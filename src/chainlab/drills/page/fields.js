import { make } from "../../../chainview/ui.js";
import { Answers } from "./answers.js";

// Answers are typed into fields.
export class Fields extends Answers {
  constructor(problem, pictures, done) {
    super(problem, pictures, done);
    this.fields = [];
  }

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

  get draft() {
    return this.fields.map(({ value }) => value);
  }

  set draft(texts) {
    this.fields.forEach((field, i) => (field.value = texts[i] ?? ""));
  }
}
