// One problem, drawn from its bank as problem.py does: its graph, its numbers, what is right.
import { run } from "../../chainview/figures/program.js";
import { drawMatrices } from "./matrices.js";
import { CLOSE, EXACT, same } from "./numbers.js";
import { TRIES, series } from "./series.js";

const isSmall = (x, most) =>
  Math.abs(x) <= most && Math.abs(EXACT * x - Math.round(EXACT * x)) < CLOSE;

// Whether a mistake gives in a box what neither is right nor another mistake gives.
const shows = (name, { right, slips }, values) => {
  const gives = (own) =>
    slips.filter(([other]) => (other === name) === own).map(([, place]) => values[place]);
  const others = [...gives(false), values[right]];
  return gives(true).some((x) => Number.isFinite(x) && !others.some((y) => same(x, y)));
};

// Whether numbers are small and exact, and every mistake shows in a box.
const isFit = ({ shown, boxes, kinks, most }, values) => {
  const places = [...shown.map(([, place]) => place), ...boxes.map(({ right }) => right)];
  const names = new Set(boxes.flatMap(({ slips }) => slips.map(([name]) => name)));
  return (
    kinks.every((place) => Math.abs(values[place]) > CLOSE) &&
    places.every((place) => isSmall(values[place], most)) &&
    [...names].every((name) => boxes.some((box) => shows(name, box, values)))
  );
};

// Whether a wrong message is neither what is right nor what another mistake gives there.
const isFound = ({ edges, variants, most }, variant, values) => {
  const { fault, sent, sums } = variant;
  const others = variants.filter((other) => other.fault === fault && other !== variant);
  const told = [edges[fault].right, ...others.map((other) => other.sent[fault])];
  return (
    [...sent, ...Object.values(sums)].every((place) => isSmall(values[place], most)) &&
    !told.some((place) => same(values[place], values[sent[fault]]))
  );
};

// The names that nodes have in a problem.
const shuffled = (letters, dice) => {
  const names = Object.values(letters);
  for (let last = names.length - 1; last > 0; last--) {
    const other = dice.below(last + 1);
    [names[last], names[other]] = [names[other], names[last]];
  }
  return Object.fromEntries(Object.keys(letters).map((node, i) => [node, names[i]]));
};

// A size for each letter, no two of them the same, as equations.py draws them.
const drawSizes = ({ sizes }, dice) => {
  const left = [3, 4, 5, 6, 7];
  return Array.from({ length: sizes }, () => left.splice(dice.below(left.length), 1)[0]);
};

export const draw = (kind, level, seed, entries) => {
  const number = (seed - 1) % entries.length;
  const entry = entries[number];
  const dice = series(`${kind}-${level}-${seed}`);
  const names = shuffled(entry.letters ?? {}, dice);
  const found = { kind, level, seed, number, entry, names };
  if (entry.lines) return { ...found, ...drawMatrices(entry, dice) };
  if (entry.typed) return { ...found, leaves: [], values: drawSizes(entry, dice) };
  const variant = entry.variants && dice.choose(entry.variants);
  for (let i = 0; i < TRIES; i++) {
    const leaves = entry.domains.map(dice.choose);
    const values = run(entry, leaves);
    if (!isFit(entry, values) || (variant && !isFound(entry, variant, values))) continue;
    return { ...found, leaves, values, variant };
  }
  throw new Error(`no numbers were found for ${kind}-${level}-${seed}`);
};

// Whether what is read in a box is right, and if not, which mistakes give it.
export const judge = ({ values }, { right, slips }, numbers) => {
  if (numbers.some((x) => same(x, values[right]))) return { right: true, slips: [] };
  const made = slips.filter(([, place]) => numbers.some((x) => same(x, values[place])));
  return { right: false, slips: made };
};

// What all that is chosen is, if it is one of the mistakes.
const mistake = (wrong, chosen) => {
  const [name, , says] = wrong.find(([, made]) => made.join() === chosen.join()) ?? [];
  return { name, says };
};

// The first value that is kept for nothing, or missing, and what all that is kept is.
export const judgeKept = ({ says, right, wrong }, chosen) => {
  const node = Object.keys(says).find((one) => chosen.includes(one) !== right.includes(one));
  if (!node) return undefined;
  return { node, isRead: right.includes(node), ...mistake(wrong, [...chosen].sort()) };
};

// The first node that passes on before one of its children, and what the whole order is.
export const judgeOrder = ({ children, wrong }, order) => {
  for (const [i, node] of order.entries()) {
    const child = children[node].find((one) => order.indexOf(one) > i);
    if (child) return { node, child, ...mistake(wrong, order) };
  }
  return undefined;
};
