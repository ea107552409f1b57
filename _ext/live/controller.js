// Runs the cells of a page in a worker, checks answers there, and says what became of each.
import { Answer } from "./answer.js";
import { Cell } from "./cell.js";
import { Drafts } from "./drafts.js";
import { mayComeEarly, Python, UNREACHABLE } from "./python.js";
import { Turns } from "./turns.js";

const TOO_DEEP = /call stack|recursion/i;
// ms that the checks of an answer may take by the clock; a grader gives them 10 s of a processor's
// time, of which a busy or a small machine gives us a part.
const LONGEST = 30_000;
const AFRESH = "Python starts afresh: what cells had computed is gone.";
const WHY_NOT = {
  stopped: `Stopped. ${AFRESH}`,
  slow:
    `Ended: your answer ran for more than ${LONGEST / 1000} s, and a grader gives it 10. ` +
    `Your text stays. ${AFRESH}`,
  unreachable: UNREACHABLE,
};

function whyNot(message) {
  if (TOO_DEEP.test(message))
    return (
      "This ended Python: it went deeper than the stack that a browser gives. " +
      "What cells had computed is gone."
    );
  return WHY_NOT[message] ?? `This ended Python: ${message}`;
}

const notRun = ({ name, isUnended }) =>
  `${name} above did not finish, so this one was not run.` +
  (isUnended ? " Run that one by itself, or change it." : "");

class Page {
  constructor(boxes, places, told, base) {
    this.told = told;
    this.base = base;
    const keys = kept.keys(kept.sourcesHere());
    this.cells = boxes.map((box, i) => new Cell(box, told.cells[i], `cell ${i + 1}`, keys[i]));
    this.answers = places.map((place, i) => new Answer(place, told.answers[i]));
    this.python = new Python(base);
    this.turns = new Turns();
    this.givers = new Map(); // of names that several cells give: the one that ran last
    const written = [...this.cells.filter((cell) => cell.runs), ...this.answers];
    this.drafts = new Drafts(told.page, written);
  }

  // --- running ------------------------------------------------------------------------------------

  /** Give a cell its turn: `work` asks Python, and `speaker` says how; null if Python ended. */
  async turn(cell, work, speaker = cell) {
    this.turns.begin(cell);
    try {
      await this.python.started(speaker);
      const ended = await work();
      kept.ran();
      return ended;
    } catch (error) {
      for (const other of this.cells) other.hasRun = false;
      this.givers.clear();
      speaker.status(whyNot(error.message));
      return null;
    } finally {
      cell.output?.settle();
      this.turns.end(cell);
    }
  }

  runOne(cell) {
    return this.turn(cell, async () => {
      const { source, name } = cell;
      cell.freshOutput();
      cell.unended = source;
      const { error, lacks } = await this.python.ask(cell, { type: "run", source, name });
      cell.unended = undefined;
      if (error) cell.output.text("traceback", error);
      cell.status(...(lacks ? this.elsewhere(lacks) : [error ? "Ended with an error." : "Done."]));
      cell.hasRun = !error || Boolean(cell.about.raises);
      this.gave(cell);
      this.ranAs(cell, source);
      return cell.hasRun;
    });
  }

  /** Note that a cell gave its names their values last. */
  gave(cell, givers = this.givers) {
    for (const name of cell.about.gives ?? []) givers.set(name, cell);
  }

  /** What to say where the browser lacks something that code asks for. */
  elsewhere(lacks) {
    return [`The browser has no ${lacks}; a notebook has. `, make("a", this.told.elsewhere)];
  }

  /** Note what a cell ran as: cells that build on other code of it are behind. */
  ranAs(cell, source) {
    if (source === (cell.ranAs ?? cell.original)) return;
    cell.ranAs = source;
    for (const other of this.cells) {
      if (!other.runs || other === cell || !this.builtOn(other).has(cell)) continue;
      other.hasRun = false;
      if (!this.turns.waiting.has(other))
        other.status(`Builds on ${cell.name}, whose code is another now: run it again.`);
    }
  }

  /** The cells whose results a cell uses, and those whose results these use. */
  builtOn(cell, found = new Set()) {
    for (const i of cell.about.uses ?? []) {
      const other = this.cells[i];
      if (!found.has(other)) this.builtOn(other, found.add(other));
    }
    return found;
  }

  /** Of a cell that cannot run here, give others the modules and functions that it defines. */
  defineKept(cell, speaker) {
    const work = async () => {
      const message = { type: "run", source: cell.about.kept, name: cell.name };
      await this.python.ask(speaker, message);
      this.gave(cell);
      return (cell.hasRun = true);
    };
    return this.turn(cell, work, speaker);
  }

  /** Run a cell after those above; one that failed or was stopped stops only what builds on it. */
  async runUpTo(cell) {
    const stops = this.turns.stops;
    const failed = new Set();
    const causeOf = (other) => {
      const below = this.builtOn(other);
      return this.cells.find((each) => failed.has(each) && below.has(each));
    };
    for (const above of this.above(cell)) {
      const ended =
        !above.isUnended &&
        !causeOf(above) &&
        (await (above.runs ? this.runOne(above) : this.defineKept(above, cell)));
      if (!ended) failed.add(above);
      if (ended !== null) continue;
      this.turns.leave(cell);
      if (above.runs && stops === this.turns.stops) cell.status(notRun(above));
      return;
    }
    const cause = causeOf(cell);
    if (!cause) return this.runOne(cell);
    this.turns.leave(cell);
    if (cause.runs) cell.status(notRun(cause));
  }

  /** What has to run before a cell: a file that has changed; of exercises only what it uses. */
  above(cell) {
    const uses = this.builtOn(cell);
    const isWanted = (other) =>
      !other.about.within || other.about.within === cell.about.within || uses.has(other);
    const isDue = (other) => !other.hasRun || (uses.has(other) && other.isUnsaved);
    const before = this.cells.slice(0, this.cells.indexOf(cell));
    const canRun = (other) => other.runs || other.about.kept;
    const due = new Set([cell]);
    let more = before.filter((other) => isDue(other) && canRun(other) && isWanted(other));
    do {
      more.forEach((other) => due.add(other));
      more = this.missed([...before, cell], due).filter((o) => canRun(o) && !due.has(o));
    } while (more.length);
    return before.filter((other) => due.has(other));
  }

  /** The cells whose values others will have replaced by the time that cells which are due run. */
  missed(cells, due) {
    const givers = new Map(this.givers);
    const found = [];
    for (const cell of cells.filter((other) => due.has(other))) {
      for (const name of this.namesReadBy(cell)) {
        const origin = this.giverOf(name, cell);
        if (origin && givers.has(name) && givers.get(name) !== origin) found.push(origin);
      }
      this.gave(cell, givers);
    }
    return found;
  }

  /** Of the names that several cells give, those that a cell reads, and functions that it calls. */
  namesReadBy(cell) {
    const late = [...this.builtOn(cell)].flatMap(({ about }) => about.late ?? []);
    return new Set([...(cell.about.reads ?? []), ...late]);
  }

  /** The last cell above another that gives a name. */
  giverOf(name, cell) {
    const before = this.cells.slice(0, this.cells.indexOf(cell));
    return before.findLast(({ about }) => about.gives?.includes(name));
  }

  /** Run the checks of an answer: with what it needs, and apart from the cells of the page. */
  check(answer) {
    return this.turn(answer, async () => {
      const { about: exercise, source } = answer;
      answer.freshOutput();
      const message = { type: "check", exercise, answer: source };
      const { verdicts, lacks } = await this.inTime(answer, message);
      this.drafts.judged(answer, source, answer.show(verdicts));
      if (lacks) answer.status(...this.elsewhere(lacks));
      return true;
    });
  }

  /** Ask Python, which is ended if it takes too long once all is loaded. */
  async inTime(answer, message) {
    let clock;
    answer.begun = () => (clock ??= setTimeout(() => this.python.fail("slow"), LONGEST));
    try {
      return await this.python.ask(answer, message);
    } finally {
      clearTimeout(clock);
    }
  }

  // --- what the buttons do ------------------------------------------------------------------------

  run(cell) {
    this.drafts.keep(cell);
    return this.turns.take(cell, () =>
      cell instanceof Answer ? this.check(cell) : this.runUpTo(cell),
    );
  }

  /** Have Python start and import what cells will, before something is run. */
  async begin() {
    const { base, cells, python } = this;
    const sources = cells.filter((cell) => cell.runs).map((cell) => cell.original);
    const importing = sources.filter((source) => /^(from|import) /m.test(source));
    if (await mayComeEarly(base).catch(() => false)) python.warm(importing).catch(() => {});
  }

  /** Open the editor; who writes will run it, so that Python may start meanwhile. */
  edit(cell, text, focus = true) {
    if (focus) this.begin();
    const act = {
      run: () => this.run(cell),
      keep: () => this.drafts.soon(cell),
      leave: () => this.drafts.now(cell),
    };
    return cell.edit(this.base, act, text, focus);
  }

  reset(cell) {
    this.drafts.putAside(cell);
    cell.reset();
    this.ranAs(cell, cell.original);
  }

  undo(cell) {
    return this.drafts.undo(cell, (...what) => this.edit(...what));
  }

  download(cell) {
    kept.download(cell.about.file, "text/x-python", `${cell.source.replace(/^.*\n?/, "")}\n`);
  }

  /** Let the reader choose a file, and put its text into the cell that writes it. */
  open(cell) {
    const input = make("input", { type: "file", accept: ".py" });
    input.onchange = async () => {
      const [magic] = cell.original.split("\n", 1);
      const text = `${magic}\n${await input.files[0].text()}`;
      this.drafts.keep(cell);
      cell.reset();
      await this.edit(cell, text.trimEnd());
      this.drafts.keep(cell);
    };
    input.click();
  }

  restore() {
    return this.drafts.restore((cell, text) => this.edit(cell, text, false));
  }

  stop() {
    this.turns.stop();
    this.python.fail("stopped");
  }
}

/** What acts on the cells and the answers of a page: `act("run", "cells", 3)`. */
export async function start(boxes, places, told, base) {
  const page = new Page(boxes, places, told, base);
  await page.restore();
  return (what, kind, i) => page[what](page[kind]?.[i]);
}
