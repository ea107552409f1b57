// A value of a bank: its form, with what the columns have for it; see pack.py.
const read = (word) => {
  const [above, below = 1] = word.split("/").map(Number);
  return Number.isNaN(above) ? null : above / below;
};

export const unpack = ({ form, columns }, i) => {
  const split = columns.map((column) => (typeof column === "string" ? column.split(" ") : column));
  const piece = (_, sign, place) => {
    const word = split[place][i].replaceAll("-", "−");
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
      const number = read(split[place][i]);
      return number && sign === "-" ? -number : number;
    }
    if (place && typeof columns[place] !== "string") return columns[place][i];
    return part.replace(/\{(\(?)(\d+)\}/g, piece);
  };
  return filled(form);
};
