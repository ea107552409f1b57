// What is said of a wrong answer: first where it stands, then the kind of mistake, then the number.
const STAGES = ["where", "kind", "number"];
export const stageOf = (tries) => STAGES[Math.min(tries, STAGES.length) - 1];

// A sentence of a text; a name at its beginning keeps its letter, as x and λ do.
export const sentence = (text) => {
  const begun = text.replace(/^(a |[a-z]{2})/, (first) => first[0].toUpperCase() + first.slice(1));
  return /[.?!]$/.test(begun) || !begun ? begun : `${begun}.`;
};

export const sentences = (texts) => texts.map(sentence).join(" Or: ");

// The rows of the table of mistakes that give an answer, the likeliest first, and no more than two.
export const rowsOf = (mistakes, names) =>
  Object.entries(mistakes)
    .filter(([name]) => names.includes(name))
    .map(([, row]) => row)
    .slice(0, 2);

const SAYS = {
  where({ label, error, look }) {
    return `<b>${label}</b> isn’t right yet. ${sentence(error || look)}`;
  },
  kind({ label, error, wrong, hint }, mistakes) {
    const says = rowsOf(mistakes, wrong).map(([told]) => told);
    const kinds = says.join(" Another mistake gives the same. ") || sentence(hint);
    return `<b>${label}</b>: ${error ? `${sentence(error)} ` : ""}${kinds}`;
  },
  number({ label, right, words }) {
    const is = right === undefined ? "" : `<b>${label} is ${right}.</b> `;
    return is + sentence(words);
  },
};

// The words for a wrong answer that was given for the nth time at its place.
export const wordsFor = (found, tries, mistakes) => SAYS[stageOf(tries)](found, mistakes);
