// What is said of a wrong answer: first where it stands, then the kind of mistake, then the number.
const STAGES = ["where", "kind", "number"];
export const stageOf = (tries) => STAGES[Math.min(tries, STAGES.length) - 1];

// A sentence of a text; a name at its beginning keeps its letter, as x and λ do.
export const sentence = (text) => {
  const begun = text.replace(/^(a |[a-z]{2})/, (first) => first[0].toUpperCase() + first.slice(1));
  return /[.?!]$/.test(begun) || !begun ? begun : `${begun}.`;
};

export const sentences = (texts) => texts.map(sentence).join(" Or: ");

// The rows of the table of mistakes that give an answer, the likeliest first; none if too many do.
const MANY = 3;
export const rowsOf = (mistakes, names) => {
  const rows = Object.entries(mistakes).filter(([name]) => names.includes(name));
  return rows.length > MANY ? [] : rows.map(([, row]) => row);
};

// How to compute it: a formula alone would say nothing.
const start = (hint) => (/^(<[^>]*>|\S)+ = /.test(hint) ? `Start from ${hint}.` : sentence(hint));
const UNKNOWN = "No single mistake that we know explains this answer, so take it step by step.";

// One mistake is told in full; of several each in a sentence, and then how to compute.
const kinds = (rows, hint) => {
  if (!rows.length) return `${UNKNOWN} ${start(hint)}`;
  if (rows.length === 1) return rows[0].slice(0, 2).join(" ");
  const each = rows.map(([did]) => did).join(" Or: ");
  return `${each} ${rows.length > 2 ? "All of these" : "Both"} give this answer. ${start(hint)}`;
};

const SAYS = {
  where({ label, where = "isn’t right yet", error, look }) {
    return `<b>${label}</b> ${where}. ${sentence(error || look)}`;
  },
  kind({ label, error, wrong, hint }, mistakes) {
    const said = kinds(rowsOf(mistakes, wrong), hint);
    return `<b>${label}</b>: ${error ? `${sentence(error)} ` : ""}${said}`;
  },
  number({ label, right, given, words }) {
    const is = right === undefined ? "" : `<b>${label} is ${right}.</b> You wrote ${given}. `;
    return is + start(words);
  },
};

// The words for a wrong answer that was given for the nth time at its place.
export const wordsFor = (found, tries, mistakes) => SAYS[stageOf(tries)](found, mistakes);
