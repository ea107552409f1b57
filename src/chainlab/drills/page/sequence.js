import { Choice } from "./choice.js";
import { judgeOrder } from "./problem.js";

// Nodes are chosen one after the other, in the order in which they pass on.
export class Sequence extends Choice {
  check() {
    const { chosen } = this;
    const { entry, names } = this.problem;
    if (chosen.length < entry.order.length) {
      const left = entry.order.length - chosen.length;
      if (!chosen.length) return { words: "Nothing is chosen yet." };
      return { words: `${left} of ${entry.order.length} are still to be chosen.` };
    }
    const verdict = judgeOrder(entry, chosen);
    if (!verdict) return { right: true };
    const { node, child } = verdict;
    this.point(child);
    const early = `<b>${names[node]}</b> comes too early: ${names[child]} uses it, and comes later in your order.`;
    const look = "Look at where it stands in your order";
    return { ...this.told(node, early, verdict.name, "early"), look };
  }
}
