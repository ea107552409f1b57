// Runs programs, one at a time and for a few seconds each, in a frame that reaches nothing.
import { Foreign } from "./foreign.js";
import { jailed } from "./jail.js";
import { mayComeEarly, Python, sources, UNREACHABLE } from "./python.js";
import { base, startOf, told } from "./told.js";

const LONGEST = 5000; // ms that a run may take, once all is loaded
const READY = "x = Node(2.0)\nx * x"; // run once, so that what it imports is there
const AFRESH = "The text stays; Python starts afresh.";
const WHY_NOT = {
  slow: `Ended: it ran for more than ${LONGEST / 1000} s. ${AFRESH}`,
  unreachable: UNREACHABLE,
  closed:
    "This cannot run here: the site has to allow its files to a frame without an origin " +
    "(Access-Control-Allow-Origin: *). In a copy of the course: make serve",
};
const TOO_DEEP = /call stack|recursion/i;

function whyNot({ message }) {
  if (TOO_DEEP.test(message))
    return `This ended Python: something in it is nested too deep for a browser. ${AFRESH}`;
  return WHY_NOT[message] ?? `This ended Python: ${message}`;
}

/** What Python is asked: the text goes as one string. */
const question = (text, view) =>
  `from live_page import typeset\nfrom chainlab.workbench import respond` +
  `${view === "written out" ? ", written" : ""}\n` +
  `respond(${JSON.stringify(text)}, ${JSON.stringify(view)}, typeset)`;

export class Bench {
  /**
   * `asked` gives the text and the view that are to run now; `act` has what is done about it:
   * `begin()` before a run, `tell(answer, view)` after it, `status(...parts)` in between.
   */
  constructor(stage, asked, act) {
    this.stage = stage;
    this.asked = asked;
    this.act = act;
    this.foreign = new Foreign();
    this.isWanted = false;
    this.python = null;
    this.starting = null;
    this.slow = null;
    this.ended = null; // why Python ended, until something else is asked for
    this.output = { display: (bundle) => (this.answer = bundle["application/json"]), stream() {} };
  }

  // --- what Python asks of whatever has it run something ------------------------------------------

  status(...parts) {
    this.act.status(...parts);
  }

  /** What runs before Python is ready is no program of anybody's; why one ended stays. */
  doing() {
    if (!this.isReady && !this.ended) this.status("Starting Python …");
  }

  loading(words) {
    if (!this.ended) this.status(words);
  }

  /** All is loaded, and the program runs; which cannot say so again to have more time. */
  begun() {
    if (this.isReady) this.slow ??= setTimeout(() => this.python.fail("slow"), LONGEST);
  }

  // --- starting -----------------------------------------------------------------------------------

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
      if (!this.ended) this.status("");
    })().catch((error) => {
      this.starting = null;
      this.status(whyNot(error));
      throw error;
    });
    return this.starting;
  }

  /** Start Python afresh, which leaves standing why it ended, until something else is asked for. */
  again(error) {
    this.ended = error;
    this.starting = null;
    this.start()
      .catch(() => {})
      .finally(() => this.ended === error && this.status(whyNot(error)));
  }

  // --- running ------------------------------------------------------------------------------------

  /** Run the text as it is now; while something runs, what is asked for last is next. */
  async run() {
    this.isWanted = true;
    if (this.stage.isBusy) return;
    this.stage.isBusy = true;
    while (this.isWanted) {
      this.isWanted = false;
      await this.once().catch((error) => this.nothing(whyNot(error)));
    }
    this.stage.isBusy = false;
  }

  async once() {
    this.ended = null;
    if (await this.showBuilt()) return;
    const { text, view } = this.asked();
    this.act.begin();
    this.doing();
    await this.start();
    if (this.foreign.needsAnother(text)) await this.startAnother();
    this.answer = null;
    try {
      const source = question(text, view);
      const { error } = await this.python.ask(this, { type: "run", source, name: "" });
      kept.ran();
      if (this.answer) this.act.tell(this.answer, view);
      else this.nothing(error.trim().split("\n").at(-1));
    } catch (error) {
      this.again(error);
      throw error;
    } finally {
      clearTimeout(this.slow);
      this.slow = null;
    }
  }

  startAnother() {
    this.python.stop();
    this.starting = null;
    return this.start();
  }

  /** Show what the build has made of a starting point, if the text is one; whether it was. */
  async showBuilt() {
    const { text, view } = this.asked();
    const start = startOf(text);
    if (!start) return false;
    try {
      const file = new URL(`${told.built}${start.key}.${view}.json`, location.href);
      this.act.tell(await (await fetch(file)).json(), view);
      return true;
    } catch {
      return false; // Python says the same
    }
  }

  /** A run gave nothing: of the program before, its view alone stays, as an old one. */
  nothing(why) {
    const none = { html: "", printed: "", problems: [], code: "", svg: "", refused: {} };
    this.act.tell({ ...none, alt: why }, "");
  }
}
