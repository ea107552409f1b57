// One thing runs at a time: what waits says for what, and can stop it.

export class Turns {
  constructor() {
    this.last = Promise.resolve();
    this.running = null;
    this.text = ""; // of what runs
    this.waiting = new Set();
    this.stops = 0;
  }

  /** Do `work` for a cell when all that was asked for before has ended; its text then counts. */
  take(cell, work) {
    const isRunning = this.running === cell && this.text === cell.source;
    if (isRunning || this.waiting.has(cell)) return this.last;
    const stops = this.stops;
    this.waiting.add(cell);
    cell.mark("waiting", true);
    this.tell();
    this.last = this.last.then(async () => {
      if (stops === this.stops) await work();
    });
    return this.last;
  }

  begin(cell) {
    this.leave(cell);
    this.running = cell;
    this.text = cell.source;
    cell.mark("busy", true);
    this.tell();
  }

  end(cell) {
    this.running = null;
    cell.mark("busy", false);
  }

  leave(cell) {
    if (this.waiting.delete(cell)) cell.mark("waiting", false);
  }

  tell() {
    for (const cell of this.waiting) {
      const before = cell === this.running ? "your text before this one" : this.running?.name;
      cell.status(before ? `Waiting for ${before} to end …` : "Waiting …");
    }
  }

  /** Forget what waits. */
  stop() {
    this.stops += 1;
    for (const cell of this.waiting) {
      cell.status("Stopped before it ran.");
      this.leave(cell);
    }
  }
}
