// The values are chosen that the backward pass reads.
class Keep extends Choice {
  mark() {
    return ["✓", "kept"];
  }

  check() {
    const { chosen, problem } = this;
    const { entry, names } = problem;
    if (!chosen.length) return { words: "Choose a value first." };
    const verdict = judgeKept(entry, chosen);
    if (!verdict) return { right: true };
    const { node, isRead, name, says } = verdict;
    this.point(node);
    const called = entry.letters[node] ? `{${node}}` : entry.says[node].split(",")[0];
    const first = `<b>${called} is ${isRead ? "" : "not "}read</b>: ${entry.why[node]}.`;
    const whole = says ? ` All in all, ${says}.` : "";
    return { at: node, wrong: name ? [name] : [], words: named(first + whole, names) };
  }
}
