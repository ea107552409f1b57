// Paper is white and cannot be clicked: print in the light theme, with everything unfolded.
(() => {
  const root = document.documentElement;
  let theme = "";
  let folded = [];

  addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((details) => (details.open = true));
  });

  addEventListener("afterprint", () => {
    root.dataset.theme = theme;
    folded.forEach((details) => (details.open = false));
  });
})();

// What is wider than its box scrolls by itself, by keyboard too: also what was folded at first.
(() => {
  const BOXES = "main :is(table.dataframe, pre, div.math, .cell_output > .output)";
  const observer = new ResizeObserver((entries) =>
    entries.forEach(({ target }) => {
      const scrolls = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
      if (scrolls) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }),
  );

  // After the theme's own script, which looks once, at what is shown.
  addEventListener("load", () =>
    document.querySelectorAll(BOXES).forEach((box) => observer.observe(box)),
  );
})();
