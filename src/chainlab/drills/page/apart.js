// Rectangles {x, y, width, height}, moved until no two of them cover each other.
const GAP = 2;
const ROUNDS = 50;

const overlap = (a, b, at, size) =>
  Math.min(a[at] + a[size], b[at] + b[size]) - Math.max(a[at], b[at]) + GAP;

// Move two apart, each by half, in the direction in which they are the nearest to it.
const push = (a, b) => {
  const [across, down] = [overlap(a, b, "x", "width"), overlap(a, b, "y", "height")];
  if (across <= 0 || down <= 0) return false;
  const [at, size, by] = down <= across ? ["y", "height", down] : ["x", "width", across];
  const first = a[at] + a[size] / 2 <= b[at] + b[size] / 2 ? a : b;
  const second = first === a ? b : a;
  first[at] -= by / 2;
  second[at] += by / 2;
  return true;
};

export const apart = (given) => {
  const found = given.map((one) => ({ ...one }));
  for (let round = 0; round < ROUNDS; round++) {
    let moved = false;
    found.forEach((a, i) => {
      for (const b of found.slice(i + 1)) moved = push(a, b) || moved;
    });
    if (!moved) break;
  }
  return found;
};
