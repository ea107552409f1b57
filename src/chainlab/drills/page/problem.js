// One problem of a file, whether what is answered is right, and the step that shows it.
import { near, same } from "./small_numbers.js";

// The problem of a file that has this number, with the pictures of its graph.
export const pick = (graphs, number) => {
  const { pictures, problems } = graphs.find((graph) => number in graph.problems);
  return { pictures, ...problems[number] };
};

// Whether what is read in a box is right, and if not, the mistakes that give it, likelier first.
export const judge = ({ right, mistakes }, numbers) => {
  const given = (fits) =>
    mistakes.filter(([, gives]) => gives !== null && numbers.some((x) => fits(x, gives)));
  if (numbers.some((x) => same(x, right))) return { right: true, mistakes: [] };
  const made = given(same);
  if (!made.length && numbers.some((x) => near(x, right))) return { right: true, mistakes: [] };
  return { right: false, mistakes: made.length ? made : given(near) };
};

// The mistake that all that is chosen is, if it is one.
const mistake = (wrong, chosen) => wrong.find(([, made]) => made.join() === chosen.join())?.[0];

// The first value that is kept for nothing, or missing, and which mistake all that is kept is.
// Of two ways to keep enough the one that is meant is the one that differs less.
export const judgeKept = ({ says, right, also, wrong }, chosen) => {
  const faults = (kept) =>
    Object.keys(says).filter((one) => chosen.includes(one) !== kept.includes(one));
  const [ours, theirs] = [faults(right), faults(also)];
  const [[node], kept] = theirs.length < ours.length ? [theirs, also] : [ours, right];
  if (!node) return undefined;
  return { node, isRead: kept.includes(node), name: mistake(wrong, [...chosen].sort()) };
};

// The first node that passes on before one of its children, and which mistake the whole order is.
export const judgeOrder = ({ children, wrong }, order) => {
  for (const [i, node] of order.entries()) {
    const child = children[node].find((one) => order.indexOf(one) > i);
    if (child) return { node, child, name: mistake(wrong, order) };
  }
  return undefined;
};

const joined = (ends) => ends?.slice(0, 3).join();

// The last step along an edge; else the last that writes into a slot; else the first at a node.
export const stepAt = (steps, { node, slot, edge }) => {
  const along = steps.findLastIndex(([, , , drawn]) => edge && joined(drawn) === joined(edge));
  if (along >= 0) return along;
  const writes = ([at, into]) => at === node && into === slot;
  const written = steps.findLastIndex(([, , , , changes]) => slot && changes.some(writes));
  if (written >= 0) return written;
  return Math.max(
    0,
    steps.findIndex(([, , nodes]) => nodes.includes(node)),
  );
};
