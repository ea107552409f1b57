// Numbers as people write them: −2, 1/3, 0,5, 1e-3, 1½, 2 × (−3), 3².
const POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const SIGNS = { "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "⁄": "/" };
const TOKEN = /(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\*\*|[-+*/^()]/giy;

// The same with the signs of a programming language, and without the name of what it is.
const plain = (text) =>
  text
    .split("=")
    .at(-1)
    .replace(
      /⁻?[⁰¹²³⁴-⁹]+/g,
      (all) => `^${all.replace(/./g, (x) => (x === "⁻" ? "-" : POWERS.indexOf(x)))}`,
    )
    .replace(/(\d)\s*([¼-¾⅐-⅞])/g, "$1 $2")
    .normalize("NFKC")
    .replace(/[−–×·⋅÷⁄]/g, (sign) => SIGNS[sign])
    .trim();

// A whole number before a fraction below 1 is added to it: 1 1/2.
const mixed = (text) =>
  text.replace(/(?<![\d.,])(\d+) ([1-9]\d*)\s*\/\s*(\d+)(?![\d.,])/g, (all, whole, above, below) =>
    +above < +below ? `(${whole}+${above}/${below})` : all,
  );

const tokens = (text) => {
  TOKEN.lastIndex = 0;
  const found = [];
  while (TOKEN.lastIndex < text.length) {
    const [one] = TOKEN.exec(text) ?? [];
    if (!one) return [];
    found.push(one);
  }
  return found;
};

// What an expression comes to; no finite number if it is none.
const computed = (text) => {
  const left = tokens(text);
  const next = (...signs) => (signs.includes(left[0]) ? left.shift() : undefined);
  const atom = () => {
    if (!next("(")) return /\d/.test(left[0]) ? Number(left.shift()) : NaN;
    const inside = sum();
    return next(")") ? inside : NaN;
  };
  const power = () => {
    const base = atom();
    return next("^", "**") ? base ** signed() : base;
  };
  const signed = () => {
    const sign = next("-", "+");
    if (!sign) return power();
    return sign === "-" ? -signed() : signed();
  };
  const product = () => {
    let found = signed();
    for (let sign; (sign = next("*", "/"));) {
      const by = signed();
      found = sign === "*" ? found * by : found / by;
    }
    return found;
  };
  const sum = () => {
    let found = product();
    for (let sign; (sign = next("+", "-"));) found += sign === "-" ? -product() : product();
    return found;
  };
  const found = sum();
  return left.length ? NaN : found;
};

const LONGEST = 100; // letters; brackets without end have no place on the stack

// The numbers that a reader may mean; none if it is none. A comma before three digits may stand for
// thousands or for a point: 1,500 is both, 0,500 is one half.
export const numbersIn = (text) => {
  if (text.length > LONGEST) return [];
  const written = mixed(plain(text)).replace(/\s+/g, "");
  const ways = [
    written.replace(/(?<![\d.,])([1-9]\d{0,2})((?:,\d{3})+)(?!\d)/g, (all) =>
      all.replaceAll(",", ""),
    ),
  ];
  if (!written.includes(".")) ways.push(written.replace(/(\d*),(\d+)(?![\d,])/g, "$1.$2"));
  return [...new Set(ways.map(computed).filter(Number.isFinite))];
};
