// What all scripts share that make elements, here and on the site.

// Make an element: with properties, or attributes where it has no such property, and what is in it.
export const make = (name, properties = {}, ...inside) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...inside);
  return element;
};

// And a button, by what it says and does.
export const makeButton = (text, onclick, properties = {}) =>
  make("button", { type: "button", onclick, ...properties }, text);

// And a part of a drawing.
export const makeShape = (name, attributes) => {
  const shape = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
  return shape;
};

// Let the reader press a part of a drawing as a button.
export const actAsButton = (shape, act) => {
  shape.setAttribute("role", "button");
  shape.setAttribute("tabindex", "0");
  shape.addEventListener("click", act);
  shape.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
  // Firefox and WebKit scroll to another place for a group, which may leave it out of view.
  shape.addEventListener("focus", () => {
    if (!shape.matches(":focus-visible")) return; // what a mouse presses stays where it is
    shape.querySelector(".cg-box").scrollIntoView({ block: "nearest", inline: "nearest" });
  });
};

// Text as it is written in HTML.
export const escaped = (text) =>
  text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

// Bring elements into view, with no more scrolling than that takes; the last counts the most.
export const reveal = (...elements) => {
  const how = /** @type {const} */ ({ block: "nearest", behavior: "instant" });
  for (const element of elements) element.scrollIntoView(how);
};

// What Python has written into a piece.
export const dataOf = (root) =>
  JSON.parse(root.querySelector("script[type='application/json']").textContent);

// Start the pieces that have not started: each of several on a page has this script.
export const startAll = (selector, start) => {
  for (const root of /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll(`${selector}:not([data-ready])`)
  )) {
    root.dataset.ready = "";
    start(root, dataOf(root));
  }
};

// Keep keys from a notebook, which has its own use for most.
export const keepKeys = (element) =>
  element.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
