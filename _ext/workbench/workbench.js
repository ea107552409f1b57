// The reader's own function: an editor, and what the engine makes of its text. `told.isEmbedded` is
// said by the page that others show in a frame, which keeps nothing; `told.here` is then where the
// workbench itself is.
import { jailed } from "./jail.js";
import { packed, unpacked } from "./link.js";
import { mayComeEarly, Python, sources, UNREACHABLE } from "./python.js";

const PAUSE = 400; // ms without a key, after which a text runs
const REST = 300; // ms of the pointer or the focus, after which Python starts
const LONGEST = 5000; // ms that a run may take, once all is loaded
const READY = "x = Node(2.0)\nx * x"; // run once, so that what it imports is there
const WHY_NOT = {
  slow: `Ended: it ran for more than ${LONGEST / 1000} s. The text stays; Python starts afresh.`,
  unreachable: UNREACHABLE,
  closed:
    "This cannot run here: the site has to allow its files to a frame without an origin " +
    "(Access-Control-Allow-Origin: *). In a copy of the course: make serve",
};
const whyNot = ({ message }) => WHY_NOT[message] ?? `This ended Python: ${message}`;

const COLOURS = { "": "the reader’s", light: "light", dark: "dark" };

const told = JSON.parse(document.getElementById("workbench-told").textContent);
const base = new URL(told.root, location.href);
const root = document.getElementById("workbench");
const button = (label, title, act) => makeButton(label, act, { title });

/** What Python is asked: the text goes as one string. */
const question = (text, view) =>
  `from live_page import typeset\nfrom chainlab.workbench import respond` +
  `${view === "written out" ? ", written" : ""}\n` +
  `respond(${JSON.stringify(text)}, ${JSON.stringify(view)}, typeset)`;

class Workbench {
  constructor() {
    this.view = told.views[0];
    this.isTrusted = true; // the text is the reader's own, or was read
    this.isWanted = false;
    this.shown = ""; // the document in the frame
    this.build();
    this.python = null;
    this.starting = null;
    this.slow = null;
    this.ended = null; // why Python ended, until something else is asked for
    this.output = { display: (bundle) => (this.answer = bundle["application/json"]), stream() {} };
  }

  // --- what stands on the page --------------------------------------------------------------------

  build() {
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
    const run = button("▸ Run", "Run (Shift+Enter)", () => this.run());
    const acts = told.isEmbedded ? [run, this.onward()] : [this.choice(), run];
    this.save = button("Save as file", "Save this view as a file that loads nothing", () =>
      this.download(),
    );
    if (!told.isEmbedded)
      acts.push(
        button("Copy link", "Copy an address that holds this program and view", () => this.link()),
        button("Embed", "Show this program and view on a page of your own", () => this.offer()),
        this.save,
      );
    this.stage = make("div", { className: "bench-stage" });
    this.printed = make("pre", { className: "bench-printed", tabIndex: 0, ariaLabel: "Printed" });
    const group = (ariaLabel, ...inside) =>
      make("div", { className: "bench-bar", role: "group", ariaLabel }, ...inside);
    const program = [this.panel(), this.from, this.desk, this.wrong];
    const result = [this.line, this.stage, this.printed];
    const acting = group("Program", ...acts, this.copyCode);
    const viewing = group("Views", ...this.views);
    if (told.isEmbedded) root.append(acting, viewing, ...result, ...program);
    else root.append(acting, ...program, viewing, ...result);
    this.save.hidden = this.copyCode.hidden = this.printed.hidden = true;
    root.hidden = false;
    this.look(this.view);
    let timer;
    const soon = () => (timer = setTimeout(() => this.soon(), REST));
    for (const event of ["pointerenter", "focusin"]) root.addEventListener(event, soon);
    for (const event of ["pointerleave", "focusout"])
      root.addEventListener(event, () => clearTimeout(timer));
    kept.again(() => this.soon());
    new MutationObserver(() => this.show(this.shown)).observe(document.documentElement, {
      attributeFilter: ["data-theme"],
    });
    addEventListener("hashchange", () => location.hash.startsWith("#f=") && this.open());
  }

  /** All starting points, to choose one. */
  choice() {
    const begin = ({ target }) => this.begin(told.starts[target.value]);
    const choice = make("select", { ariaLabel: "Starting points", onchange: begin });
    choice.append(make("option", { value: "" }, "Starting points …"));
    told.starts.forEach(({ name }, i) => choice.append(make("option", { value: i }, name)));
    return choice;
  }

  /** A link that takes the text along to the workbench. */
  onward() {
    const link = make("a", { href: told.here }, "Open in the workbench");
    return (this.more = Object.assign(link, { target: "_blank", rel: "noopener" }));
  }

  /** What shows this program and view on a page of the reader's own: a line of HTML. */
  panel() {
    this.colours = make("select", { onchange: () => this.tellHtml() });
    for (const [value, says] of Object.entries(COLOURS))
      this.colours.append(make("option", { value }, says));
    const oninput = () => this.tellHtml();
    this.height = make("input", { type: "number", value: 480, min: 200, step: 20, oninput });
    this.html = make("textarea", { readOnly: true, rows: 3, ariaLabel: "HTML" });
    const take = button("Copy HTML", "Copy this line", () =>
      this.copy(this.html.value, "The line is copied.", this.html),
    );
    const says = "Whoever opens your page runs the program by a click, in a closed frame.";
    const words = make("p", {}, says);
    if (/^(localhost|127\.|\[::1\])/.test(location.hostname))
      words.prepend("This address is one of your own computer: nobody else can open it. ");
    const colours = make("label", {}, "Colours ", this.colours);
    const height = make("label", {}, "Height ", this.height);
    this.offered = make("div", { className: "bench-panel", hidden: true });
    this.offered.append(colours, height, take, this.html, words);
    return this.offered;
  }

  offer() {
    this.offered.hidden = !this.offered.hidden;
    this.point();
  }

  /** Have links hold the program and the view as they are now. */
  async point() {
    if (!this.offered.hidden) await this.tellHtml();
    if (told.isEmbedded) this.more.href = await this.address();
  }

  async tellHtml() {
    const text = this.editor.text();
    const start = told.starts.find((each) => each.text === text);
    const { view } = this;
    const program = start ? { s: start.key, view } : { f: await packed(text, view) };
    const theme = this.colours.value ? { theme: this.colours.value } : {};
    const at = new URL(told.embed, location.href);
    at.hash = new URLSearchParams({ ...program, ...theme });
    const title = `${start?.name ?? "A function"}: ${view}`;
    this.html.value =
      `<iframe src="${at.href.replaceAll("&", "&amp;")}" title="${title}" width="100%" ` +
      `height="${Number(this.height.value)}" style="border:0" loading="lazy"></iframe>`;
  }

  look(view) {
    this.view = told.views.includes(view) ? view : told.views[0];
    this.views.forEach((each, i) => (each.ariaPressed = String(told.views[i] === this.view)));
    if (this.editor) this.point();
  }

  status(...parts) {
    this.line.replaceChildren(...parts);
  }

  /** What runs before Python is ready is no program of anybody's; why one ended stays. */
  doing() {
    if (!this.isReady && !this.ended) this.status("Starting Python …");
  }

  // --- the text -----------------------------------------------------------------------------------

  /** Show what the address holds, a cell handed over, the reader wrote last, or the first start. */
  async open() {
    const given = new URLSearchParams(location.hash.slice(1));
    const letters = given.get("f");
    const came = letters && (await unpacked(letters));
    const named = told.starts.find(({ key }) => key === given.get("s"));
    const start = named && { text: named.text, view: given.get("view") };
    const { text: last, came: cell } = (!told.isEmbedded && kept.read(told.page).bench) || {};
    if (cell) kept.put(told.page, "bench", "came", undefined);
    const { text, view } = came || start || cell || last || { text: told.starts[0].text };
    this.look(view);
    await this.write(text);
    this.isTrusted = !came;
    this.from.hidden = !came;
    this.from.textContent =
      "Somebody else wrote this program: it came in the link. Read it, and press Run. It runs in " +
      "a frame that reaches this site’s own files and nothing else.";
    if (letters && !came) this.status("The link holds no program: a part of it may be missing.");
    else if (cell && !came) this.run();
    else if (!came) await this.showBuilt();
  }

  async write(text) {
    this.fetched ??= import("./editor.js"); // of two imports either may be there first
    const { openEditor } = await this.fetched;
    this.isWriting = true;
    if (this.editor) this.editor.put(text);
    else {
      const label = "Your function, in Python. It runs as you pause; Escape leaves the editor.";
      const leave = () => this.views[0].focus();
      const passOn = (event) => event.key === "Tab" && event.stopPropagation();
      this.desk.addEventListener("keydown", passOn, true); // Tab goes on; lines indent by themselves
      const run = () => this.run();
      const change = () => this.changed();
      this.editor = openEditor(this.desk, text, run, leave, change, label);
    }
    this.isWriting = false;
    this.point();
  }

  changed() {
    if (this.isWriting) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const draft = { text: this.editor.text(), view: this.view };
      if (!told.isEmbedded) kept.put(told.page, "bench", "text", draft);
      this.point();
      if (this.isTrusted) this.run();
    }, PAUSE);
  }

  async begin(start) {
    if (!start) return;
    await this.write(start.text);
    this.run();
  }

  // --- running ------------------------------------------------------------------------------------

  /** Have Python start while the reader looks or writes, if this site has it and bytes are cheap. */
  async soon() {
    if (await mayComeEarly(base).catch(() => false)) this.start().catch(() => {});
  }

  /** Resolves when Python has run something. */
  start() {
    this.starting ??= (async () => {
      const runtimes = await sources(base);
      const addresses = [base.href, ...runtimes.map((address) => new URL(address, base).href)];
      this.python ??= new Python(base, () => jailed(base.href, addresses), ["graphviz"]);
      this.isReady = false;
      await this.python.started(this);
      await this.python.ask(this, { type: "run", source: question(READY, "graph"), name: "" });
      this.isReady = true;
      this.status("");
    })().catch((error) => {
      this.starting = null;
      this.status(whyNot(error));
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
    if (this.stage.ariaBusy) return;
    this.stage.ariaBusy = "true";
    while (this.isWanted) {
      this.isWanted = false;
      await this.once().catch((error) => this.nothing(whyNot(error)));
    }
    this.stage.ariaBusy = null;
  }

  async once() {
    this.ended = null;
    if (await this.showBuilt()) return;
    this.doing();
    await this.start();
    const { view } = this;
    this.answer = null;
    const source = question(this.editor.text(), view);
    try {
      const { error } = await this.python.ask(this, { type: "run", source, name: "" });
      kept.ran();
      if (this.answer) this.tell(this.answer, view);
      else this.nothing(error.trim().split("\n").at(-1));
    } catch (error) {
      this.again(error);
      throw error;
    } finally {
      clearTimeout(this.slow);
      this.slow = null;
    }
  }

  /** Start Python afresh, which leaves standing why it ended, until something else is asked for. */
  again(error) {
    this.ended = error;
    this.starting = null;
    this.start()
      .catch(() => {})
      .finally(() => this.ended === error && this.status(whyNot(error)));
  }

  /** All is loaded, and the program runs; which cannot say so again to have more time. */
  begun() {
    if (this.isReady) this.slow ??= setTimeout(() => this.python.fail("slow"), LONGEST);
  }

  /** Show what the build has made of a starting point, if the text is one; whether it was. */
  async showBuilt() {
    const { view } = this;
    const start = told.starts.find(({ text }) => text === this.editor.text());
    if (!start?.views.includes(view)) return false;
    try {
      const file = new URL(`${told.built}${start.key}.${view}.json`, location.href);
      this.tell(await (await fetch(file)).json(), view);
      return true;
    } catch {
      return false; // Python says the same
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
    this.wrong.replaceChildren();
    for (const { line, message, hint } of problems) {
      const item = make("li", {}, make("b", {}, `Line ${line}`), ` ${message}`);
      if (hint) item.append(" ", make("em", {}, `${hint}.`));
      this.wrong.append(item);
    }
    this.printed.hidden = !printed;
    this.printed.textContent = printed;
    this.code = String(code);
    this.copyCode.hidden = !code;
    this.status(html || problems.length ? "" : alt || "Type a function.");
    this.stage.classList.toggle("bench-old", !html);
    const text = told.frame.replace("<!-- view -->", () => html);
    if (html) this.show(text, view);
  }

  /** A run gave nothing: of the program before, its view alone stays, as an old one. */
  nothing(why) {
    this.tell({ html: "", alt: why, printed: "", problems: [], code: "" });
  }

  /** Put a document into a frame of its own, and that in the place of the last when it is there. */
  show(text, view = (this.next ?? this.frame)?.title) {
    if (!text) return;
    this.shown = text;
    this.save.hidden = false;
    const theme = document.documentElement.dataset.theme;
    const frame = make("iframe", { title: view, className: "bench-new" });
    frame.sandbox = "allow-scripts";
    frame.srcdoc = text.replace("<html", `<html data-theme="${theme}"`);
    this.next?.remove();
    this.next = frame;
    const size = ({ source, data }) => {
      if (!frame.isConnected) removeEventListener("message", size);
      if (source !== frame.contentWindow || !Number.isFinite(data?.height)) return;
      frame.style.height = `${Math.min(data.height, 20_000)}px`;
      if (frame === this.next) this.take(frame);
    };
    addEventListener("message", size);
    this.stage.append(frame);
  }

  take(frame) {
    this.frame?.remove();
    this.frame = frame;
    this.next = null;
    frame.classList.remove("bench-new");
  }

  // --- taking it along ----------------------------------------------------------------------------

  async address() {
    const letters = await packed(this.editor.text(), this.view);
    return new URL(`#f=${letters}`, new URL(told.here ?? "", location.href)).href;
  }

  async link() {
    await this.copy(await this.address(), "The link is copied: it holds the program and the view.");
  }

  async copy(text, said, there) {
    try {
      await navigator.clipboard.writeText(text);
      this.status(said);
    } catch {
      const own = { value: text, readOnly: true, ariaLabel: "To be copied" };
      const field = there ?? make("textarea", own);
      this.status("This browser copies nothing by itself: ", there ? "it is marked." : field);
      field.select();
    }
  }

  download() {
    kept.download(`${this.frame.title}.html`, "text/html", this.shown);
  }
}

if (told.isEmbedded) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = new URLSearchParams(location.hash.slice(1)).get("theme");
  const paint = () => {
    const own = dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme in COLOURS && theme ? theme : own;
  };
  dark.addEventListener("change", paint);
  paint();
}

// The editor is fetched when its place comes near.
new IntersectionObserver(
  ([{ isIntersecting }], observer) => {
    if (!isIntersecting) return;
    observer.disconnect();
    new Workbench().open();
  },
  { rootMargin: "300px" },
).observe(root.parentElement);
