// What came of a run: its view in a frame, what it printed, and what is wrong at which line.
import { told } from "./told.js";

export class Outcome {
  constructor() {
    this.wrong = make("ul", { className: "bench-wrong", role: "status" });
    this.place = make("div", { className: "bench-stage" });
    this.printed = make("pre", { className: "bench-printed", tabIndex: 0, ariaLabel: "Printed" });
    this.printed.hidden = true;
    this.shown = ""; // the document in the frame
    new MutationObserver(() => this.show(this.shown)).observe(document.documentElement, {
      attributeFilter: ["data-theme"],
    });
  }

  get isBusy() {
    return Boolean(this.place.ariaBusy);
  }

  set isBusy(is) {
    this.place.ariaBusy = is ? "true" : null;
  }

  /** Another program runs: what was wrong with the one before goes, and its room stays till then. */
  begin(editor) {
    this.wrong.style.minHeight = `${this.wrong.offsetHeight}px`;
    this.wrong.replaceChildren();
    editor.mark([]);
  }

  /** All of an answer may have been made up by the program: it is text, but for the frame's HTML. */
  tell({ html, printed, problems }, view, editor) {
    editor.mark(
      problems.map(({ line, severity, message, hint }) => ({
        line: Number(line),
        severity: severity === "warning" ? "warning" : "error",
        message: [message, hint].filter(Boolean).join(" "),
      })),
    );
    this.wrong.style.minHeight = "";
    this.wrong.replaceChildren(...problems.map(item));
    this.printed.hidden = !printed;
    this.printed.textContent = printed;
    this.place.classList.toggle("bench-old", !html);
    if (html)
      this.show(
        told.frame.replace("<!-- view -->", () => html),
        view,
      );
  }

  /** Put a document into a frame of its own, and that in the place of the last when it is there. */
  show(text, view = (this.next ?? this.frame)?.title) {
    if (!text) return;
    this.shown = text;
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
    this.place.append(frame);
  }

  take(frame) {
    this.frame?.remove();
    this.frame = frame;
    this.next = null;
    frame.classList.remove("bench-new");
  }
}

function item({ line, message, hint }) {
  const made = make("li", {}, make("b", {}, `Line ${line}`), ` ${message}`);
  if (hint) made.append(" ", make("em", {}, `${hint}.`));
  return made;
}
