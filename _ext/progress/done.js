// The page of progress: what is kept of each thing that can be tried, to be saved and brought back.
(() => {
  const lists = [...document.querySelectorAll("ul.to-try")];
  if (!lists.length) return;
  const COURSE = "backpropagation-course";

  // --- what is done -------------------------------------------------------------------------------

  /** What is kept of what a link leads to, in words, and whether it is done. */
  function state(link) {
    const { hash } = link;
    const { code = {}, guesses = {}, drills = {} } = kept.read(kept.pageOf(link));
    const [, kind, level] = /^#([a-z]+)-(\d)-\d+$/.exec(hash) ?? [];
    if (kind && drills[kind]) {
      const { passed, seeds, level: now, row } = drills[kind];
      const says = seeds[level] ? ` … ${now === +level ? row : 0} of 5 in a row` : "";
      return { done: passed >= level, says: passed >= level ? " ✓ passed" : says };
    }
    const tried = guesses[hash.replace("#predict-", "")] ?? code[`answer ${hash.slice(1)}`];
    if (!tried || tried.off) return { done: false, says: "" };
    return { done: tried.right, says: tried.right ? " ✓ right" : " … begun" };
  }

  const line = make("p", { className: "progress-sum", role: "status" });
  const WHY = { denied: "it allows no storage", full: "its storage is full" };
  const why = WHY[document.documentElement.dataset.localStorage];
  const unkept = make("p", { className: "progress-unkept", hidden: !why });
  unkept.textContent =
    `This browser keeps nothing of what you do now: ${why}. Each page forgets it when you leave; ` +
    "before that, you can download your work at the end of the page.";
  const acts = make("div", { className: "work d-print-none" });
  lists[0].previousElementSibling.before(unkept, line, acts);

  // Each page's list is folded under a bar of its own.
  const pages = lists.map((list) => {
    const title = list.previousElementSibling;
    const bar = make("progress", { max: list.querySelectorAll("a").length });
    const count = make("span");
    const end = make("span", { className: "progress-end" }, bar, count);
    const head = make("summary", {}, title.textContent, " ", end);
    bar.ariaLabel = title.textContent;
    const fold = make("details", { className: "progress-page" }, head);
    title.replaceWith(fold);
    fold.append(list);
    return { list, bar, count };
  });

  function show() {
    const all = pages.flatMap(({ list, bar, count }) => {
      const links = [...list.querySelectorAll("a")];
      const found = links.map((link) => ({ link, ...state(link) }));
      for (const { link, says } of found) {
        link.parentElement.querySelector(".progress-state")?.remove();
        link.after(make("span", { className: "progress-state" }, says));
      }
      bar.value = found.filter(({ done }) => done).length;
      count.textContent = ` ${bar.value} of ${bar.max}`;
      return found;
    });
    line.replaceChildren(`${all.filter(({ done }) => done).length} of ${all.length} are right. `);
    const next = all.find(({ done }) => !done)?.link;
    if (next)
      line.append("Next: ", Object.assign(next.cloneNode(true), { className: "progress-next" }));
    veil.checked = !kept.read("reading").veil?.off;
  }

  // --- saved, and brought back --------------------------------------------------------------------

  const says = make("p", { role: "status" });

  function save() {
    const text = JSON.stringify({ course: COURSE, kept: kept.all() }, null, 1);
    kept.download(`${COURSE}.json`, "application/json", text);
  }

  const isRecord = (value) => value && typeof value === "object" && !Array.isArray(value);

  /** What a file holds, {page: {kind: {key: what was kept}}}; throws what is wrong with it. */
  function read(text) {
    let file;
    try {
      file = JSON.parse(text);
    } catch {
      throw new Error("it is not JSON, as files saved on this page are");
    }
    if (file?.course !== COURSE || !isRecord(file.kept))
      throw new Error("it was not saved on this page");
    for (const [page, record] of Object.entries(file.kept))
      if (!isRecord(record) || !Object.values(record).every(isRecord))
        throw new Error(`what it has of ${page} cannot be read`);
    return file.kept;
  }

  async function bring() {
    const [file] = chosen.files;
    if (!file) return;
    chosen.value = "";
    try {
      const found = read(await file.text());
      const before = Object.keys(found).map((page) => [page, kept.read(page)]);
      for (const [page, here] of before) {
        const record = { ...here };
        for (const [kind, entries] of Object.entries(found[page]))
          record[kind] = { ...here[kind], ...entries };
        kept.replace(page, record);
      }
      const undo = makeButton("Undo", () => {
        before.forEach(([page, here]) => kept.replace(page, here));
        says.replaceChildren("What you had here is back.");
        show();
      });
      const places = before.length === 1 ? "1 page" : `${before.length} pages`;
      const trouble = kept.trouble() && ` This browser does not keep it: ${kept.trouble()}.`;
      says.replaceChildren(`Brought back what ${file.name} has of ${places}.${trouble} `, undo);
    } catch (error) {
      says.replaceChildren(`${file.name} was left alone: ${error.message}.`);
    }
    show();
  }

  const chosen = make("input", { type: "file", accept: ".json", hidden: true, onchange: bring });
  const veil = make("input", {
    type: "checkbox",
    onchange: () => kept.put("reading", "veil", "off", veil.checked ? undefined : true),
  });
  const saving = makeButton("Save all in a file", save);
  const bringing = makeButton("Bring back from a file", () => chosen.click());
  acts.append(
    make("div", { className: "work-acts" }, saving, bringing, chosen),
    says,
    make(
      "label",
      {},
      veil,
      " Veil the output that answers a question until I have answered or skipped it",
    ),
  );

  addEventListener("storage", show);
  addEventListener("pageshow", show); // also when one comes back to it
  show();
})();
