// Other scripts of the site make elements with these.
import { make, makeButton } from "../../src/chainview/ui.js";

Object.assign(window, { make, makeButton });

// Paper is white and cannot be clicked: print in the light theme, with all unfolded but the answers
// and the checks that the reader has left folded.
(() => {
  const root = document.documentElement;
  const ANSWERS = ".solution, .predict > details, .checked > details";
  const answers = /** @type {HTMLDetailsElement[]} */ ([
    ...document.querySelectorAll(`main details:is(${ANSWERS})`),
  ]);
  let theme = "";
  let folded = [];

  addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    root.style.setProperty("--address", JSON.stringify(location.href.replace(/#.*/, "")));
    folded = [...document.querySelectorAll(`details:not([open], ${ANSWERS})`)];
    folded.forEach((details) => (details.open = true));
  });

  addEventListener("afterprint", () => {
    root.dataset.theme = theme;
    folded.forEach((details) => (details.open = false));
  });

  const unfold = () => answers.forEach((details) => (details.open = true));
  const title = "Also for paper: what is folded is not printed";
  const button = makeButton("Unfold all answers", unfold, { title });
  if (answers.length)
    document.querySelector("article")?.append(make("p", { className: "answers" }, button));
})();

// Act on what the address leads to: now, and whenever a link within the page is followed.
window.onArrival = (act) => {
  const arrive = (hash) => act(document.getElementById(decodeURIComponent(hash.slice(1))));
  addEventListener("hashchange", () => arrive(location.hash));
  addEventListener("click", ({ target }) => {
    const link = /** @type {Element} */ (target).closest?.("a[href^='#']");
    arrive(/** @type {HTMLAnchorElement} */ (link)?.hash ?? "");
  });
  arrive(location.hash);
};

// A link unfolds what it leads into: browsers of 2024 do not all, and none unfolds the section or the
// check that the link itself names.
(() => {
  const leadTo = (place) => {
    const fold = place?.querySelector(":scope > details:is(.about-checks, .hide)") ?? place;
    const folded = [];
    for (let at = fold; (at = at?.closest("details")); at = at.parentElement)
      if (!(/** @type {HTMLDetailsElement} */ (at).open)) folded.push(at);
    folded.forEach((details) => (details.open = true));
    if (folded.length) place.scrollIntoView();
  };
  window.onArrival(leadTo);
})();

// What is wider than its box scrolls by itself, by keyboard too: also what was folded at first. As
// long as more of it is to come, its edge says so.
(() => {
  const BOXES =
    "main :is(table, pre, div.math, .cell_output > .output, .pst-scrollable-table-container)";

  const look = (box) => {
    const more = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.toggleAttribute("data-more", more > 1);
  };

  const observer = new ResizeObserver((entries) =>
    entries.forEach(({ target }) => {
      const scrolls =
        target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
      if (scrolls) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
      look(target);
    }),
  );

  // After the theme's own script, which looks once, at what is shown.
  addEventListener("load", () =>
    document.querySelectorAll(BOXES).forEach((box) => {
      observer.observe(box);
      box.addEventListener("scroll", () => look(box), { passive: true });
    }),
  );
})();
