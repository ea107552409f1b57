export const TRIES = 4000; // draws, after which no numbers are found

// Numbers that look drawn by chance, the same here and in series.py: `below(n)` is less than n.
export const series = (name) => {
  let state = 2166136261;
  for (const letter of name) state = Math.imul(state ^ letter.charCodeAt(), 16777619);
  const below = (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) * most) / 4294967296);
  };
  return { below, choose: (among) => among[below(among.length)] };
};
