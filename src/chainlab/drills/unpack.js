import { exact } from "./numbers.js";

// A value of a bank: its form, with what the columns have for it; see pack.py.
const read = (word) => {
  const [above, below = 1] = word.split("/").map(Number);
  return Number.isNaN(above) ? null : above / below;
};

const OPERATIONS = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "?": (a, b) => (a > 0 ? b : 0),
};

// A number that comes from others: operators stand behind what they take.
const computed = (formula, words) => {
  const stack = [];
  for (const token of formula.split(" ")) {
    if (OPERATIONS[token]) stack.push(OPERATIONS[token](...stack.splice(-2)));
    else stack.push(token.startsWith("#") ? +token.slice(1) : read(words[token]));
  }
  return exact(stack[0]).replace("−", "-");
};

// What each column has for a problem; that of some comes from those before them.
const wordsOf = (columns, i) => {
  const words = [];
  for (const column of columns) {
    if (typeof column !== "string") words.push(column[i]);
    else if (column.startsWith("=")) words.push(computed(column.slice(1), words));
    else words.push(column.split(" ")[i]);
  }
  return words;
};

export const unpack = ({ form, columns }, i) => {
  const words = wordsOf(columns, i);
  const piece = (_, sign, place) => {
    const word = words[place].replaceAll("-", "−");
    return sign === "(" && word.startsWith("−") ? `(${word})` : word;
  };
  const filled = (part) => {
    if (Array.isArray(part)) return part.map(filled);
    if (part && typeof part === "object") {
      return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, filled(value)]));
    }
    if (typeof part !== "string") return part;
    const [, sign, place] = /^\{([=-]?)(\d+)\}$/.exec(part) ?? [];
    if (sign) {
      const number = read(words[place]);
      return number && sign === "-" ? -number : number;
    }
    if (place && typeof columns[place] !== "string") return words[place];
    return part.replace(/\{(\(?)(\d+)\}/g, piece);
  };
  return filled(form);
};
