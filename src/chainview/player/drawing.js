// A graph as an SVG: its nodes with the texts in them that change, and its edges.
export class Drawing {
  constructor(svg) {
    this.svg = svg;
    this.nodes = {};
    this.edges = {};
    for (const group of svg.querySelectorAll("[data-node]")) {
      const slots = (this.nodes[group.dataset.node] = { group });
      for (const text of group.querySelectorAll("[data-slot]")) slots[text.dataset.slot] = text;
    }
    for (const group of svg.querySelectorAll("[data-from]")) {
      (this.edges[`${group.dataset.from} ${group.dataset.to}`] ??= []).push(group);
    }
  }

  // Write into a slot of a node, if it has that; its state is no text.
  put(node, slot, text) {
    const slots = this.nodes[node];
    if (slot === "state") slots.group.dataset.state = text;
    else if (slots[slot]) slots[slot].textContent = text;
  }

  edge(parent, child, which) {
    return this.edges[`${parent} ${child}`][which];
  }
}
