// The text: what the address holds, what the reader writes, and what of it is kept.
import { unpacked } from "./link.js";
import { told } from "./told.js";

const PAUSE = 400; // ms without a key, after which a text runs
const CAME =
  "Somebody else wrote this program: it came in the link. Read it, and press Run. It runs in a " +
  "frame that reaches this site’s own files and nothing else.";
const BROKEN =
  "The link holds no program: a part of it may be missing. The program below is not the link’s.";

export class Desk {
  /**
   * `act` has what the text leads to: `run()`, `look(view)`, `changed(mayRun)`, `came(text)`, and
   * `leave()` when the reader leaves the editor.
   */
  constructor(act) {
    this.act = act;
    this.place = make("div", { className: "live-editor bench-desk" });
    this.notice = make("p", { className: "bench-from", role: "status", hidden: true });
    this.isTrusted = true; // the text is the reader's own, or was read
    this.editor = null;
    this.fetched = null; // the script of the editor
  }

  get text() {
    return this.editor.text();
  }

  /** Say something of the text that stays until the reader runs it. */
  say(words) {
    this.notice.hidden = !words;
    this.notice.textContent = words;
  }

  /** The reader has seen the text, and runs it. */
  trust() {
    clearTimeout(this.timer);
    this.isTrusted = true;
    this.say("");
  }

  /** Show what the address holds, a cell handed over, the reader wrote last, or the first start. */
  async open() {
    const given = new URLSearchParams(location.hash.slice(1));
    const letters = given.get("f");
    const came = letters && (await unpacked(letters));
    const { text, view, runs } = came || this.own(given) || { text: told.starts[0].text };
    this.act.look(view);
    await this.write(text);
    this.isTrusted = !came;
    this.say(came ? CAME : letters ? BROKEN : "");
    if (came) this.act.came(text);
    return { isOwn: !came, runs: Boolean(runs && !came) };
  }

  /** What is shown where the address holds no program. */
  own(given) {
    const start = told.starts.find(({ key }) => key === given.get("s"));
    if (start) {
      const view = given.get("view");
      return { text: start.text, view: start.refused[view] ? "graph" : view };
    }
    const { text: last, came: cell } = (!told.isEmbedded && kept.read(told.page).bench) || {};
    if (cell) kept.put(told.page, "bench", "came", undefined);
    return cell ? { ...cell, runs: true } : last;
  }

  async write(text) {
    this.fetched ??= import("./editor.js"); // of two imports either may be there first
    const { openEditor } = await this.fetched;
    this.isWriting = true;
    if (this.editor) this.editor.put(text);
    else {
      const label = "Your function, in Python. It runs as you pause; Escape leaves the editor.";
      const { run, leave } = this.act;
      const passOn = (event) => event.key === "Tab" && event.stopPropagation();
      this.place.addEventListener("keydown", passOn, true); // Tab goes on; lines indent by themselves
      this.editor = openEditor(this.place, text, run, leave, () => this.changed(), label);
    }
    this.isWriting = false;
  }

  changed() {
    if (this.isWriting) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.act.changed(this.isTrusted), PAUSE);
  }

  keep(view) {
    if (!told.isEmbedded) kept.put(told.page, "bench", "text", { text: this.text, view });
  }
}
