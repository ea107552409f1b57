// A graph as an SVG: its nodes with the texts in them that change, and its edges.
export class Drawing {
  constructor(svg) {
    this.svg = svg;
    this.width = +svg.getAttribute("width");
    this.height = +svg.getAttribute("height");
    this.least = 1; // the scale at which its type can still be read
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

  // Write what an edge carries: above it, and below it.
  carry(edge, above, below) {
    const texts = this.edge(...edge).querySelectorAll("text");
    [above, below].forEach((text, i) => texts[i] && (texts[i].textContent = text));
  }
}

// Choose the first drawing that can be shown in a room, at its least scale or more; if none can,
// the one that comes nearest.
export const fitting = (drawings, width, height = Infinity) => {
  const scale = (drawing) =>
    Math.min(1, width / drawing.width, height / drawing.height) / (drawing.least ?? 1);
  const best = [...drawings].sort((a, b) => scale(b) - scale(a))[0];
  return drawings.find((drawing) => scale(drawing) >= 1) ?? best;
};
