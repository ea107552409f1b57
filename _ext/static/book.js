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

// A table that is wider than the page scrolls by itself: by keyboard, too.
(() => {
  const observer = new ResizeObserver((entries) =>
    entries.forEach(({ target }) => {
      if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }),
  );

  addEventListener("DOMContentLoaded", () =>
    document.querySelectorAll("main table.dataframe").forEach((table) => observer.observe(table)),
  );
})();
