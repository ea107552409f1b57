import { Choice } from "./choice.js";
import { judgeKept } from "./problem.js";

// The values are chosen that the backward pass reads.
export class Keep extends Choice {
  mark() {
    return ["✓", "kept"];
  }

  check() {
    const { chosen } = this;
    const { entry } = this.problem;
    if (!chosen.length) return { words: "Choose a value first." };
    const verdict = judgeKept(entry, chosen);
    if (!verdict) return { right: true };
    const { node, isRead } = verdict;
    const called = entry.letters[node] ? `{${node}}` : entry.says[node].split(",")[0];
    const read = `<b>${called} is ${isRead ? "" : "not "}read</b>: ${entry.why[node]}.`;
    return this.told(node, read, verdict);
  }
}
