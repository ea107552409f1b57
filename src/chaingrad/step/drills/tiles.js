// Adjoints are put together from tiles, in lines below the graph.
const SPOKEN = { "⊙": "times, entry by entry", "−": "minus", "1/2": "one half" };
const spoken = (tile) =>
  SPOKEN[tile] ?? tile.replace("\u0304", " bar").replace("ᵀ", " transposed").replace("Σ", "sum of");

class Tiles extends Sheet {
  constructor(...given) {
    super(...given);
    const { entry, values } = this.problem;
    this.formulas = entry.lines.map(() => []);
    const graph = this.element;
    const text = `<b>${entry.text}</b> Given: ${filled(entry.seed, values)}.`;
    this.rows = entry.lines.map(({ label, shape }, i) => {
      const says = `${label} ${filled(shape, values)} =`;
      const name = button(says, () => this.choose(i), { "aria-label": spoken(says) });
      const place = make("span", { class: "cg-bar", "aria-live": "polite" });
      const element = make("div", { class: "cg-line" });
      element.append(name, place);
      return { element, name, place };
    });
    const tray = make("div", { class: "cg-bar cg-tray", role: "group", "aria-label": "Tiles" });
    const each = (tile) => button(tile, () => this.put(tile), { "aria-label": spoken(tile) });
    this.back = button("⌫", () => this.take(), { "aria-label": "Take the last tile away" });
    tray.append(...entry.tray.map(each), this.back);
    this.element = make("div", { role: "group", "aria-label": "Tiles and their lines" });
    this.element.append(
      graph,
      make("p", { class: "cg-asks" }, text),
      ...this.rows.map(({ element }) => element),
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
    this.show(this.at);
  }

  take(at = this.at, place = this.formulas[at].length - 1) {
    this.formulas[at].splice(place, 1);
    this.show(at);
  }

  show(at, state = "") {
    const { place, element } = this.rows[at];
    const tiles = this.formulas[at].map((tile, i) => {
      const taken = () => {
        this.choose(at);
        this.take(at, i);
        this.rows[at].name.focus();
      };
      return button(tile, taken, { "aria-label": `${spoken(tile)}: take it away` });
    });
    place.replaceChildren(...tiles);
    if (state) place.append({ right: "✓", wrong: "✗" }[state]);
    element.dataset.state = state;
    this.clear();
  }

  fillOne() {
    const at = this.formulas.findIndex((tiles) => !tiles.length);
    if (at < 0) return;
    this.formulas[at] = [...this.problem.entry.lines[at].right];
    this.choose(at);
    this.show(at, "right");
  }

  focus(at = this.at) {
    this.choose(at);
    this.rows[at].name.focus();
  }

  // Judge the lines: how many are right, and of the first wrong one what is to be said.
  check() {
    const { lines } = this.problem.entry;
    let [right, wrong, empty] = [0, undefined, undefined];
    this.formulas.forEach((tiles, i) => {
      if (!tiles.length) return (empty ??= i);
      const verdict = judgeTiles(this.problem, lines[i], tiles);
      right += verdict.right;
      if (verdict.right) this.show(i, "right");
      else wrong ??= { i, tiles, ...verdict };
    });
    if (wrong) {
      const { i, tiles, slips, words } = wrong;
      this.show(i, "wrong");
      this.point(lines[i].node);
      return {
        at: i,
        wrong: [...new Set(slips.map(([name]) => name))],
        words: `<b>${lines[i].label} is not ${tiles.join(" ")}</b>: ${words}.`,
      };
    }
    if (empty === undefined) return { right: true };
    const so = right ? " so far" : "";
    return { at: empty, words: `${right} of ${lines.length} are right${so}. Fill in the others.` };
  }
}
