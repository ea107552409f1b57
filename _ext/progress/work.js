// What a reader has done on this page, shown at its end, to be downloaded or forgotten.
(() => {
  const { page } = kept;
  const article = document.querySelector("article.bd-article");
  if (!page || !article) return;
  const notebookAt = /** @type {HTMLLinkElement} */ (
    document.querySelector('link[type="application/x-ipynb+json"]')
  )?.href;
  const progressAt = /** @type {HTMLMetaElement} */ (
    document.querySelector('meta[name="course-progress"]')
  )?.content;
  const told = JSON.parse(document.getElementById("live-cells")?.textContent ?? "{}");
  let panel;
  let forgotten;

  const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;

  const keysHere = new Set([
    ...kept.keys(kept.sourcesHere()),
    ...(told.answers ?? []).map(({ id }) => `answer ${id}`),
  ]);

  /** What is kept of the page, by kind. */
  function work() {
    const { code = {}, guesses = {} } = kept.read(page);
    const written = Object.entries(code).filter(([, { off }]) => !off);
    const here = written.filter(([key]) => keysHere.has(key));
    return {
      cells: here.filter(([key]) => key.startsWith("cell ")),
      answers: here.filter(([key]) => key.startsWith("answer ")),
      lost: written.filter(([key]) => !keysHere.has(key)),
      guesses: Object.entries(guesses),
    };
  }

  function summary({ cells, answers, guesses }) {
    const right = answers.filter(([, answer]) => answer.right).length;
    const parts = [
      cells.length && `${count(cells.length, "cell", "cells")} edited`,
      answers.length &&
        `${count(answers.length, "exercise", "exercises")} answered, ${right} right`,
      guesses.length && `${count(guesses.length, "result", "results")} predicted`,
    ].filter(Boolean);
    const where = kept.trouble()
      ? `This browser keeps nothing of it: ${kept.trouble()}. Download it before you leave.`
      : "It is kept in this browser alone, until you clear its data; a private window forgets it when it closes.";
    return `Your work on this page: ${parts.join("; ") || "none that still fits it"}. ${where}`;
  }

  /** Texts for code that the book has changed or dropped since. */
  function changed(lost) {
    const title = `${count(lost.length, "text of yours belongs", "texts of yours belong")} to code that the book has changed since`;
    const head = make("summary", {}, title);
    const list = make("details", { className: "work-lost", open: true }, head);
    for (const [key, { now }] of lost) {
      const text = make("pre", { textContent: now, tabIndex: 0 });
      const remove = () => kept.put(page, "code", key, undefined);
      list.append(text, makeButton("Remove this text", remove));
    }
    return list;
  }

  function show() {
    panel?.remove();
    panel = undefined;
    const found = work();
    const any = Object.values(found).some((list) => list.length);
    if (!any && !forgotten) return;
    panel = make("section", {
      className: "work d-print-none",
      ariaLabel: "Your work on this page",
    });
    const line = make("div", { className: "work-acts" });
    if (any) {
      panel.append(make("p", {}, summary(found)));
      if (found.lost.length) panel.append(changed(found.lost));
      if (notebookAt) line.append(makeButton("Download as a notebook", () => download(found)));
      line.append(makeButton("Forget it", forget));
    } else {
      panel.append(make("p", {}, "What you did on this page is forgotten once you leave it."));
      line.append(makeButton("Undo", undo));
    }
    if (progressAt) line.append(make("a", { href: progressAt, textContent: "Your progress" }));
    panel.append(line);
    article.append(panel);
  }

  function forget() {
    forgotten = kept.replace(page, {});
    show();
    panel.querySelector("button").focus();
  }

  function undo() {
    kept.replace(page, forgotten);
    forgotten = undefined;
    show();
    panel?.querySelector("button").focus();
  }

  // --- as a notebook ------------------------------------------------------------------------------

  const text = (source) => ({ cell_type: "markdown", metadata: {}, source });
  const code = (source) => ({
    ...text(source),
    cell_type: "code",
    execution_count: null,
    outputs: [],
  });

  /** The page's notebook, which installs the engine from the site that it is read on. */
  async function notebookFromHere() {
    const notebook = await (await fetch(notebookAt)).json();
    const site = new URL(document.documentElement.dataset.content_root, location.href).href;
    const [first] = notebook.cells;
    first.source = [first.source]
      .flat()
      .join("")
      .replace(/^site = .*$/m, () => `site = ${JSON.stringify(site)}`);
    return notebook;
  }

  function save(notebook, name) {
    kept.download(`${name}.ipynb`, "application/json", JSON.stringify(notebook, null, 1));
  }

  const name = page.split("/").at(-1);

  async function download(found) {
    const empty = { cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 };
    save(withWork(await notebookFromHere().catch(() => empty), found), `${name}-mine`);
  }

  document.addEventListener("click", async (event) => {
    const link = /** @type {Element} */ (event.target).closest?.("a");
    const plain = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (!notebookAt || link?.href !== notebookAt || plain || location.protocol === "file:") return;
    event.preventDefault();
    try {
      save(await notebookFromHere(), name);
    } catch {
      location.assign(notebookAt);
    }
  });

  /** The page's notebook with the reader's texts in the place of its own, answers at the end. */
  function withWork(notebook, { cells, answers, lost, guesses }) {
    const own = notebook.cells.filter((cell) => cell.cell_type === "code");
    const sources = own.map((cell) => [cell.source].flat().join(""));
    const places = new Map(kept.keys(sources).map((key, i) => [key, own[i]]));
    const rest = [];
    for (const [key, { now }] of cells) {
      const place = places.get(key);
      if (place) place.source = now;
      else rest.push(text("An edited cell"), code(now));
    }
    const title = (key) => told.answers.find(({ id }) => `answer ${id}` === key)?.title ?? key;
    for (const [key, { now, right }] of answers)
      rest.push(text(`## My answer: ${title(key)}${right ? " (right)" : ""}`), code(now));
    const predicted = guesses.map(([, { asked, value }]) => `- ${asked}: ${value}`);
    if (predicted.length) rest.push(text(["## My predictions", ...predicted].join("\n")));
    for (const [, { now }] of lost)
      rest.push(text("A text of mine for code that the book has changed since"), code(now));
    notebook.cells.push(...rest.map((cell, i) => ({ ...cell, id: `mine-${i}` })));
    return notebook;
  }

  addEventListener("kept", ({ detail }) => {
    if (detail !== page) return;
    const focused = panel?.contains(document.activeElement);
    show();
    if (focused) panel?.querySelector("button")?.focus();
  });
  addEventListener("storage", show); // another tab of the same page
  show();
})();
