// The buttons of the views. One that the graph isn't for is grey, and says why to whoever comes to it.
import { button, group, told } from "./told.js";

export class Views {
  /** `choose` is called with a view that the reader has chosen. */
  constructor(choose) {
    this.name = told.views[0];
    this.refused = {};
    this.why = make("p", { className: "bench-why", role: "status", hidden: true });
    this.buttons = told.views.map((name) => {
      const act = () => (this.refused[name] ? this.explain(name) : choose(name));
      const made = button(name, "", act);
      made.addEventListener("focus", () => this.explain(name));
      return made;
    });
    this.bar = group("Views", ...this.buttons);
    this.look(this.name);
    this.refuse({});
  }

  look(view) {
    this.name = told.views.includes(view) ? view : told.views[0];
    this.buttons.forEach((each, i) => (each.ariaPressed = String(told.views[i] === this.name)));
    this.explain("");
  }

  /** Grey what the graph isn't for. A program can have made this up: it is text, and no more. */
  refuse(refused) {
    this.refused = refused;
    this.buttons.forEach((each, i) => {
      const why = refused[told.views[i]];
      each.ariaDisabled = why ? "true" : null;
      each.title = why ? `Not for this graph: ${why}` : `Show: ${told.views[i]}`;
    });
    this.explain("");
  }

  explain(name) {
    const why = this.refused[name];
    this.why.hidden = !why;
    this.why.textContent = why ? `No ${name} for this graph: ${why}.` : "";
  }
}
