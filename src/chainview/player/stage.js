import { make } from "../ui.js";
import { Drawing, fitting } from "./drawing.js";
import { Message, calm } from "./message.js";

// The place of a graph, which may be drawn in several ways: the first that fits is shown, and all
// are kept up to date.
export class Stage {
  constructor(svgs, label) {
    this.place = make("div", {
      class: "cg-scroll",
      tabindex: "0",
      role: "group",
      "aria-label": "Graph. Left and right arrow: one step. Space: play or pause.",
    });
    this.drawings = svgs.map((svg) => this.read(svg.cloneNode(true), label));
    this.shown = this.drawings[0];
    this.place.append(this.shown.svg);
    this.message = new Message();
    this.room = "";
  }

  read(svg, label) {
    const drawing = new Drawing(svg);
    drawing.least = parseFloat(svg.style.minWidth) / drawing.width; // at which its type can be read
    svg.setAttribute("aria-label", label);
    svg.style.cssText = "";
    return drawing;
  }

  put(changes) {
    this.message.settle();
    for (const drawing of this.drawings) {
      for (const [node, slot, text] of changes) drawing.put(node, slot, text);
    }
  }

  // Mark the nodes of a step and its edge, with what that carries.
  mark({ nodes, edge, changes }, beat) {
    const { shown, message } = this;
    message.settle();
    for (const drawing of this.drawings) {
      for (const group of drawing.svg.querySelectorAll(".cg-on")) group.classList.remove("cg-on");
      if (this.marked) drawing.carry(this.marked, "", "");
    }
    this.marked = undefined;
    for (const node of nodes) shown.nodes[node].group.classList.add("cg-on");
    if (!edge) return;
    const [parent, child, which, above, local, sum] = edge;
    const ends = [parent, child, which];
    const group = shown.edge(...ends);
    group.classList.add("cg-on");
    if (above) shown.carry(ends, above, `× ${local}`);
    this.marked = ends;
    const [, , after] = changes.find(([node, slot]) => node === parent && slot === "grad") ?? [];
    const write = (text = after) => shown.put(parent, "grad", text);
    message.send(group, Math.min(700, beat * 0.5), sum ?? [], after ? write : () => {});
  }

  // Keep what happens in sight where the drawing is wider than its place.
  reveal({ nodes }) {
    const { place, shown } = this;
    const view = place.getBoundingClientRect();
    const boxes = nodes.map((node) => shown.nodes[node].group.getBoundingClientRect());
    const off = (low, high, size) => {
      const from = Math.min(...boxes.map((box) => box[low])) - view[low];
      const room = view[size] - (Math.max(...boxes.map((box) => box[high])) - view[low] - from);
      return from - Math.max(12, room / 2); // in the middle, or from where it begins
    };
    place.scrollBy({
      left: off("left", "right", "width"),
      top: off("top", "bottom", "height"),
      behavior: calm() ? "auto" : "smooth",
    });
  }

  // Show the first drawing that fits a height with this width; whether there is another room.
  fit(most) {
    const style = getComputedStyle(this.place);
    const sum = (...names) => names.reduce((total, name) => total + parseFloat(style[name]), 0);
    const padding = sum("paddingTop", "paddingBottom");
    const width = this.place.clientWidth - sum("paddingLeft", "paddingRight");
    const height = most - padding - 12;
    if (!this.place.clientWidth || this.room === `${width} ${height}`) return false;
    this.room = `${width} ${height}`;
    this.shown = fitting(this.drawings, width, height);
    const { svg, width: wide, height: high, least } = this.shown;
    if (!svg.isConnected) this.place.replaceChildren(svg);
    const room = Math.min(width / wide, height / high);
    const size = room < 1 ? Math.max(least, room) : Math.min(1.5, Math.max(1, 0.92 * room));
    svg.style.width = `${wide * size}px`;
    svg.style.height = `${high * size}px`;
    this.place.style.maxHeight = `${Math.max(height, 240) + padding}px`;
    return true;
  }
}
