// How far a reader has come in one kind: levels, series of right ones, and what comes back.
export const IN_A_ROW = 5;
const AFTER = [2, 6]; // problems, after which a wrong one comes back
const SERIES = 200; // problems of a level, after which the first ones come again
const FRESH = { level: 1, row: 0, passed: 0, done: 0, seeds: {}, met: {}, again: [] };
export const begun = (kept) => ({ ...FRESH, ...kept }); // what is in it is replaced, never changed

// The same graph with other numbers: a series comes by its graphs in turn, and these are far ahead.
export const others = (seed, graphs) => {
  const rounds = Math.max(1, Math.floor(SERIES / graphs));
  const far = Math.floor(rounds / 2);
  return AFTER.map((_, k) => ((seed - 1 + graphs * (far + k)) % (graphs * rounds)) + 1);
};

// After a problem, "right", "wrong" or with one "part" wrong: what is kept, and whether a level was
// passed by it. One that was met before changes nothing in the row.
export const after = (kept, { level, seed, graphs }, outcome, levels) => {
  const next = begun(kept);
  const met = next.met[level] ?? [];
  const isNew = !met.includes(seed);
  const is = (one) => one.level === level && one.seed === seed;
  const isBack = next.again.some(is);
  next.done++;
  if (isNew) next.met = { ...next.met, [level]: [...met, seed] };
  if (!isBack) next.seeds = { ...next.seeds, [level]: Math.max(next.seeds[level] ?? 0, seed) };
  next.again = next.again.filter((one) => !is(one));
  if (outcome !== "right") {
    const back = others(seed, graphs).map((other, k) => ({
      seed: other,
      at: next.done + AFTER[k],
    }));
    next.again = [...next.again, ...back.map((one) => ({ level, ...one }))];
  }
  if (level !== next.level && !isBack) [next.level, next.row] = [level, 0];
  if (level === next.level && isNew) {
    next.row = { right: next.row + 1, part: next.row }[outcome] ?? 0;
  }
  const passes = next.row >= IN_A_ROW;
  if (passes) {
    next.passed = Math.max(next.passed, level);
    next.level = Math.min(level + 1, levels);
    next.row = 0;
  }
  return [next, passes];
};

// What was wrong and is due; on a new visit that is all of it.
export const due = (kept, visit = false, level = undefined) => {
  const { again, done } = begun(kept);
  const isDue = (one) => (visit || one.at <= done) && (level ?? one.level) === one.level;
  return again.filter(isDue).sort((a, b) => a.at - b.at)[0];
};

// What a reader has done on a level: a mark, and words for it.
export const stateOf = (kept, level) => {
  const { row, passed, seeds, level: now } = begun(kept);
  if (due(kept, false, level)) return ["↻", "due again"];
  if (level <= passed) return ["✓", "passed"];
  if (!seeds[level]) return ["–", "not begun"];
  const right = level === now ? row : 0;
  return [`${right}/${IN_A_ROW}`, `${right} of ${IN_A_ROW} in a row`];
};
