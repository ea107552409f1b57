import { make, makeButton } from "../../../chainview/ui.js";
import { Answers } from "./answers.js";
import { judgeTiles, matricesOf } from "./matrices.js";
import { sentence } from "./ramp.js";

// Adjoints are put together from tiles, in lines below the graph.
const SPOKEN = { "⊙": "times, entry by entry", "−": "minus", "1/2": "one half" };
const spoken = (tile) =>
  SPOKEN[tile] ?? tile.replace("\u0304", " bar").replace("ᵀ", " transposed").replace("Σ", "sum of");

export class Tiles extends Answers {
  constructor(problem, pictures, done) {
    super(problem, pictures, done);
    const { entry } = this.problem;
    this.known = matricesOf(entry);
    this.formulas = entry.lines.map(() => []);
    const text = `<b>${entry.text}</b> Given: ${entry.seed}.`;
    this.rows = entry.lines.map(({ label, shape }, i) => {
      const says = `${label} ${shape} =`;
      const name = makeButton(says, () => this.choose(i), { "aria-label": spoken(says) });
      const place = make("span", { class: "cg-bar", "aria-live": "polite" });
      const element = make("div", { class: "cg-line" });
      element.append(name, place);
      return { element, name, place };
    });
    const tray = make("div", { class: "cg-bar cg-tray", role: "group", "aria-label": "Tiles" });
    const each = (tile) => makeButton(tile, () => this.put(tile), { "aria-label": spoken(tile) });
    this.back = makeButton("⌫", () => this.take(), { "aria-label": "Take the last tile away" });
    tray.append(...entry.tray.map(each), this.back);
    const lines = this.rows.map(({ element }) => element);
    this.below(
      "Tiles and their lines",
      make("p", { class: "cg-asks", innerHTML: text }),
      ...lines,
      tray,
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Backspace") this.take();
    });
    this.choose(0);
  }

  // The line into which tiles go.
  choose(at) {
    this.at = at;
    this.rows.forEach(({ name }, i) => name.setAttribute("aria-pressed", String(i === at)));
  }

  put(tile) {
    this.formulas[this.at].push(tile);
    this.mark(this.at);
  }

  take(at = this.at, place = this.formulas[at].length - 1) {
    this.formulas[at].splice(place, 1);
    this.mark(at);
  }

  mark(at, state = "") {
    const { place, element } = this.rows[at];
    const tiles = this.formulas[at].map((tile, i) => {
      const taken = () => {
        this.choose(at);
        this.take(at, i);
        this.rows[at].name.focus();
      };
      return makeButton(tile, taken, { "aria-label": `${spoken(tile)}: take it away` });
    });
    place.replaceChildren(...tiles);
    if (state) place.append({ right: "✓", wrong: "✗" }[state]);
    element.dataset.state = state;
    this.clear();
  }

  focus(at = this.at) {
    this.choose(at);
    this.rows[at].name.focus();
  }

  get draft() {
    return this.formulas;
  }

  set draft(formulas) {
    this.formulas = formulas;
    formulas.forEach((_, i) => this.mark(i));
  }

  read() {
    return this.formulas.map((tiles) => (tiles.length ? tiles : undefined));
  }

  fill(at) {
    this.formulas[at] = [...this.problem.entry.lines[at].right];
    this.choose(at);
  }

  judge(tiles, i) {
    return judgeTiles(this.problem.entry, this.known, i, tiles);
  }

  told(i, tiles, { mistakes, misfit, words }) {
    const { node, right, hint } = this.problem.entry.lines[i];
    this.point(node);
    return {
      step: i,
      wrong: mistakes.map(([name]) => name),
      error: misfit,
      look: "Look at this line again, and at the marked node",
      hint,
      right: right.join(" "),
      given: tiles.join(" "),
      words: sentence(words),
    };
  }
}
