// What a cell shows: streams, displays, tracebacks, in the order in which they come.

export class Output {
  /**
   * An empty region, called `name`; `built` is what the book shows in its place. It has the height
   * of what stood there until it settles, so that nothing below moves meanwhile.
   */
  constructor(name, built, height = 0) {
    this.built = built;
    this.cleared = false;
    const className = "cell_output live-output";
    this.element = make("div", { className, role: "region", ariaLabel: `Output of ${name}` });
    this.element.style.minHeight = `${height}px`;
  }

  /** All is here. */
  settle() {
    this.element.style.minHeight = "";
  }

  place(className, ...inside) {
    if (this.cleared) this.clear();
    this.cleared = false;
    const element = make("div", { className: `output ${className}` }, ...inside);
    this.element.append(element);
    return element;
  }

  stream(name, text) {
    let last = this.element.lastElementChild;
    if (this.cleared || !last?.classList.contains(name)) {
      last = this.text(`stream ${name}`, "");
    }
    const pre = last.querySelector("pre");
    pre.textContent = overwritten(pre.textContent + text);
  }

  /** Show a bundle at its place: what is there already is replaced. */
  display(bundle, place) {
    const before = this.element.querySelector(`:scope > [data-place="${place}"]`);
    this.append(bundle);
    const now = this.element.lastElementChild;
    now.dataset.place = place;
    before?.replaceWith(now);
  }

  append(bundle) {
    if (bundle["text/html"] !== undefined) {
      const range = document.createRange();
      const place = this.place("text_html");
      range.selectNode(place);
      place.append(range.createContextualFragment(bundle["text/html"])); // runs its scripts
    } else if (bundle["image/svg+xml"] !== undefined) {
      this.place("image").innerHTML = bundle["image/svg+xml"];
    } else if (bundle["image/png"] !== undefined) {
      const src = `data:image/png;base64,${bundle["image/png"]}`;
      const alt = this.built?.querySelector("img")?.alt || bundle["text/plain"];
      this.place("image_png", make("img", { src, alt }));
    } else if (isTable(bundle["text/markdown"])) {
      this.place("text_markdown", table(bundle["text/markdown"]));
    } else {
      this.text("text_plain", bundle["text/markdown"] ?? bundle["text/plain"]);
    }
  }

  /** Set text as the book sets what code prints. */
  text(className, text) {
    const set = make("div", { className: "highlight" }, make("pre", { tabIndex: 0 }, text));
    return this.place(className, set);
  }

  clear(wait) {
    if (wait) this.cleared = true;
    else this.element.replaceChildren();
  }
}

/** What a terminal shows of text in which "\r" goes back to the start of the line. */
function overwritten(text) {
  if (!text.includes("\r")) return text;
  return text
    .split("\n")
    .map((line) => {
      const parts = line.replace(/\r$/, "").split("\r");
      return parts.reduce((below, part) => part + below.slice(part.length), "");
    })
    .join("\n");
}

const RULE = /^\|(\s*:?-+:?\s*\|)+$/;

function isTable(text) {
  const lines = text?.trim().split("\n") ?? [];
  return lines.length > 1 && RULE.test(lines[1]) && lines.every((line) => /^\|.*\|$/.test(line));
}

function table(text) {
  const cellsOf = (line) => line.slice(1, -1).split(/(?<!\\)\|/);
  const [head, rule, ...rows] = text.trim().split("\n").map(cellsOf);
  const made = make("table", { className: "table" });
  const add = (section, kind, cells) => {
    const row = section.insertRow();
    cells.forEach((cell, i) => {
      const box = make(kind, {}, ...inline(cell.trim()));
      if (rule[i]?.trim().endsWith(":")) box.style.textAlign = "right";
      row.append(box);
    });
  };
  add(made.createTHead(), "th", head);
  const body = made.createTBody();
  for (const row of rows) add(body, "td", row);
  return made;
}

/** Text with `code` in it, and what is escaped as it is meant. */
function inline(text) {
  return text.split(/`([^`]*)`/).map((part, i) => {
    if (i % 2 === 0) return part.replace(/\\(\W)/g, "$1");
    return make("code", {}, part);
  });
}
