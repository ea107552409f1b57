// A program that came in a link can change the engine under whatever runs after it. The reader's
// next program gets a Python of its own; a line that is added, or another number, needs none: what
// the program has done it would do again.

const LINE = /^(?!\s*(#|$)).*$/gm;

/** The lines of a text, with their numbers left open. */
const linesOf = (text) =>
  new Set((text.match(LINE) ?? []).map((line) => line.replace(/\d+/g, "#")));

export class Foreign {
  constructor() {
    this.lines = new Set(); // of the program in the link, as far as they still stand
    this.ran = new Set(); // those that the present Python has run
  }

  /** A program has come in a link. */
  came(text) {
    this.lines = linesOf(text);
  }

  /** Note that a text is to run; whether it takes another Python than the one that is there. */
  needsAnother(text) {
    const here = linesOf(text);
    const isGone = [...this.ran].some((line) => !here.has(line));
    if (isGone) this.ran.clear();
    this.lines = new Set([...this.lines].filter((line) => here.has(line)));
    for (const line of this.lines) this.ran.add(line);
    return isGone;
  }
}
