// Where a reader should begin: at most six problems along the path of the course, each chosen by
// the answers before it.
export const QUESTIONS = 6;

// The stops below `low` are known; `high` is the first that isn't, or the end.
const between = (answers, count) => {
  let [low, high] = [0, count];
  for (const { stop, right } of answers) {
    if (!right) [low, high] = [Math.min(low, stop), Math.min(high, stop)];
    else [low, high] = [Math.max(low, stop + 1), stop >= high ? count : high];
  }
  return [low, high];
};

// The next stop to ask for: nearer to the beginning, for its problems are shorter. A stop that went
// wrong is asked for once more at the end: it may have been a slip.
export const nextStop = (answers, count) => {
  const [low, high] = between(answers, count);
  const failed = answers.filter(({ stop, right }) => stop === high && !right).length;
  if (answers.length >= QUESTIONS || low >= count || failed > 1) return undefined;
  return low + Math.floor((high - low) / 3);
};

// The stop to begin with.
export const firstStop = (answers, count) => Math.min(between(answers, count)[1], count - 1);
