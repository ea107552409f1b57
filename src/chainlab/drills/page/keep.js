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
    const [name] = entry.says[node].split(",");
    const read = `<b>${name}</b> is ${isRead ? "" : "not "}read: ${entry.why[node]}.`;
    const look = "Does a formula of the backward pass name it?";
    return { ...this.told(node, read, verdict.name, isRead ? "no bytes" : "unread"), look };
  }
}
