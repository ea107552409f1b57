// Matrix expressions put together from tiles, and what they give. A vector is one row.
import { same } from "./small_numbers.js";

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

const isSign = (tile) => /^[+−]$/.test(tile ?? "");

// Where terms begin: at a sign that has a factor before it in its term. Another is that of the
// factors to come, as in Σ rows − Ȳ. If a sum takes all that follows it, no term begins after it.
const termsOf = (tiles, takesAll) => {
  const terms = [[]];
  for (const tile of tiles) {
    const term = terms.at(-1);
    const begun = term.some((one) => !isSign(one) && !REDUCED[one] && !SCALES[one]);
    if (isSign(tile) && begun && !(takesAll && term.some((one) => REDUCED[one])))
      terms.push([tile]);
    else term.push(tile);
  }
  return terms;
};

const sumOf = (matrices) => matrices.reduce((a, b) => entrywise(a, b, (x, y) => x + y, "+"));

const signed = (term, known, takesAll) => {
  const at = term.findIndex((one) => REDUCED[one]);
  if (takesAll && at >= 0) {
    const inner = sumOf(termsOf(term.slice(at + 1)).map((one) => signed(one, known)));
    const before = term.slice(0, at);
    if (before.some((one) => !isSign(one) && !SCALES[one])) {
      throw new Misfit(`“${term[at]}” stands once, before all factors`);
    }
    const by = before.reduce((x, one) => x * (SCALES[one] ?? (one === "−" ? -1 : 1)), 1);
    return scaled(REDUCED[term[at]](inner), by);
  }
  const minus = term.filter((one) => one === "−").length;
  return scaled(
    termOf(
      term.filter((one) => !isSign(one)),
      known,
    ),
    (-1) ** minus,
  );
};

// What tiles give. A sum takes its own term, or else all that follows it: both are meant by people.
const WAYS = [false, true];
const computed = (tiles, known, takesAll = false) =>
  sumOf(termsOf(tiles, takesAll).map((term) => signed(term, known, takesAll)));

const attempted = (tiles, known, takesAll) => {
  try {
    return { value: computed(tiles, known, takesAll) };
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    return { misfit: error.message };
  }
};

const alike = (a, b) =>
  sized(a) === sized(b) && a.every((row, i) => row.every((x, j) => same(x, b[i][j])));

// The matrices of a problem, by name: given ones, and what is computed from them.
export const matricesOf = ({ matrices, made, lines }) => {
  const known = { ...matrices };
  for (const [name, tiles] of made) known[name] = computed(tiles, known);
  for (const { label, right } of lines) known[label] = computed(right, known);
  return known;
};

// Whether tiles give an adjoint; if not, which mistakes give the same, and what else can be said.
export const judgeTiles = ({ lines }, known, i, tiles) => {
  const { label, shape, right, mistakes, hint } = lines[i];
  const asked = lines.slice(i).map((later) => later.label);
  const late = asked.find((name) => tiles.some((tile) => [name, `${name}ᵀ`].includes(tile)));
  if (late) {
    const misfit = `${late} is itself still to be found`;
    return { right: false, mistakes: [], misfit, words: misfit };
  }
  const wanted = computed(right, known);
  const ways = WAYS.map((way) => attempted(tiles, known, way));
  if (ways.some(({ value }) => value && alike(value, wanted))) return { right: true, mistakes: [] };
  const [{ value, misfit }] = ways;
  const made = mistakes.filter(([, other]) => {
    const its = value && attempted(other, known).value;
    return its ? alike(value, its) : other.join() === tiles.join();
  });
  let words = misfit ?? `its shape is right, and its entries are not; ${hint}`;
  if (value && sized(value) !== sized(wanted))
    words = `it is ${sized(value)}, and ${label} is ${shape}`;
  const named = made.map(([, , says]) => says).join("; or ");
  if (named) words = misfit ? `${misfit}; ${named}` : named;
  return { right: false, mistakes: made, misfit, words };
};
