// One problem, drawn from its bank as problem.py does: its graph, its numbers, what is right.
const TRIES = 4000;
const EXACT = 60; // numbers are multiples of one part of this
const CLOSE = 1e-9;
const same = (x, y) => Math.abs(x - y) < CLOSE;

const isSmall = (x, most) =>
  Math.abs(x) <= most && Math.abs(EXACT * x - Math.round(EXACT * x)) < CLOSE;

// Whether a mistake gives in a box what neither is right nor another mistake gives.
const shows = (name, { right, slips }, values) => {
  const gives = (own) =>
    slips.filter(([other]) => (other === name) === own).map(([, place]) => values[place]);
  const others = [...gives(false), values[right]];
  return gives(true).some((x) => Number.isFinite(x) && !others.some((y) => same(x, y)));
};

// Whether numbers are small and exact, and every mistake shows in a box.
const isFit = ({ shown, boxes, kinks, most }, values) => {
  const places = [...shown.map(([, place]) => place), ...boxes.map(({ right }) => right)];
  const names = new Set(boxes.flatMap(({ slips }) => slips.map(([name]) => name)));
  return (
    kinks.every((place) => Math.abs(values[place]) > CLOSE) &&
    places.every((place) => isSmall(values[place], most)) &&
    [...names].every((name) => boxes.some((box) => shows(name, box, values)))
  );
};

const draw = (kind, level, seed, entries) => {
  const number = (seed - 1) % entries.length;
  const entry = entries[number];
  const dice = series(`${kind}-${level}-${seed}`);
  for (let i = 0; i < TRIES; i++) {
    const leaves = entry.domains.map(dice.choose);
    const values = run(entry, leaves);
    if (isFit(entry, values)) return { kind, level, seed, number, entry, leaves, values };
  }
  throw new Error(`no numbers were found for ${kind}-${level}-${seed}`);
};

// A number as it is written: −3, 0.5, 1/3.
const exact = (x) => {
  const parts = Math.round(EXACT * x);
  let [text, above, below] = ["", Math.abs(parts), EXACT];
  while (below) [above, below] = [below, above % below];
  const [whole, part] = [parts / above, EXACT / above];
  if (Math.abs(EXACT * x - parts) > CLOSE) text = String(+x.toPrecision(4));
  else text = 20 % part ? `${whole}/${part}` : String(whole / part);
  return text.replace("-", "−");
};

// A text with numbers in the place of their places; a negative factor or term is in brackets.
const filled = (text, values) =>
  text.replace(/\{(\d+)\}/g, (_, place, at) => {
    const number = exact(values[place]);
    const joined = /[×+·]\s*(<[^>]*>)?$/.test(text.slice(0, at));
    return joined && number.startsWith("−") ? `(${number})` : number;
  });

// Whether what is read in a box is right, and if not, which mistakes give it.
const judge = ({ values }, { right, slips }, numbers) => {
  if (numbers.some((x) => same(x, values[right]))) return { right: true, slips: [] };
  const made = slips.filter(([, place]) => numbers.some((x) => same(x, values[place])));
  return { right: false, slips: made };
};
