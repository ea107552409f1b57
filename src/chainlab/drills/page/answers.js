import { make } from "../../../chainview/ui.js";
import { Sheet } from "./sheet.js";

/**
 * What a sheet of answers has: it reads them all, fills one in, judges one, and tells what is wrong.
 * @typedef {{
 *   read(): any[],
 *   fill(i: number): void,
 *   mark(i: number, state: string): void,
 *   judge(answer: any, i: number): { right?: boolean },
 *   told(i: number, answer: any, verdict: any): object,
 * }} Answering
 */

// Answers are given one after the other, into fields or lines: which, is for those that extend it.
export class Answers extends Sheet {
  // What stands below the graph.
  below(label, ...parts) {
    const graph = this.element;
    this.element = make("div", { role: "group", "aria-label": label });
    this.element.append(graph, ...parts);
  }

  /**
   * Give what is right where nothing stands yet.
   * @this {Answers & Answering}
   */
  fillOne() {
    const i = this.read().findIndex((answer) => !answer);
    if (i < 0) return;
    this.fill(i);
    this.mark(i, "right");
  }

  // What is asked for: boxes, or lines.
  get places() {
    const { lines, typed, boxes } = this.problem.entry;
    return lines ?? typed ?? boxes;
  }

  /**
   * Judge what stands there: how much is right, and of the first wrong one what is to be said.
   * @this {Answers & Answering}
   * @returns {any} the verdict, or a promise of it
   */
  check() {
    const answers = this.read();
    if (!answers.some(Boolean)) return { at: 0, words: "Nothing is filled in yet." };
    const verdicts = answers.map((answer, i) => answer && this.judge(answer, i));
    verdicts.forEach((verdict, i) => verdict?.right && this.mark(i, "right"));
    const wrong = verdicts.findIndex((verdict) => verdict && !verdict.right);
    if (wrong >= 0) {
      this.mark(wrong, "wrong");
      const { label, node, slot, part } = this.places[wrong];
      const place = { at: wrong, label, node, slot, part };
      return { ...place, ...this.told(wrong, answers[wrong], verdicts[wrong]) };
    }
    const at = verdicts.findIndex((verdict) => !verdict);
    return at < 0 ? { right: true } : { at, words: this.left(verdicts) };
  }

  // What is right so far, and what comes next: a part, where there are several.
  left(verdicts) {
    const next = this.places.find((_, i) => !verdicts[i]);
    if (!next.part) {
      const right = verdicts.filter(Boolean).length;
      return `${right} of ${verdicts.length} ${right > 1 ? "are" : "is"} right so far. Fill in the others.`;
    }
    const parts = [...new Set(this.places.map(({ part }) => part))];
    const isDone = (part) => this.places.every((place, i) => place.part !== part || verdicts[i]);
    const done = parts.filter(isDone).map((part) => `✓ ${part}`);
    return `${[...done, `Next: <b>${next.part}</b>`].join(". ")}.`;
  }
}
