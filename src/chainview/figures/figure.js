import { Drawing } from "../player/drawing.js";
import { keepKeys, startAll } from "../ui.js";

// Four digits, as in drawings, and at most nine characters.
export const number = (x) => {
  const size = Math.abs(x);
  const text = size && (size < 1e-3 || size >= 1e6) ? x.toExponential(2) : +x.toPrecision(4);
  const whole = text === x ? `${text}.0` : x.toPrecision(4);
  return (Number.isInteger(text) ? whole : String(text)).replaceAll("-", "−");
};
// Start the figures of a kind that have not started. Each has its controls. `drawings` are those of
// the still, which may be drawn twice, for wide and for narrow places: `boxes` has all boxes of a
// node, `put` writes into them.
export const startFigures = (kind, start) => {
  startAll(`.chaingrad-moving[data-kind=${kind}]`, (root, data) => {
    const live = root.querySelector(".cg-live");
    const graph = root.querySelector(".cg-graph").cloneNode(true);
    live.prepend(graph);
    live.hidden = false;
    keepKeys(live);
    const drawings = [...graph.querySelectorAll("svg")].map((svg) => new Drawing(svg));
    const boxes = (id) => drawings.map(({ nodes }) => nodes[id].group);
    const put = (id, slot, x) => {
      for (const { nodes } of drawings) {
        const text = nodes[id][slot];
        if (text) text.textContent = text.textContent.replace(/ .*/, ` ${number(x)}`);
      }
    };
    const toggle = (id, name, on) => boxes(id).map((box) => box.classList.toggle(name, on));
    const find = (selector) => live.querySelectorAll(selector);
    start({ data, drawings, boxes, put, toggle, find });
  });
};
