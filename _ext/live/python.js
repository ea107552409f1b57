// Starts Python, asks it to run things, and ends it.

const DOES = { start: "Starting Python", run: "Running", check: "Checking", typed: "Checking" };
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
const loading = (received, total) =>
  `Loading Python: ${megabytes(received)} of ${megabytes(total)} MB`;

export const UNREACHABLE =
  "Python could not be loaded: this site does not carry it, and the network has none. " +
  "Go online, or in a copy of the course run: make live";

const OWN = "runtime/"; // where a site carries Python

/** Where Python may come from: from this site alone, if it has it. */
export async function sources(base) {
  const { runtimes } = await (await fetch(new URL("config.json", base))).json();
  return runtimes.includes(OWN) ? [OWN] : runtimes;
}

/** Whether Python may come before anybody has asked for it: from this site, where bytes are cheap. */
export async function mayComeEarly(base) {
  return !navigator["connection"]?.saveData && (await sources(base)).includes(OWN);
}

const module = (base) => new Worker(new URL("worker.js", base), { type: "module" });

/** Python in a worker: one message at a time, answered by what it shows and by its end. */
export class Python {
  /**
   * `open` gives the worker; `early` names what it loads beside Python.
   * @typedef {Pick<Worker, "onmessage" | "postMessage" | "terminate"> & { onerror?: any }} Channel
   * @param {URL} base
   * @param {(base: URL) => Channel} open
   * @param {string[]} early
   */
  constructor(base, open = module, early = []) {
    this.base = base;
    this.open = open;
    this.early = early;
    this.worker = null;
    this.waiting = null; // the message that is being answered
    this.starting = null; // a promise, once it was asked for
  }

  /** Resolves when Python is there; until then `cell`, if any, says how far it is. */
  started(cell) {
    this.starting ??= this.start();
    if (cell && this.waiting) {
      this.waiting.cell = cell;
      cell.doing(DOES.start);
    }
    return this.starting;
  }

  /** Start, and import what these cells do, one after the other, until somebody waits. */
  async warm(cells) {
    if (this.starting) return;
    let step = this.started();
    for (const source of cells) {
      const { waiting } = this;
      await step;
      if (waiting.cell) return;
      step = this.starting = this.ask(null, { type: "warm", source });
    }
    await step;
  }

  async start() {
    this.worker = this.open(this.base);
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => this.fail(event.message ?? "the worker did not start");
    await this.ask(null, { type: "start", root: this.base.href, early: this.early });
  }

  ask(cell, message) {
    const does = DOES[message.type];
    cell?.doing(does);
    return new Promise((resolve, reject) => {
      this.waiting = { cell, does, resolve, reject };
      this.worker.postMessage(message);
    });
  }

  receive({ type, ...data }) {
    if (!this.waiting) return;
    const { cell, does, resolve } = this.waiting;
    const { received, total } = data;
    if (type === "progress") cell?.loading(loading(received, total), received / total);
    else if (type === "loaded") cell?.doing(does);
    else if (type === "begun") cell?.begun?.();
    else if (type === "failed") this.fail(data.message);
    else if (type === "ready" || type === "done") {
      this.waiting = null;
      resolve(data);
    } else if (type === "stream") cell?.output?.stream(data.name, data.text);
    else if (type === "display") cell?.output?.display(data.bundle, data.place);
    else if (type === "clear") cell?.output?.clear(data.wait);
  }

  fail(message) {
    const { reject } = this.waiting ?? {};
    this.stop();
    reject?.(new Error(message));
  }

  stop() {
    this.worker?.terminate();
    this.worker = this.waiting = this.starting = null;
  }
}
