// How far a reader has come in one kind: levels, series of right ones, and what comes back.
export const IN_A_ROW = 5;
const AFTER = [2, 6]; // problems, after which a wrong one comes back
export const begun = () => ({ level: 1, row: 0, passed: 0, done: 0, seeds: {}, again: [] });

// After a problem: what is kept, and whether a level was passed by it.
export const after = (kept, { level, seed }, clean, levels) => {
  const next = { ...begun(), ...kept };
  next.done++;
  next.seeds = { ...next.seeds, [level]: Math.max(next.seeds[level] ?? 0, seed) };
  const is = (one) => one.level === level && one.seed === seed;
  const back = next.again.filter(is);
  next.again = next.again.filter((one) => !is(one));
  if (!clean) next.again.push(...AFTER.map((wait) => ({ level, seed, at: next.done + wait })));
  else next.again.push(...back.filter(({ at }) => at > next.done));
  if (level !== next.level && !back.length) [next.level, next.row] = [level, 0];
  if (level === next.level) next.row = clean ? next.row + 1 : 0;
  const passes = next.row >= IN_A_ROW;
  if (passes) {
    next.passed = Math.max(next.passed, level);
    next.level = Math.min(level + 1, levels);
    next.row = 0;
  }
  return [next, passes];
};

// What was wrong and is due; on a new visit that is all of it.
export const due = (kept, visit = false) => {
  const { again, done } = { ...begun(), ...kept };
  return again.filter(({ at }) => visit || at <= done).sort((a, b) => a.at - b.at)[0];
};
