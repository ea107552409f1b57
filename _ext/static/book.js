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
