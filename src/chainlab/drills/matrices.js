// Matrix expressions put together from tiles: their numbers, and a problem's. A vector is one row.
import { filled, same } from "./numbers.js";
import { TRIES } from "./series.js";

const turned = (a) => a[0].map((_, j) => a.map((row) => row[j]));
const sized = (a) => `(${a.length > 1 ? [a.length, a[0].length].join(", ") : `${a[0].length},`})`;
const total = (numbers) => numbers.reduce((x, y) => x + y, 0);
const scaled = (a, by) => a.map((row) => row.map((x) => x * by));
const REDUCED = {
  "Σ rows": (a) => [turned(a).map(total)],
  "Σ columns": (a) => [a.map(total)],
  "mean of rows": (a) => scaled([turned(a).map(total)], 1 / a.length),
};
const SCALES = { 2: 2, "1/2": 0.5 };

// What cannot be computed, in words.
class Misfit extends Error {}

const product = (a, b, says) => {
  if (a.value[0].length !== b.value.length) {
    const [left, right] = [a, b].map(({ name, value }) => `${name} ${sized(value)}`);
    const meets = `${a.value[0].length} columns meet ${b.value.length} rows`;
    throw new Misfit(`there is no product of ${left} and ${right}: ${meets}`);
  }
  const columns = turned(b.value);
  const entry = (row, column) => total(row.map((x, k) => x * column[k]));
  return { name: says, value: a.value.map((row) => columns.map((column) => entry(row, column))) };
};

// Entry by entry; one row stands for as many as the other has.
const entrywise = (a, b, f, sign) => {
  const rows = Math.max(a.length, b.length);
  const fits = a[0].length === b[0].length && [a, b].every((x) => [1, rows].includes(x.length));
  if (!fits) throw new Misfit(`${sized(a)} ${sign} ${sized(b)} do not fit, entry by entry`);
  const row = (x, i) => x[x.length > 1 ? i : 0];
  const made = (_, i) => row(a, i).map((x, j) => f(x, row(b, i)[j]));
  return Array.from({ length: rows }, made);
};

// Products, ⊙ between them, and what stands before.
const termOf = (tiles, known) => {
  let [scale, reduced, found, chain] = [1, undefined, undefined, undefined];
  const close = () => {
    if (!chain) throw new Misfit("a factor is missing");
    found = found ? entrywise(found, chain.value, (x, y) => x * y, "⊙") : chain.value;
    chain = undefined;
  };
  for (const tile of tiles) {
    if (SCALES[tile]) scale *= SCALES[tile];
    else if (tile === "⊙") close();
    else if (REDUCED[tile]) {
      if (reduced || found || chain) throw new Misfit(`“${tile}” stands once, before all factors`);
      reduced = REDUCED[tile];
    } else {
      const matrix = known[tile] ?? turned(known[tile.slice(0, -1)]);
      const factor = { name: tile, value: matrix };
      chain = chain ? product(chain, factor, `${chain.name} ${tile}`) : factor;
    }
  }
  close();
  return scaled(reduced ? reduced(found) : found, scale);
};

const computed = (tiles, known) => {
  const ends = tiles.map((tile, i) => (/^[+−]$/.test(tile) ? i : -1)).filter((i) => i >= 0);
  const starts = ends[0] === 0 ? ends : [-1, ...ends];
  const terms = starts.map((start, i) => {
    const term = termOf(tiles.slice(start + 1, starts[i + 1]), known);
    return tiles[start] === "−" ? scaled(term, -1) : term;
  });
  return terms.reduce((a, b) => entrywise(a, b, (x, y) => x + y, "+"));
};

const attempted = (tiles, known) => {
  try {
    return { value: computed(tiles, known) };
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    return { misfit: error.message };
  }
};

const alike = (a, b) =>
  sized(a) === sized(b) && a.every((row, i) => row.every((x, j) => same(x, b[i][j])));

const tellsApart = ({ right, slips }, known) => {
  const found = [right, ...slips.map(([, tiles]) => tiles)]
    .map((tiles) => attempted(tiles, known).value)
    .filter(Boolean);
  return found.every((a, i) => !found.slice(0, i).some((b) => alike(a, b)));
};

// Sizes and matrices of a problem, as tiles.py draws them.
export const drawMatrices = (entry, dice) => {
  const { sizes, apart, matrices, made, lines } = entry;
  for (let i = 0; i < TRIES; i++) {
    const values = Array.from({ length: sizes }, () => dice.choose([2, 3, 4]));
    if (apart && new Set(values).size < sizes) continue;
    const known = {};
    for (const [name, places] of matrices) {
      const [columns, rows = 1] = places.map((place) => values[place]).reverse();
      const row = () => Array.from({ length: columns }, () => dice.choose([-3, -2, -1, 1, 2, 3]));
      known[name] = Array.from({ length: rows }, row);
    }
    for (const [name, tiles] of made) known[name] = computed(tiles, known);
    for (const { label, right } of lines) known[label] = computed(right, known);
    if (lines.every((line) => tellsApart(line, known))) return { leaves: [], values, known };
  }
  throw new Error(`no numbers were found for ${entry.text}`);
};

// Whether tiles give an adjoint; if not, which mistakes give the same, and what else can be said.
export const judgeTiles = ({ entry, known, values }, line, tiles) => {
  const { label, shape, right, slips, hint } = line;
  const asked = entry.lines.slice(entry.lines.indexOf(line)).map((later) => later.label);
  const late = asked.find((name) => tiles.some((tile) => [name, `${name}ᵀ`].includes(tile)));
  if (late) {
    const misfit = `${late} is itself still to be found`;
    return { right: false, slips: [], misfit, words: misfit };
  }
  const { value, misfit } = attempted(tiles, known);
  const wanted = computed(right, known);
  if (value && alike(value, wanted)) return { right: true, slips: [] };
  const made = slips.filter(([, slip]) => {
    const other = value && attempted(slip, known).value;
    return other ? alike(value, other) : slip.join() === tiles.join();
  });
  let words = misfit ?? `its shape is right, and its entries are not; ${hint}`;
  if (value && sized(value) !== sized(wanted)) {
    words = `it is ${sized(value)}, and ${label} is ${filled(shape, values)}`;
  }
  const named = made.map(([, , says]) => says).join("; or ");
  if (named) words = misfit ? `${misfit}; ${named}` : named;
  return { right: false, slips: made, misfit, words };
};
