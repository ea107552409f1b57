// A piece of code on the page: as the book has it, or as the reader edits it, and its output.
import { Output } from "./output.js";

const isShown = (element) => element.checkVisibility({ visibilityProperty: true });

export class Cell {
  /** `about` is what the page says of it; `name` is what messages call it, `key` what it is kept as. */
  constructor(box, about, name, key) {
    this.box = box;
    this.about = about;
    this.name = name;
    this.key = key;
    this.code = kept.codeOf(box);
    this.bar = box.querySelector(".live-bar");
    this.line = box.querySelector(".live-status");
    this.aside = box.querySelector(".live-note");
    this.built = box.querySelector(":scope > .cell_output, :scope > details > .cell_output");
    this.gap = document.createComment("built output");
    this.output = null;
    this.editor = null;
    this.hasRun = false;
    this.ranAs = undefined; // the text that ran last, if not the book's
    this.unended = undefined; // the text with which it runs, or with which Python ended
  }

  get original() {
    return this.code.textContent.replace(/\n$/, "");
  }

  /** The text as it runs. A cell that writes a file keeps the line that names it, whatever is pasted. */
  get source() {
    const text = (this.editor?.text() ?? this.original).replace(/\n$/, "");
    if (!this.about.file) return text;
    return `${this.original.split("\n", 1)[0]}\n${text.replace(/^\s*%%writefile[^\n]*\n?/, "")}`;
  }

  get runs() {
    return !this.about.why;
  }

  /** Whether it writes a file, and the file is another by now. */
  get isUnsaved() {
    return Boolean(this.about.file) && this.source !== (this.ranAs ?? this.original);
  }

  /** Whether Python ended while it ran, and would again. */
  get isUnended() {
    return this.unended === this.source;
  }

  status(...parts) {
    this.does = "";
    this.say(...parts);
  }

  say(...parts) {
    clearInterval(this.clock);
    this.bar.style.removeProperty("--loaded");
    this.line.replaceChildren(...parts);
  }

  /** Say what goes on, and for how long; the seconds are not read out. */
  doing(what) {
    if (what !== this.does) this.began = Date.now(); // what goes on after a download began before it
    this.does = what;
    const seconds = make("span", { ariaHidden: "true" });
    this.say(`${what} …`, seconds);
    const tell = () => (seconds.textContent = ` ${Math.round((Date.now() - this.began) / 1000)} s`);
    this.clock = setInterval(tell, 1000);
  }

  /** Say how far a download is, and show which part of it is here. */
  loading(words, part) {
    this.say(words);
    this.bar.style.setProperty("--loaded", `${100 * part}%`);
  }

  /** Say something that stays whatever the cell does. */
  note(text) {
    this.aside.textContent = text;
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
    this.built?.dispatchEvent(new Event("reveal")); // who runs a cell wants to see what it shows
    const before = this.output?.element ?? this.built;
    this.output = new Output(this.name, this.built, before?.getBoundingClientRect().height);
    if (before !== this.built) before?.remove();
    this.built?.replaceWith(this.gap); // not only hidden: its ids would shadow those of the output
    const mark = this.box.querySelector(".checked > details > .cell_input");
    const above = this.gap.isConnected ? this.gap : (mark ?? this.box.lastChild);
    above.after(this.output.element);
    this.mark("changed", true);
  }

  /** Open the editor, with the focus in it unless this brings back what was kept. */
  async edit(base, act, text = this.original, focus = true) {
    const { openEditor } = await import(new URL("editor.js", base).href);
    if (this.editor) return void (focus && this.editor.focus());
    this.code.closest("details")?.setAttribute("open", "");
    this.desk = make("div", { className: "live-editor" });
    const { font, padding } = getComputedStyle(this.code);
    Object.assign(this.desk.style, { font, padding });
    this.code.closest(".highlight").before(this.desk);
    this.editor = openEditor(this.desk, text, act.run, () => this.focusBar());
    if (focus) this.editor.focus();
    for (const event of ["input", "keyup", "paste", "cut", "drop"])
      this.desk.addEventListener(event, act.keep);
    this.desk.addEventListener("focusout", act.leave);
    this.mark("editing", true);
    this.mark("changed", true);
    this.mark("undoable", false);
  }

  reset() {
    this.editor?.close();
    this.desk?.remove();
    this.output?.element.remove();
    this.editor = this.output = null;
    if (this.built) this.gap.replaceWith(this.built);
    this.hasRun = false;
    this.unended = undefined;
    this.mark("editing", false);
    this.mark("changed", false);
    this.status("");
    this.note("");
  }
}
