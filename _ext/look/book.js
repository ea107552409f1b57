// Other scripts of the site make elements with these.
import { make, makeButton } from "../../src/chainview/ui.js";

Object.assign(window, { make, makeButton });

// Paper is white and cannot be clicked: print in the light theme, with all unfolded but the answers
// and the checks that the reader has left folded.
(() => {
  const root = document.documentElement;
  const ANSWERS = ".solution, .predict > details, .checked > details";
  const answers = [...document.querySelectorAll(`main details:is(${ANSWERS})`)];
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

// A link unfolds what it leads into: browsers of 2024 do not all, and none unfolds the section or the
// check that the link itself names.
(() => {
  const leadTo = (hash) => {
    const place = document.getElementById(decodeURIComponent(hash.slice(1)));
    let fold = place?.querySelector(":scope > details:is(.about-checks, .hide)") ?? place;
    const folded = [];
    for (; (fold = fold?.closest("details")); fold = fold.parentElement)
      if (!fold.open) folded.push(fold);
    folded.forEach((details) => (details.open = true));
    if (folded.length) place.scrollIntoView();
  };
  addEventListener("hashchange", () => leadTo(location.hash));
  addEventListener("click", ({ target }) => leadTo(target.closest?.("a[href^='#']")?.hash ?? ""));
  leadTo(location.hash);
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
