export const OPS = {
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  multiply: (a, b) => a * b,
  divide: (a, b) => a / b,
  power: Math.pow,
  negative: (a) => -a,
  absolute: Math.abs,
  maximum: (a, b) => Math.max(a, b),
  minimum: (a, b) => Math.min(a, b),
  less: (a, b) => a < b,
  less_equal: (a, b) => a <= b,
  greater: (a, b) => a > b,
  greater_equal: (a, b) => a >= b,
  equal: (a, b) => a === b,
  not_equal: (a, b) => a !== b,
  isinf: (a) => Math.abs(a) === Infinity,
  isfinite: Number.isFinite,
  logical_and: (a, b) => a && b,
  logical_or: (a, b) => a || b,
  logical_not: (a) => !a,
  where: (condition, a, b) => (condition ? a : b),
  logaddexp: (a, b) =>
    a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))),
};
for (const name of ["sign", "exp", "log", "sqrt", "sin", "cos", "tanh", "log1p", "expm1"]) {
  OPS[name] = Math[name];
}
// The value at each place of a program, see program.py: inputs, constants, results.
export const run = ({ constants, code }, inputs, count = code.length) => {
  const values = [...inputs, ...constants.map(Number)];
  for (let i = 0; i < count; i++) {
    const [name, a, b, c] = code[i];
    values.push(OPS[name](values[a], values[b], values[c]));
  }
  return values;
};
