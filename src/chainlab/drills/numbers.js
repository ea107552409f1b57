// Numbers of a problem, how they are compared and written, and texts that hold them.
export const EXACT = 60; // numbers are multiples of one part of this
export const CLOSE = 1e-9;

export const same = (x, y) => Math.abs(x - y) < CLOSE;

// A number as it is written: −3, 0.5, 1/3.
export const exact = (x) => {
  const parts = Math.round(EXACT * x);
  let [text, above, below] = ["", Math.abs(parts), EXACT];
  while (below) [above, below] = [below, above % below];
  const [whole, part] = [parts / above, EXACT / above];
  if (Math.abs(EXACT * x - parts) > CLOSE) text = String(+x.toPrecision(4));
  else text = 20 % part ? `${whole}/${part}` : String(whole / part);
  return text.replace("-", "−");
};

// A text with numbers in the place of their places; a negative factor or term is in brackets.
export const filled = (text, values) =>
  text.replace(/\{(\d+)\}/g, (_, place, at) => {
    const number = exact(values[place]);
    const joined = /[×+·]\s*(<[^>]*>)?$/.test(text.slice(0, at));
    return joined && number.startsWith("−") ? `(${number})` : number;
  });

// A text with the names that nodes have in this problem.
export const named = (text, names) => text.replace(/\{(n\d+)\}/g, (_, node) => names[node]);
