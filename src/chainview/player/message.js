import { makeShape } from "../ui.js";

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const ease = (part) => (part < 0.5 ? 2 * part * part : 1 - 2 * (1 - part) ** 2);

// A share on its way: it runs from the child back to the parent, against the arrow, and is then
// seen to be added. One travels at a time.
export class Message {
  constructor() {
    this.dot = makeShape("circle", { class: "cg-dot", r: "6" });
    this.end = () => {};
  }

  // Send one along an edge of a drawing. `write` is told what stands in the parent's box: what was
  // there, the sum as it is added up, and at the end nothing.
  send(edge, duration, [before, sum], /** @type {(text?: string) => void} */ write) {
    this.settle();
    if (calm()) return;
    const path = edge.querySelector("path");
    const length = path.getTotalLength();
    const began = performance.now();
    const hold = sum ? duration * 0.9 : 0;
    let frame = 0;
    this.end = () => {
      cancelAnimationFrame(frame);
      this.dot.remove();
      write();
    };
    const move = (now) => {
      const time = Math.max(0, now - began);
      if (time >= duration + hold) return this.settle();
      if (time < duration) {
        const { x, y } = path.getPointAtLength(length * (1 - ease(time / duration)));
        this.dot.setAttribute("cx", x);
        this.dot.setAttribute("cy", y);
      } else {
        this.dot.remove();
        write(sum);
      }
      frame = requestAnimationFrame(move);
    };
    edge.parentNode.append(this.dot);
    if (before !== undefined) write(before);
    move(began);
  }

  // Let what is under way arrive.
  settle() {
    const { end } = this;
    this.end = () => {};
    end();
  }
}
