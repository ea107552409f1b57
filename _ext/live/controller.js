// Runs the cells of a page in a worker, and puts what comes back below them.

const isShown = (element) => element.getClientRects().length > 0;

class Cell {
  constructor(box, about, number) {
    this.box = box;
    this.about = about;
    this.name = `cell ${number}`;
    this.code = box.querySelector(".cell_input pre");
    this.bar = box.querySelector(".live-bar");
    this.line = box.querySelector(".live-status");
    this.built = box.querySelector(":scope > .cell_output, :scope > details > .cell_output");
    this.gap = document.createComment("built output");
    this.output = null;
    this.editor = null;
    this.hasRun = false;
  }

  get source() {
    return (this.editor ? this.editor.text() : this.code.textContent).replace(/\n$/, "");
  }

  get runs() {
    return !this.about.why;
  }

  status(text) {
    this.line.textContent = text;
  }

  /** Change what the cell is; a button that vanishes hands its focus to the first that is there. */
  mark(name, on) {
    this.box.classList.toggle(`live-${name}`, on);
    if (this.bar.contains(document.activeElement) && !isShown(document.activeElement))
      this.focusBar();
  }

  focusBar() {
    [...this.bar.querySelectorAll("button")].find(isShown)?.focus();
  }

  freshOutput() {
    this.output?.remove();
    this.output = document.createElement("div");
    this.output.className = "cell_output live-output";
    this.output.setAttribute("aria-label", `Output of ${this.name}`);
    this.output.setAttribute("role", "region");
    this.built?.replaceWith(this.gap); // not only hidden: its ids would shadow those of the output
    this.box.append(this.output);
    this.mark("changed", true);
    this.cleared = false;
  }

  place(className) {
    if (this.cleared) {
      this.output.replaceChildren();
      this.cleared = false;
    }
    const element = document.createElement("div");
    element.className = `output ${className}`;
    this.output.append(element);
    return element;
  }

  stream(name, text) {
    let last = this.output.lastElementChild;
    if (this.cleared || !last?.classList.contains(name)) {
      last = this.place(`stream ${name}`);
      last.append(Object.assign(document.createElement("pre"), { tabIndex: 0 }));
    }
    const pre = last.firstChild;
    pre.textContent = overwritten(pre.textContent + text);
  }

  /** Show a bundle at its place: what is there already is replaced. */
  display(bundle, place) {
    const before = this.output.querySelector(`:scope > [data-place="${place}"]`);
    this.append(bundle);
    const now = this.output.lastElementChild;
    now.dataset.place = place;
    before?.replaceWith(now);
  }

  append(bundle) {
    if (bundle["text/html"] !== undefined) {
      const range = document.createRange();
      const place = this.place("text_html");
      range.selectNode(place);
      place.append(range.createContextualFragment(bundle["text/html"])); // runs its scripts
    } else if (bundle["image/svg+xml"] !== undefined) {
      this.place("image").innerHTML = bundle["image/svg+xml"];
    } else if (bundle["image/png"] !== undefined) {
      const image = document.createElement("img");
      image.src = `data:image/png;base64,${bundle["image/png"]}`;
      image.alt = this.built?.querySelector("img")?.alt || bundle["text/plain"];
      this.place("image_png").append(image);
    } else if (isTable(bundle["text/markdown"])) {
      this.place("text_markdown").append(table(bundle["text/markdown"]));
    } else {
      this.text("text_plain", bundle["text/markdown"] ?? bundle["text/plain"]);
    }
  }

  text(className, text) {
    const pre = document.createElement("pre");
    pre.tabIndex = 0;
    pre.textContent = text;
    this.place(className).append(pre);
  }

  clear(wait) {
    if (wait) this.cleared = true;
    else this.output.replaceChildren();
  }

  async edit(base, run) {
    const { openEditor } = await import(new URL("editor.js", base).href);
    if (this.editor) return;
    this.code.closest("details")?.setAttribute("open", "");
    const place = document.createElement("div");
    place.className = "live-editor";
    this.code.closest(".highlight").before(place);
    this.place_ = place;
    const text = this.code.textContent.replace(/\n$/, "");
    this.editor = openEditor(place, text, run, () => this.focusBar());
    this.mark("editing", true);
    this.mark("changed", true);
  }

  reset() {
    this.editor?.close();
    this.place_?.remove();
    this.output?.remove();
    this.editor = this.output = null;
    if (this.built) this.gap.replaceWith(this.built);
    this.hasRun = false;
    this.mark("editing", false);
    this.mark("changed", false);
    this.status("");
  }
}

/** What a terminal shows of text in which "\r" goes back to the start of the line. */
function overwritten(text) {
  if (!text.includes("\r")) return text;
  return text
    .split("\n")
    .map((line) => {
      const parts = line.replace(/\r$/, "").split("\r");
      return parts.reduce((below, part) => part + below.slice(part.length), "");
    })
    .join("\n");
}

// --- tables in Markdown ---------------------------------------------------------------------------

const RULE = /^\|(\s*:?-+:?\s*\|)+$/;

function isTable(text) {
  const lines = text?.trim().split("\n") ?? [];
  return lines.length > 1 && RULE.test(lines[1]) && lines.every((line) => /^\|.*\|$/.test(line));
}

function table(text) {
  const [head, rule, ...rows] = text
    .trim()
    .split("\n")
    .map((line) => line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim()));
  const made = Object.assign(document.createElement("table"), { className: "table" });
  const add = (section, kind, cells) => {
    const row = section.insertRow();
    cells.forEach((cell, i) => {
      const box = row.appendChild(document.createElement(kind));
      if (rule[i]?.endsWith(":")) box.style.textAlign = "right";
      box.append(...inline(cell));
    });
  };
  add(made.createTHead(), "th", head);
  const body = made.createTBody();
  for (const row of rows) add(body, "td", row);
  return made;
}

/** Text with `code` in it, and what is escaped as it is meant. */
function inline(text) {
  return text.split(/`([^`]*)`/).map((part, i) => {
    if (i % 2 === 0) return part.replace(/\\(\W)/g, "$1");
    return Object.assign(document.createElement("code"), { textContent: part });
  });
}

// --- Python ---------------------------------------------------------------------------------------

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

class Python {
  constructor(base) {
    this.base = base;
    this.worker = null;
    this.waiting = null; // the message that is being answered
  }

  async started(cell) {
    if (this.worker) return;
    this.worker = new Worker(new URL("worker.js", this.base), { type: "module" });
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => this.fail(event.message ?? "the worker did not start");
    cell.status("Starting Python …");
    await this.ask(cell, { type: "start", root: this.base.href });
  }

  ask(cell, message) {
    return new Promise((resolve, reject) => {
      this.waiting = { cell, resolve, reject };
      this.worker.postMessage(message);
    });
  }

  receive({ type, ...data }) {
    const { cell, resolve } = this.waiting ?? {};
    if (!cell) return;
    if (type === "progress") cell.status(`Loading Python: ${megabytes(data.received)} …`);
    else if (type === "failed") this.fail(data.message);
    else if (type === "ready" || type === "done") {
      this.waiting = null;
      resolve(data.error ?? "");
    } else if (type === "stream") cell.stream(data.name, data.text);
    else if (type === "display") cell.display(data.bundle, data.place);
    else if (type === "clear") cell.clear(data.wait);
  }

  fail(message) {
    const { reject } = this.waiting ?? {};
    this.stop();
    reject?.(new Error(message));
  }

  stop() {
    this.worker?.terminate();
    this.worker = this.waiting = null;
  }
}

const TOO_DEEP = /call stack|recursion/i;
const WHY_NOT = {
  stopped: "Stopped. Python starts afresh: what cells had computed is gone.",
  unreachable:
    "Python could not be loaded: this site does not carry it, and the network has none. " +
    "Go online, or in a copy of the course run: make live",
};

function whyNot(message) {
  if (TOO_DEEP.test(message))
    return (
      "This ended Python: it went deeper than the stack that a browser gives. " +
      "What cells had computed is gone."
    );
  return WHY_NOT[message] ?? `This ended Python: ${message}`;
}

export function start(boxes, about, base) {
  const cells = boxes.map((box, i) => new Cell(box, about[i], i + 1));
  const python = new Python(base);
  let turn = Promise.resolve();

  async function runOne(cell) {
    cell.mark("busy", true);
    try {
      await python.started(cell);
      cell.freshOutput();
      cell.status("Running …");
      const error = await python.ask(cell, { type: "run", source: cell.source, name: cell.name });
      if (error) cell.text("traceback", error);
      cell.status(error ? "Ended with an error." : "Done.");
      cell.hasRun = !error || Boolean(cell.about.raises);
      return cell.hasRun;
    } catch (error) {
      lost(cell, error);
      return false;
    } finally {
      cell.mark("busy", false);
    }
  }

  function lost(cell, error) {
    for (const other of cells) other.hasRun = false;
    cell.status(whyNot(error.message));
  }

  /** Of a cell that cannot run here, give others the modules and functions that it defines. */
  async function defineKept(cell, asked) {
    asked.mark("busy", true);
    try {
      await python.started(asked);
      await python.ask(asked, { type: "run", source: cell.about.kept, name: cell.name });
      cell.hasRun = true;
    } catch (error) {
      lost(asked, error);
    } finally {
      asked.mark("busy", false);
    }
    return cell.hasRun;
  }

  async function runUpTo(i) {
    for (const cell of cells.slice(0, i)) {
      if (cell.hasRun || !(cell.runs || cell.about.kept)) continue;
      if (!cell.runs) {
        if (!(await defineKept(cell, cells[i]))) return;
      } else if (!(await runOne(cell))) {
        cells[i].status(`${cell.name} above did not finish, so this one was not run.`);
        return;
      }
    }
    await runOne(cells[i]);
  }

  const run = (i) => {
    if (!cells[i].box.classList.contains("live-busy")) cells[i].status("Waiting …");
    turn = turn.then(() => runUpTo(i));
    return turn;
  };

  return {
    run,
    edit: (i) => cells[i].edit(base, () => run(i)),
    reset: (i) => cells[i].reset(),
    stop: () => python.fail("stopped"),
  };
}
