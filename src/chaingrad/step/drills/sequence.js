// Nodes are chosen one after the other, in the order in which they pass on.
class Sequence extends Sheet {
  constructor(...given) {
    super(...given);
    this.order = [];
    for (const { svg } of this.drawings) svg.setAttribute("role", "group"); // no mere picture
    for (const node of this.problem.entry.order) {
      for (const box of this.groups(node)) {
        box.setAttribute("role", "button");
        box.setAttribute("tabindex", "0");
        box.addEventListener("click", () => this.choose(node));
        box.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          this.choose(node);
        });
      }
    }
    this.show();
  }

  choose(node) {
    const { order } = this;
    this.order = order.includes(node) ? order.filter((one) => one !== node) : [...order, node];
    this.clear();
    this.show();
  }

  show() {
    const { entry, names } = this.problem;
    for (const [node, says] of Object.entries(entry.says)) {
      const place = this.order.indexOf(node) + 1;
      const words = `${named(says, names)}: ${place ? `number ${place}` : "not chosen"}`;
      for (const box of this.groups(node)) box.setAttribute("aria-label", words);
      for (const drawing of this.drawings) drawing.put(node, "number", place ? `#${place}` : "");
    }
  }

  fillOne() {
    const next = this.problem.entry.order.find((node) => !this.order.includes(node));
    if (next) this.choose(next);
  }

  focus(node = this.problem.entry.order[0]) {
    this.shown.nodes[node].group.focus();
  }

  check() {
    const { order, problem } = this;
    const { entry, names } = problem;
    if (order.length < entry.order.length) {
      const left = entry.order.length - order.length;
      return { words: `${left} of ${entry.order.length} are still to be chosen.` };
    }
    const verdict = judgeOrder(entry, order);
    if (!verdict) return { right: true };
    const { node, child, name, says } = verdict;
    this.point(node);
    this.point(child);
    const early = `<b>{${node}} is too early</b>: {${child}} uses it, and comes later.`;
    const whole = says ? ` All in all, ${says}.` : "";
    return { at: node, wrong: name ? [name] : [], words: named(early + whole, names) };
  }
}
