import { make, makeButton } from "../ui.js";

const ICONS = {
  play: "M4 2l10 6-10 6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
  back: "M12 2v12L4 8zM2 2h2v12H2z",
  next: "M4 2v12l8-6zM12 2h2v12h-2z",
};
const icon = (name) =>
  `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;

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

// The buttons, the slider and the speed; where they are used, the player is told.
export class Bar {
  constructor(count, player) {
    const named = (name, title, act) =>
      makeButton("", act, { innerHTML: icon(name), "aria-label": title, title });
    this.back = named("back", "One step back", () => player.go(player.at - 1));
    this.next = named("next", "One step forward", () => player.go(player.at + 1));
    this.toggle = named("play", "Play", () => player.toggle());
    this.toggle.classList.add("cg-play");
    const range = { type: "range", min: "0", max: String(count - 1), value: "0" };
    this.slider = make("input", { ...range, "aria-label": "Step" });
    this.slider.addEventListener("input", () => player.go(+this.slider.value));
    this.count = make("span", { class: "cg-count" });
    this.count.style.minWidth = `${2 * String(count).length + 2}ch`; // the bar stays as it is
    const option = (x) => make("option", { value: x, defaultSelected: x === 1 }, `${x}×`);
    this.speed = make("select", { "aria-label": "Speed" }, ...[0.5, 1, 2, 4].map(option));
    this.bar = make("div", { class: "cg-bar" });
    this.bar.append(this.back, this.toggle, this.next, this.slider, this.count, this.speed);
  }

  show({ title }, at, count) {
    this.slider.value = at;
    this.slider.setAttribute("aria-valuetext", `${at + 1} of ${count}, ${title}`);
    this.count.textContent = `${at + 1} / ${count}`;
    this.back.disabled = at === 0;
    this.next.disabled = at === count - 1;
  }

  // What the button in the middle does.
  offer(name, text) {
    this.toggle.innerHTML = icon(name);
    this.toggle.setAttribute("aria-label", text);
    this.toggle.title = text;
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
