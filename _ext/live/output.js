// What a cell shows: streams, displays, tracebacks, in the order in which they come.

export class Output {
  /** An empty region, called `name`; `built` is what the book shows in its place. */
  constructor(name, built) {
    this.built = built;
    this.cleared = false;
    this.element = document.createElement("div");
    this.element.className = "cell_output live-output";
    this.element.setAttribute("aria-label", `Output of ${name}`);
    this.element.setAttribute("role", "region");
  }

  place(className) {
    if (this.cleared) {
      this.element.replaceChildren();
      this.cleared = false;
    }
    const element = document.createElement("div");
    element.className = `output ${className}`;
    this.element.append(element);
    return element;
  }

  stream(name, text) {
    let last = this.element.lastElementChild;
    if (this.cleared || !last?.classList.contains(name)) {
      last = this.place(`stream ${name}`);
      last.append(Object.assign(document.createElement("pre"), { tabIndex: 0 }));
    }
    const pre = last.firstChild;
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
      const image = document.createElement("img");
      image.src = `data:image/png;base64,${bundle["image/png"]}`;
      image.alt = this.built?.querySelector("img")?.alt || bundle["text/plain"];
      this.place("image_png").append(image);
    } else if (isTable(bundle["text/markdown"])) {
      this.place("text_markdown").append(table(bundle["text/markdown"]));
    } else {
      this.text("text_plain", bundle["text/markdown"] ?? bundle["text/plain"]);
    }
  }

  text(className, text) {
    const pre = document.createElement("pre");
    pre.tabIndex = 0;
    pre.textContent = text;
    this.place(className).append(pre);
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
  const [head, rule, ...rows] = text
    .trim()
    .split("\n")
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
  const made = Object.assign(document.createElement("table"), { className: "table" });
  const add = (section, kind, cells) => {
    const row = section.insertRow();
    cells.forEach((cell, i) => {
      const box = row.appendChild(document.createElement(kind));
      if (rule[i]?.endsWith(":")) box.style.textAlign = "right";
      box.append(...inline(cell));
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
    return Object.assign(document.createElement("code"), { textContent: part });
  });
}
