// Keeps what a reader writes into cells and answers, and brings it back.

const PAUSE = 400; // ms without a key, after which a text is kept

export class Drafts {
  constructor(page, cells) {
    this.page = page;
    this.cells = cells;
    this.timers = new Map();
    addEventListener("pagehide", () => this.keepAll());
    document.addEventListener("visibilitychange", () => this.keepAll());
  }

  kept(cell) {
    return kept.read(this.page).code?.[cell.key];
  }

  /** Keep a cell's text soon. */
  soon(cell) {
    clearTimeout(this.timers.get(cell));
    const timer = setTimeout(() => this.keep(cell), PAUSE);
    this.timers.set(cell, timer);
  }

  /** Keep a text that waits: later it would be back after "Forget it". */
  now(cell) {
    if (this.timers.has(cell)) this.keep(cell);
  }

  keepAll() {
    for (const cell of this.timers.keys()) this.keep(cell);
  }

  keep(cell) {
    clearTimeout(this.timers.get(cell));
    this.timers.delete(cell);
    if (!cell.editor) return;
    const { source, original } = cell;
    const before = this.kept(cell);
    if (source === (before && !before.off ? before.now : original)) return;
    this.put(cell, source === original ? undefined : { was: original, now: source });
  }

  put(cell, value) {
    const lasts = kept.put(this.page, "code", cell.key, value);
    const why = `Not kept by this browser: ${kept.trouble()}. Download your work before you leave.`;
    cell.note(lasts ? (cell.editor && value ? "Kept in this browser." : "") : why);
  }

  /** Keep with an answer whether it was right, if it is still the one that was checked. */
  judged(cell, source, right) {
    const before = this.kept(cell);
    if (before && before.now === source) this.put(cell, { ...before, right });
  }

  /** What Reset takes is kept aside, for Undo. */
  putAside(cell) {
    this.keep(cell);
    const before = this.kept(cell);
    if (before) this.put(cell, { ...before, off: true });
    cell.mark("undoable", Boolean(before));
  }

  /** Show again what was kept of each cell, by opening its editor. */
  async restore(open) {
    for (const cell of this.cells) {
      const before = this.kept(cell);
      if (before?.off) cell.mark("undoable", true);
      else if (before) await this.bringBack(cell, before, open);
    }
  }

  async bringBack(cell, before, open) {
    await open(cell, before.now);
    const isCurrent = before.was === cell.original;
    const older = "Your text, from before the book changed this code: Reset shows the new one.";
    cell.note(isCurrent ? "Your text, as this browser kept it." : older);
    const isRight = isCurrent && Boolean(before.right);
    cell.mark("right", isRight);
    if (isRight) cell.status("Right, when it was last checked.");
  }

  /** Undo a reset. */
  async undo(cell, open) {
    const before = this.kept(cell);
    if (!before) return;
    this.put(cell, { ...before, off: undefined });
    await this.bringBack(cell, before, open);
  }
}
