import { Choice } from "./choice.js";
import { judgeOrder } from "./problem.js";

// Nodes are chosen one after the other, in the order in which they pass on.
export class Sequence extends Choice {
  mark(place) {
    return [`#${place}`, `number ${place}`];
  }

  check() {
    const { chosen } = this;
    const { entry } = this.problem;
    if (chosen.length < entry.order.length) {
      const left = entry.order.length - chosen.length;
      return { words: `${left} of ${entry.order.length} are still to be chosen.` };
    }
    const verdict = judgeOrder(entry, chosen);
    if (!verdict) return { right: true };
    const { node, child } = verdict;
    this.point(child);
    const early = `<b>{${node}} is too early</b>: {${child}} uses it, and comes later.`;
    return this.told(node, early, verdict);
  }
}
