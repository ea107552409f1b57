import { make, makeButton } from "../ui.js";

// Buttons that jump to a phase, and what the colours mean.
export class Phases {
  constructor(phases, jump) {
    this.bar = make("div", { class: "cg-bar cg-top" });
    this.buttons = phases.map((phase, i) => makeButton(phase, () => jump(i)));
    this.bar.append(...this.buttons);
    if (!phases.includes("Backward")) return;
    const colors = '<span class="l">local gradient</span><span class="g">adjoint</span>';
    this.bar.append(make("div", { class: "cg-legend", innerHTML: colors }));
  }

  show({ phase }) {
    this.buttons.forEach((jump, i) => {
      if (i === phase) jump.setAttribute("aria-current", "step");
      else jump.removeAttribute("aria-current");
    });
  }
}

// What happens. The words of all steps lie unseen in the place of the shown ones, so that it fits
// each.
export class Words {
  constructor(steps) {
    this.place = make("div", { class: "cg-place" });
    this.said = make("p", { class: "cg-words", "aria-live": "polite", "aria-atomic": "true" });
    const all = steps.map(({ words }) => make("p", { "aria-hidden": "true", innerHTML: words }));
    this.place.append(...all, this.said);
  }

  show({ words }) {
    this.said.innerHTML = words;
  }
}

// Sums, arrays and long names, for those who want them.
export class Details {
  constructor() {
    const title = make("summary", {}, "Details: sums, arrays, long names");
    this.fold = make("details", {}, title);
    this.entries = make("div", {
      class: "cg-entries",
      tabindex: "0", // it scrolls on a phone
      role: "group",
      "aria-label": "Details of this step",
    });
    this.fold.append(this.entries);
  }

  show({ entries }) {
    const boxes = entries.map(([title, text]) => {
      return make("div", {}, make("div", { innerHTML: title }), make("pre", {}, text));
    });
    this.entries.replaceChildren(...boxes);
    if (!boxes.length) this.entries.textContent = "The line above says all of this step.";
  }
}
