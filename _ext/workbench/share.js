// Taking it along: a link, a line of HTML for another page, the program, the view as a file.
import { packed } from "./link.js";
import { asPng, harmless } from "./picture.js";
import { button, startOf, told } from "./told.js";

export const COLOURS = { "": "the reader’s", light: "light", dark: "dark" };

/** Buttons that unfold over what is below, and fold when one is pressed or the reader leaves them. */
function menu(title, ...buttons) {
  const list = make("div", { className: "bench-menu" }, ...buttons);
  const fold = make("details", { className: "bench-share" }, make("summary", {}, title), list);
  const close = () => (fold.open = false);
  list.addEventListener("click", close);
  addEventListener("click", ({ target }) => fold.contains(target) || close());
  fold.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !fold.open) return;
    close();
    fold.querySelector("summary").focus();
  });
  return fold;
}

export class Share {
  /** `asked` gives the text and the view as they are now; `status` says something. */
  constructor(stage, asked, status) {
    this.stage = stage;
    this.asked = asked;
    this.status = status;
    this.code = "";
    this.svg = "";
    this.copyCode = button("Copy code", "Copy the program, which runs alone", () =>
      this.copy(this.code, "The program is copied."),
    );
    this.save = button("Save as file", "Save this view as a file that loads nothing", () =>
      kept.download(`${this.stage.frame.title}.html`, "text/html", this.stage.shown),
    );
    this.saveSvg = button("SVG", "Save the drawing as SVG, for slides and print", () =>
      kept.download("graph.svg", "image/svg+xml", this.svg),
    );
    this.savePng = button("PNG", "Save the drawing as PNG, for whatever takes no SVG", async () =>
      kept.download("graph.png", "image/png", await asPng(this.svg)),
    );
    this.panel = this.offered();
    this.tell({ html: "", code: "", svg: "" });
    this.save.hidden = true;
  }

  /** What the toolbar has: a menu, or in a frame on another page a link and a button. */
  get offers() {
    if (told.isEmbedded) {
      const link = make("a", { href: told.here }, "Open in the workbench");
      this.onward = Object.assign(link, { target: "_blank", rel: "noopener" });
      return [this.onward, this.copyCode];
    }
    const link = button("Copy link", "Copy an address that holds this program and view", () =>
      this.link(),
    );
    const embed = button("Embed", "Show this program and view on a page of your own", () => {
      this.panel.hidden = !this.panel.hidden;
      this.point();
    });
    return [menu("Share", link, embed, this.copyCode, this.save, this.saveSvg, this.savePng)];
  }

  /** Offer what an answer has to take along. */
  tell({ html, code, svg }) {
    this.code = String(code);
    this.svg = svg ? harmless(svg) : "";
    this.copyCode.hidden = !this.code;
    this.saveSvg.hidden = this.savePng.hidden = !this.svg;
    if (html) this.save.hidden = false;
  }

  /** What shows this program and view on a page of the reader's own: a line of HTML. */
  offered() {
    const again = () => this.tellHtml();
    this.colours = make("select", { onchange: again });
    for (const [value, says] of Object.entries(COLOURS))
      this.colours.append(make("option", { value }, says));
    const size = { type: "number", value: 480, min: 200, step: 20, oninput: again };
    this.height = make("input", size);
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
    const inside = [colours, height, take, this.html, words];
    return make("div", { className: "bench-panel", hidden: true }, ...inside);
  }

  /** Have links hold the program and the view as they are now. */
  async point() {
    if (!this.panel.hidden) await this.tellHtml();
    if (told.isEmbedded) this.onward.href = await this.address();
  }

  async tellHtml() {
    const { text, view } = this.asked();
    const start = startOf(text);
    const program = start ? { s: start.key, view } : { f: await packed(text, view) };
    const theme = this.colours.value ? { theme: this.colours.value } : {};
    const at = new URL(told.embed, location.href);
    at.hash = String(new URLSearchParams({ ...program, ...theme }));
    const title = `${start?.name ?? "A function"}: ${view}`;
    this.html.value =
      `<iframe src="${at.href.replaceAll("&", "&amp;")}" title="${title}" width="100%" ` +
      `height="${Number(this.height.value)}" style="border:0" loading="lazy"></iframe>`;
  }

  async address() {
    const { text, view } = this.asked();
    const letters = await packed(text, view);
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
}
