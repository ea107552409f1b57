import { make, makeButton } from "./ui.js";

const ICONS = {
  play: "M4 2l10 6-10 6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
  back: "M12 2v12L4 8zM2 2h2v12H2z",
  next: "M4 2v12l8-6zM12 2h2v12h-2z",
};
const icon = (name) =>
  `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
const SHORTEST = 20; // milliseconds between two pictures

// The bar below a figure that has steps: back, play, forward, a slider, which step it is, the speed.
// `show` draws a step and says what else a screen reader should hear of it. Steps are counted from
// `first`, by `every`; each stays for `beat` milliseconds.
export class Transport {
  constructor(count, show, { beat = 1400, first = 1, every = 1 } = {}) {
    this.show = show;
    this.normal = beat;
    this.number = (k) => k * every + first;
    this.last = count - 1;
    this.at = -1; // which step is shown
    this.timer = 0;
    const named = (name, title, act) =>
      makeButton("", act, { innerHTML: icon(name), "aria-label": title, title });
    this.back = named("back", "One step back", () => this.go(this.at - 1));
    this.next = named("next", "One step forward", () => this.go(this.at + 1));
    this.button = named("play", "Play", () => this.toggle());
    this.button.classList.add("cg-play");
    const range = { type: "range", min: "0", max: String(this.last), value: "0" };
    this.slider = make("input", { ...range, "aria-label": "Step", autocomplete: "off" });
    this.slider.addEventListener("input", () => this.go(+this.slider.value));
    this.place = make("span"); // "3 of 19"
    this.place.style.minWidth = `${this.said(this.last).length}ch`; // the bar stays as it is
    this.count = make("span", { class: "cg-count" }, make("span", {}, "step "), this.place);
    const option = (x) => make("option", { value: x, defaultSelected: x === 1 }, `${x}×`);
    this.speed = make("select", { "aria-label": "Speed" }, ...[0.5, 1, 2, 4].map(option));
    this.bar = make("div", { class: "cg-bar cg-transport" });
    this.bar.append(this.back, this.button, this.next, this.slider, this.count, this.speed);
  }

  get beat() {
    return this.normal / +this.speed.value;
  }

  said(k) {
    return `${this.number(k)} of ${this.number(this.last)}`;
  }

  // Show a step, and go on playing if it plays.
  put(k) {
    const to = Math.max(0, Math.min(this.last, k));
    if (to === this.at) return;
    this.at = to;
    const more = this.show(to);
    this.slider.value = String(to);
    this.place.textContent = this.said(to);
    this.slider.setAttribute("aria-valuetext", `${this.said(to)}, ${more}`);
    this.back.disabled = to === 0;
    this.next.disabled = to === this.last;
  }

  go(k) {
    this.pause();
    this.put(k);
  }

  toggle() {
    if (this.timer) this.pause();
    else this.play();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.offer("play", "Play");
  }

  play() {
    if (this.at === this.last) this.put(0);
    this.offer("pause", "Pause");
    this.wait();
  }

  // Steps that follow faster than pictures can be drawn are taken several at a time.
  wait() {
    const stride = Math.max(1, Math.round(SHORTEST / this.beat));
    this.timer = setTimeout(() => {
      if (!this.bar.isConnected) return;
      this.put(this.at + stride);
      if (this.at === this.last) this.pause();
      else this.wait();
    }, stride * this.beat);
  }

  // What the button in the middle does.
  offer(name, text) {
    this.button.innerHTML = icon(name);
    this.button.setAttribute("aria-label", text);
    this.button.title = text;
  }

  // Listen to keys in the whole figure: arrows, Home, End, and the space bar where nothing else
  // has a use for it.
  listen(root) {
    root.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const own = event.target.closest("button, select, summary, input, pre");
      const moves = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.last };
      if (event.key in moves && !event.target.closest("select, input, .cg-entries")) {
        this.go(moves[event.key]);
      } else if (event.key === " " && (!own || own === this.slider)) {
        this.toggle();
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation(); // a notebook has its own use for these keys
    });
  }
}

// Let dragging along a plot choose the step; its first and last are at these places.
// A function and no method, as `playOnce` is: a figure without it doesn't load it.
export function dragAlong(bar, plot, from, to) {
  const move = (event) => {
    if (!event.buttons) return;
    const at = new DOMPoint(event.clientX, event.clientY);
    const { x } = at.matrixTransform(plot.getScreenCTM().inverse());
    bar.go(Math.round(((x - from) / (to - from)) * bar.last));
  };
  plot.classList.add("cg-drag");
  plot.addEventListener("pointermove", move);
  plot.addEventListener("pointerdown", (event) => {
    plot.setPointerCapture(event.pointerId);
    move(event);
  });
}

// Play once, when the picture has come into view, unless the reader was faster or wants no
// motion. Paper shows the last step, unless the reader has chosen one.
export function playOnce(bar, root, picture) {
  let isTouched = false;
  for (const type of ["pointerdown", "keydown"]) {
    root.addEventListener(type, () => (isTouched = true), { capture: true });
  }
  const seen = new IntersectionObserver(
    ([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      seen.disconnect();
      if (!isTouched) bar.play();
    },
    { threshold: 0.6 },
  );
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) seen.observe(picture);
  addEventListener("beforeprint", () => isTouched || bar.go(bar.last));
  addEventListener("afterprint", () => isTouched || bar.go(0));
}
