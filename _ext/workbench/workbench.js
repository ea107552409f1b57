// The reader's own function: an editor, and what the engine makes of its text.
import { Bench } from "./bench.js";
import { Desk } from "./desk.js";
import { COLOURS, Share } from "./share.js";
import { Outcome } from "./outcome.js";
import { button, group, told } from "./told.js";
import { Views } from "./views.js";

const REST = 300; // ms of the pointer or the focus, after which Python starts
const root = document.getElementById("workbench");

class Workbench {
  constructor() {
    const asked = () => ({ text: this.desk.text, view: this.views.name });
    const status = (...parts) => this.status(...parts);
    this.line = make("span", { className: "bench-status", role: "status" });
    this.stage = new Outcome();
    this.views = new Views((name) => this.choose(name));
    this.share = new Share(this.stage, asked, status);
    this.desk = new Desk({
      run: () => this.run(),
      look: (view) => this.views.look(view),
      leave: () => this.views.buttons[0].focus(),
      changed: (mayRun) => this.changed(mayRun),
      came: (text) => this.bench.foreign.came(text),
    });
    this.bench = new Bench(this.stage, asked, {
      begin: () => this.stage.begin(this.desk.editor),
      tell: (answer, view) => this.tell(answer, view),
      status,
    });
    this.build();
    this.listen();
  }

  build() {
    const run = button("▶ Run", "Run (Shift+Enter)", () => this.run());
    run.className = "bench-run";
    const acts = [...(told.isEmbedded ? [] : [this.choice()]), run, ...this.share.offers];
    const acting = group("Program", ...acts);
    const { desk, share, stage, views } = this;
    const program = [share.panel, desk.notice, desk.place, stage.wrong];
    const viewing = [views.bar, views.why];
    const result = [this.line, stage.place, stage.printed];
    if (told.isEmbedded) root.append(acting, ...viewing, ...result, ...program);
    else root.append(acting, ...program, ...viewing, ...result);
    root.hidden = false;
  }

  /** Have Python start when the reader rests here, or has run something before. */
  listen() {
    let timer;
    const soon = () => (timer = setTimeout(() => this.bench.soon(), REST));
    for (const event of ["pointerenter", "focusin"]) root.addEventListener(event, soon);
    for (const event of ["pointerleave", "focusout"])
      root.addEventListener(event, () => clearTimeout(timer));
    kept.again(() => this.bench.soon());
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

  status(...parts) {
    this.line.replaceChildren(...parts);
  }

  async open() {
    const { isOwn, runs } = await this.desk.open();
    this.share.point();
    if (runs) this.run();
    else if (isOwn && !(await this.bench.showBuilt()) && location.hash.startsWith("#s="))
      this.run();
  }

  async begin(start) {
    if (!start) return;
    await this.desk.write(start.text);
    if (start.refused[this.views.name]) this.views.look("graph");
    this.run();
  }

  choose(view) {
    this.views.look(view);
    this.run();
  }

  /** The reader has changed the text and pauses. */
  changed(mayRun) {
    this.desk.keep(this.views.name);
    this.share.point();
    if (mayRun) this.run();
    else this.stage.begin(this.desk.editor);
  }

  run() {
    if (!this.desk.editor) return;
    this.desk.trust();
    this.share.point();
    return this.bench.run();
  }

  tell(answer, view) {
    const { html, alt, problems } = answer;
    this.views.refuse(answer.refused ?? {});
    this.stage.tell(answer, view, this.desk.editor);
    this.share.tell(answer);
    this.status(html || problems.length ? "" : alt || "Type a function.");
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
