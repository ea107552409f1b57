// The numbers that a reader may mean by −2, 1/3, 0.5, 0,5 or 1e-3; none if it is none. A comma
// before three digits may stand for thousands or for a point: 1,500 is both, 0,500 is one half.
export const numbersIn = (text) => {
  const plain = text
    .trim()
    .replace(/[−–]/g, "-")
    .replace(/\s+/g, "");
  const ways = [
    plain.replace(/(?<![\d.,])([1-9]\d{0,2})((?:,\d{3})+)(?!\d)/g, (all) =>
      all.replaceAll(",", ""),
    ),
  ];
  if (!plain.includes(".")) ways.push(plain.replace(/(\d*),(\d+)(?![\d,])/g, "$1.$2"));
  const numbers = ways.map((way) => {
    const parts = way.split("/");
    if (
      parts.length > 2 ||
      parts.some((part) => !/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(part))
    )
      return NaN;
    return parts.map(Number).reduce((above, below) => above / below);
  });
  return [...new Set(numbers.filter(Number.isFinite))];
};
