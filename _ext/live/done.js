// The page of progress: what is kept of each thing that can be tried.
(() => {
  const lists = document.querySelectorAll("ul.to-try");
  if (!lists.length) return;
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);

  /** What is kept of what a link leads to: "right", "begun" or "". */
  function state(link) {
    const { pathname, hash } = new URL(link.href);
    const page = pathname.slice(root.pathname.length).replace(/\.html$/, "");
    const { code = {}, guesses = {} } = kept.read(decodeURIComponent(page));
    const tried = guesses[hash.replace("#predict-", "")] ?? code[`answer ${hash.slice(1)}`];
    if (!tried || tried.off) return "";
    return tried.right ? "right" : "begun";
  }

  const says = { right: " ✓ right", begun: " … begun", "": "" };
  const line = make("p", { className: "progress-sum", role: "status" });
  lists[0].parentElement.insertBefore(line, lists[0].previousElementSibling);

  function show() {
    const links = [...document.querySelectorAll("ul.to-try a")];
    const states = links.map(state);
    links.forEach((link, i) => {
      link.parentElement.querySelector(".progress-state")?.remove();
      link.after(make("span", { className: "progress-state" }, says[states[i]]));
    });
    const right = states.filter((each) => each === "right").length;
    const next = links[states.findIndex((each) => each !== "right")];
    line.replaceChildren(`${right} of ${links.length} are right. `);
    if (next)
      line.append("Next: ", Object.assign(next.cloneNode(true), { className: "progress-next" }));
  }
  addEventListener("storage", show);
  addEventListener("pageshow", show); // also when one comes back to it
  show();
})();
