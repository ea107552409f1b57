// The arrays of both passes: one drags the number of examples, and presses what makes an entry.
import { keepKeys, startAll } from "../../chainview/ui.js";

startAll(".chaingrad-batch", (root, { lines, axes, sizes, over }) => {
  const [controls, drawn, words, slider] = [".cg-controls", ".cg-lines", ".cg-words", "input"].map(
    (selector) => root.querySelector(selector),
  );
  const tiles = [...root.querySelectorAll(".cg-tile")];
  const picked = lines.map(() => null); // of each line, the entry of its result
  let last = null;

  const axesOf = (name) => {
    const found = [...axes[name.replace(".T", "")]];
    return name.endsWith(".T") ? found.reverse() : found;
  };
  const shapeOf = (name) => {
    const [columns, rows = 1] = axesOf(name)
      .map((axis) => sizes[axis])
      .reverse();
    return [rows, columns];
  };
  // What lights up in an array: its first row and column, and how many of each.
  const litIn = ({ kind }, place, entry, shape) => {
    const [i, k] = entry;
    const [rows, columns] = shape;
    if (place === 0) return [i, k, 1, 1];
    if (kind === "sum") return [0, k, rows, 1];
    if (kind === "each") return [i, k, 1, 1];
    if (place === 1) return [i, 0, 1, columns];
    return [0, k, rows, 1]; // also of the bias, which has one row
  };
  const told = ({ names: [result, left, right], kind, over: axis }, entry) => {
    const [i, k] = entry;
    const name = `<b>${result}[${axesOf(result).length > 1 ? `${i}, ` : ""}${k}]</b>`;
    if (kind === "each") {
      return `${name} reads the same entry of ${right ? `${left} and ${right}` : left}, and no other.`;
    }
    const many = sizes[axis];
    const each = many > 1 ? `, one for each of the ${many} ${over[axis]}` : ", of the only example";
    if (kind === "sum") return `${name} adds up column ${k} of ${left}: ${many} numbers${each}.`;
    return (
      `${name} multiplies row ${i} of ${left} and column ${k} of ${right}, and adds up ` +
      `${many} product${many > 1 ? "s" : ""}${each}.`
    );
  };
  const light = (tile) => {
    const line = lines[tile];
    tiles[tile].querySelectorAll(".cg-lit").forEach((lit, place) => {
      lit.hidden = !picked[tile];
      if (!picked[tile]) return;
      const found = litIn(line, place, picked[tile], shapeOf(line.names[place]));
      ["--y", "--x", "--t", "--w"].forEach((name, i) => lit.style.setProperty(name, found[i]));
    });
  };
  const pick = (tile, entry) => {
    if (last !== null && last !== tile) {
      picked[last] = null;
      light(last);
    }
    last = tile;
    picked[tile] = entry;
    light(tile);
    words.innerHTML = told(lines[tile], entry);
  };
  const fit = (entry, shape) =>
    shape.map((size, axis) => Math.max(0, Math.min(size - 1, entry[axis])));
  slider.addEventListener("input", () => {
    sizes.n = Number(slider.value);
    drawn.style.setProperty("--n", slider.value);
    for (const text of root.querySelectorAll("[data-size]")) text.textContent = slider.value;
    if (last !== null) pick(last, fit(picked[last], shapeOf(lines[last].names[0])));
  });
  tiles.forEach((element, tile) => {
    const { names } = lines[tile];
    const grid = element.querySelector(".cg-grid"); // of the result, which stands first
    element.setAttribute("role", "button");
    element.setAttribute("tabindex", "0");
    const next = () => {
      const [rows, columns] = shapeOf(names[0]);
      const [i, k] = picked[tile] ?? [0, -1];
      const place = (i * columns + k + 1) % (rows * columns);
      pick(tile, [Math.floor(place / columns), place % columns]);
    };
    element.addEventListener("click", (event) => {
      const box = grid.getBoundingClientRect();
      const [rows, columns] = shapeOf(names[0]);
      const i = Math.floor(((event.clientY - box.top) / box.height) * rows);
      const k = Math.floor(((event.clientX - box.left) / box.width) * columns);
      const isInside = i >= 0 && i < rows && k >= 0 && k < columns;
      if (isInside) pick(tile, [i, k]);
      else next();
    });
    element.addEventListener("keydown", (event) => {
      const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const [down, right] = by[event.key] ?? [0, 0];
      if (down || right) {
        const [i, k] = picked[tile] ?? [-down, -right];
        pick(tile, fit([i + down, k + right], shapeOf(names[0])));
      } else if (event.key === "Enter" || event.key === " ") next();
      else return;
      event.preventDefault();
    });
  });
  controls.hidden = false;
  keepKeys(root);
});
