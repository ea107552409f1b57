// Nodes are chosen one after the other, in the order in which they pass on.
class Sequence extends Choice {
  mark(place) {
    return [`#${place}`, `number ${place}`];
  }

  check() {
    const { chosen, problem } = this;
    const { entry, names } = problem;
    if (chosen.length < entry.order.length) {
      const left = entry.order.length - chosen.length;
      return { words: `${left} of ${entry.order.length} are still to be chosen.` };
    }
    const verdict = judgeOrder(entry, chosen);
    if (!verdict) return { right: true };
    const { node, child, name, says } = verdict;
    this.point(node);
    this.point(child);
    const early = `<b>{${node}} is too early</b>: {${child}} uses it, and comes later.`;
    const whole = says ? ` All in all, ${says}.` : "";
    return { at: node, wrong: name ? [name] : [], words: named(early + whole, names) };
  }
}
