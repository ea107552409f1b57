// The reader's own function: an editor, and what the engine makes of its text.
import { openEditor } from "./editor.js";
import { jailed } from "./jail.js";
import { packed, unpacked } from "./link.js";
import { Python } from "./python.js";

const PAUSE = 400; // ms without a key, after which a text runs
const OWN = "runtime/"; // where a site carries Python
const LONGEST = 5000; // ms that a run may take
const READY = "x = Node(2.0)\nx * x"; // run once, so that what it imports is there
const WHY_NOT = {
  slow: `Ended: it ran for more than ${LONGEST / 1000} s. The text stays; Python starts afresh.`,
  unreachable:
    "Python could not be loaded: this site does not carry it, and the network has none. " +
    "Go online, or in a copy of the course run: make live",
  closed:
    "This cannot run here: the site has to allow its files to a frame without an origin " +
    "(Access-Control-Allow-Origin: *). In a copy of the course: make serve",
};

const told = JSON.parse(document.getElementById("workbench-told").textContent);
const base = new URL(told.root, location.href);
const root = document.getElementById("workbench");
const button = (label, title, onclick) => make("button", { type: "button", title, onclick }, label);

/** What Python is asked: the text goes as one string. */
const question = (text, view) =>
  `from live_page import typeset\nfrom chaingrad.step.workbench import respond` +
  `${view === "written out" ? ", written" : ""}\n` +
  `respond(${JSON.stringify(text)}, ${JSON.stringify(view)}, typeset)`;

class Workbench {
  constructor() {
    this.view = told.views[0];
    this.isTrusted = true; // the text is the reader's own, or was read
    this.isRunning = this.isWanted = false;
    this.shown = ""; // the document in the frame
    this.build();
    this.python = null;
    this.starting = null;
    this.output = { display: (bundle) => (this.answer = bundle["application/json"]), stream() {} };
  }

  // --- what stands on the page --------------------------------------------------------------------

  build() {
    this.starts = make("select", { ariaLabel: "Starting points" });
    this.starts.append(make("option", { value: "" }, "Starting points …"));
    told.starts.forEach(({ name }, i) => this.starts.append(make("option", { value: i }, name)));
    this.starts.onchange = () => this.begin(this.starts.value);
    this.from = make("p", { className: "bench-from", hidden: true });
    this.desk = make("div", { className: "live-editor bench-desk" });
    this.wrong = make("ul", { className: "bench-wrong", role: "status" });
    this.views = told.views.map((name) =>
      button(name, `Show: ${name}`, () => {
        this.look(name);
        this.run();
      }),
    );
    this.line = make("span", { className: "bench-status", role: "status" });
    this.copyCode = button("Copy code", "Copy the program, which runs alone", () =>
      this.copy(this.code, "The program is copied."),
    );
    const acts = [
      button("▸ Run", "Run (Shift+Enter)", () => this.run()),
      button("Copy link", "Copy an address that holds this program and view", () => this.link()),
      (this.save = button("Save as file", "Save this view as a file that loads nothing", () =>
        this.download(),
      )),
      this.copyCode,
    ];
    this.stage = make("div", { className: "bench-stage" });
    this.printed = make("pre", { className: "bench-printed", tabIndex: 0, ariaLabel: "Printed" });
    const group = (ariaLabel, ...inside) =>
      make("div", { className: "bench-bar", role: "group", ariaLabel }, ...inside);
    root.append(
      group("Program", this.starts, ...acts),
      this.from,
      this.desk,
      this.wrong,
      group("Views", ...this.views),
      this.line,
      this.stage,
      this.printed,
    );
    this.save.hidden = this.copyCode.hidden = this.printed.hidden = true;
    root.hidden = false;
    this.look(this.view);
    for (const event of ["pointerenter", "focusin"])
      root.addEventListener(event, () => this.soon(), { once: true });
    new MutationObserver(() => this.show(this.shown)).observe(document.documentElement, {
      attributeFilter: ["data-theme"],
    });
    addEventListener("hashchange", () => this.open());
  }

  look(view) {
    this.view = told.views.includes(view) ? view : told.views[0];
    this.views.forEach((each, i) => (each.ariaPressed = String(told.views[i] === this.view)));
  }

  status(...parts) {
    this.line.replaceChildren(...parts);
  }

  doing(what) {
    if (!this.isReady) this.status(`${what} …`);
  }

  // --- the text -----------------------------------------------------------------------------------

  /** Show what the address holds, a cell handed over, the reader wrote last, or the first start. */
  async open() {
    const letters = new URLSearchParams(location.hash.slice(1)).get("f");
    const came = letters && (await unpacked(letters));
    const { text: last, came: cell } = kept.read(told.page).bench ?? {};
    if (cell) kept.put(told.page, "bench", "came", undefined);
    this.isTrusted = !came;
    const { text, view } = came || cell || last || { text: told.starts[0].text };
    this.look(view);
    this.write(text);
    this.from.hidden = !came;
    this.from.textContent =
      "Somebody else wrote this program: it came in the link. Read it, and press Run. It runs in " +
      "a frame that reaches this site’s own files and nothing else.";
    if (letters && !came) this.status("The link holds no program: a part of it may be missing.");
    else if (cell && !came) this.run();
  }

  write(text) {
    this.isWriting = true;
    if (this.editor) this.editor.put(text);
    else {
      const label = "Your function, in Python. It runs as you pause; Escape leaves the editor.";
      const leave = () => this.views[0].focus();
      const passOn = (event) => event.key === "Tab" && event.stopPropagation();
      this.desk.addEventListener("keydown", passOn, true); // Tab goes on; lines indent by themselves
      const before = document.activeElement;
      this.editor = openEditor(
        this.desk,
        text,
        () => this.run(),
        leave,
        () => this.changed(),
        label,
      );
      // It has taken the focus: whoever had it has it back; if nobody had, Tab begins at the top.
      document.body.tabIndex = -1;
      before.focus({ preventScroll: true });
      document.body.removeAttribute("tabindex");
    }
    this.isWriting = false;
  }

  changed() {
    if (this.isWriting) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      kept.put(told.page, "bench", "text", { text: this.editor.text(), view: this.view });
      if (this.isTrusted) this.run();
    }, PAUSE);
  }

  begin(i) {
    if (i === "") return;
    this.isTrusted = true;
    this.from.hidden = true;
    this.write(told.starts[i].text);
    this.run();
  }

  // --- running ------------------------------------------------------------------------------------

  /** Have Python start while the reader looks or writes, if this site has it and bytes are cheap. */
  async soon() {
    if (navigator.connection?.saveData) return;
    const runtimes = await this.runtimes().catch(() => []);
    if (runtimes.includes(OWN)) this.start().catch(() => {});
  }

  /** Where Python may come from: from this site alone, if it has it. */
  async runtimes() {
    const { runtimes } = await (await fetch(new URL("config.json", base))).json();
    return runtimes.includes(OWN) ? [OWN] : runtimes;
  }

  /** Resolves when Python has run something. */
  start() {
    this.starting ??= (async () => {
      const runtimes = await this.runtimes();
      const addresses = [base.href, ...runtimes.map((address) => new URL(address, base).href)];
      this.python ??= new Python(base, () => jailed(base.href, addresses), ["graphviz"]);
      this.isReady = false;
      await this.python.started(this);
      await this.python.ask(this, { type: "run", source: question(READY, "graph"), name: "" });
      this.isReady = true;
      this.status("");
    })().catch((error) => {
      this.starting = null;
      this.status(WHY_NOT[error.message] ?? `This ended Python: ${error.message}`);
      throw error;
    });
    return this.starting;
  }

  /** Run the text as it is now; while something runs, what is asked for last is next. */
  async run() {
    clearTimeout(this.timer);
    this.isTrusted = true;
    this.from.hidden = true;
    this.isWanted = true;
    if (this.isRunning) return;
    this.isRunning = true;
    while (this.isWanted) {
      this.isWanted = false;
      await this.once().catch(() => {});
    }
    this.isRunning = false;
  }

  async once() {
    await this.start();
    const { view } = this;
    this.answer = null;
    const source = question(this.editor.text(), view);
    const slow = setTimeout(() => this.python.fail("slow"), LONGEST);
    try {
      const { error } = await this.python.ask(this, { type: "run", source, name: "" });
      if (this.answer) this.tell(this.answer, view);
      else this.status(error.trim().split("\n").at(-1));
    } catch (error) {
      this.starting = null;
      this.start()
        .catch(() => {})
        .finally(() => this.status(WHY_NOT[error.message] ?? error.message));
      this.status(WHY_NOT[error.message] ?? `This ended Python: ${error.message}`);
    } finally {
      clearTimeout(slow);
    }
  }

  // --- what came of it ----------------------------------------------------------------------------

  /** All of an answer may have been made up by the program: it is text, but for the frame's HTML. */
  tell({ html, alt, printed, problems, code }, view) {
    this.editor.mark(
      problems.map(({ line, severity, message, hint }) => ({
        line: Number(line),
        severity: severity === "warning" ? "warning" : "error",
        message: [message, hint].filter(Boolean).join(" "),
      })),
    );
    this.wrong.replaceChildren(
      ...problems.map(({ line, message, hint }) => {
        const item = make("li", {}, make("b", {}, `Line ${line}`), ` ${message}`);
        if (hint) item.append(" ", make("em", {}, `${hint}.`));
        return item;
      }),
    );
    this.printed.hidden = !printed;
    this.printed.textContent = printed;
    this.code = String(code);
    this.copyCode.hidden = !code;
    this.status(html || problems.length ? "" : alt || "Type a function.");
    this.stage.classList.toggle("bench-old", !html);
    if (html)
      this.show(
        told.frame.replace("<!-- view -->", () => html),
        view,
      );
  }

  /** Put a document into a frame of its own, and that in the place of the last when it is there. */
  show(text, view = this.frame?.title) {
    if (!text) return;
    this.shown = text;
    this.save.hidden = false;
    const theme = document.documentElement.dataset.theme;
    const frame = make("iframe", { title: view, className: "bench-new" });
    frame.sandbox = "allow-scripts";
    frame.srcdoc = text.replace("<html", `<html data-theme="${theme}"`);
    this.next?.remove();
    this.next = frame;
    addEventListener("message", function size({ source, data }) {
      if (!frame.isConnected) removeEventListener("message", size);
      if (source !== frame.contentWindow || !Number.isFinite(data?.height)) return;
      frame.style.height = `${Math.min(data.height, 20_000)}px`;
      frame.dispatchEvent(new Event("sized"));
    });
    const take = () => {
      this.frame?.remove();
      this.frame = frame;
      this.next = null;
      frame.classList.remove("bench-new");
    };
    frame.addEventListener("sized", take, { once: true });
    this.stage.append(frame);
  }

  // --- taking it along ----------------------------------------------------------------------------

  async link() {
    const letters = await packed(this.editor.text(), this.view);
    const address = new URL(`#f=${letters}`, location.href).href;
    await this.copy(address, "The link is copied: it holds the program and the view.");
  }

  async copy(text, said) {
    try {
      await navigator.clipboard.writeText(text);
      this.status(said);
    } catch {
      const field = make("textarea", { value: text, readOnly: true, ariaLabel: "To be copied" });
      this.status("This browser copies nothing by itself: ", field);
      field.select();
    }
  }

  download() {
    const href = URL.createObjectURL(new Blob([this.shown], { type: "text/html" }));
    make("a", { href, download: `${this.frame.title}.html` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  }
}

new Workbench().open();
