// What the page says to its scripts. `told.isEmbedded` is said by the page that others show in a
// frame, which keeps nothing; `told.here` is then where the workbench itself is.
export const told = JSON.parse(document.getElementById("workbench-told").textContent);
export const base = new URL(told.root, location.href);
export const button = (label, title, act) => makeButton(label, act, { title });
export const group = (ariaLabel, ...inside) =>
  make("div", { className: "bench-bar", role: "group", ariaLabel }, ...inside);

/** The starting point that a text is. */
export const startOf = (text) => told.starts.find((start) => start.text === text);
