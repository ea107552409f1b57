// Numbers of a problem: how they are compared and written.
const EXACT = 60; // numbers that are asked for are multiples of one part of this
const CLOSE = 1e-9;
const DIGITS = 3; // of a third, as many as have to be right

export const same = (x, y) => Math.abs(x - y) < CLOSE;

const whole = (x) => Math.abs(x - Math.round(x)) < CLOSE;

// Whether a number is another, or has its first digits, rounded or cut, where they never end.
export const near = (x, y) => {
  if (y === null) return false;
  if (same(x, y)) return true;
  if (whole(1000 * y) || x * y <= 0) return false;
  const [typed, right] = [Math.abs(x), Math.abs(y)];
  const unit = 10 ** (Math.floor(Math.log10(right)) + 1 - DIGITS);
  const short = right - typed;
  return Math.abs(short) <= unit / 2 || (short > 0 && short < unit);
};

// A number as it is written: −3, 0.5, 1/3.
export const exact = (x) => {
  const parts = Math.round(EXACT * x);
  let [text, above, below] = ["", Math.abs(parts), EXACT];
  while (below) [above, below] = [below, above % below];
  const [top, part] = [parts / above, EXACT / above];
  if (!whole(EXACT * x)) text = String(+x.toPrecision(4));
  else text = 20 % part ? `${top}/${part}` : String(top / part);
  return text.replace("-", "−");
};
