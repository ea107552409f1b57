// Which step of the player a place of a problem belongs to.
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
