// What follows a question holds its answer: from the questions of a main line to the next heading it
// is veiled, until the reader has predicted or skipped. A veil is one line, which unfolds in place.
(() => {
  const page = document.querySelector('meta[name="course-page"]')?.content;
  const EVERYWHERE = "reading"; // what is kept for all pages
  const ENDS = "section, h1, h2, h3, h4, h5, h6, .predict";

  class Veil {
    constructor(boxes, rest) {
      this.boxes = boxes;
      this.place = make("div", { className: "veil", tabIndex: -1 });
      rest[0].before(this.place);
      this.place.append(make("div", { className: "veil-rest" }, ...rest));
      const skip = makeButton("Skip the question", () => this.skip());
      const never = makeButton("Never veil", () => this.never());
      const says = make("p", {}, "The answer comes next: predict first. ", skip, never);
      this.note = make("div", { className: "veil-note d-print-none" }, says);
      this.place.addEventListener("reveal", () => this.lift());
      addEventListener("kept", () => this.look());
      this.look();
    }

    get isSettled() {
      if (kept.read(EVERYWHERE).veil?.off) return true;
      const { guesses = {}, skipped = {} } = kept.read(page);
      return this.boxes.every(
        ({ dataset: { name, asked } }) => guesses[name]?.asked === asked || skipped[name] === asked,
      );
    }

    look() {
      const veiled = !this.isLifted && !this.isSettled;
      if (veiled === this.place.classList.contains("veiled")) return;
      this.place.classList.toggle("veiled", veiled);
      if (veiled) this.place.prepend(this.note);
      else this.note.remove();
    }

    /** Until the page is left: somebody was led into it. */
    lift() {
      this.isLifted = true;
      this.look();
    }

    skip() {
      for (const { dataset } of this.boxes) kept.put(page, "skipped", dataset.name, dataset.asked);
      this.place.focus({ preventScroll: true });
    }

    /** Lift all veils of the page, those above this one, too, which stays where the reader sees it. */
    never() {
      const before = this.place.getBoundingClientRect().top;
      kept.put(EVERYWHERE, "veil", "off", true);
      this.place.focus({ preventScroll: true });
      scrollBy({ top: this.place.getBoundingClientRect().top - before, behavior: "instant" });
    }
  }

  let asked = [];
  for (const box of document.querySelectorAll("section > .predict")) {
    if (box.closest(".exercise, details")) continue;
    asked.push(box);
    const rest = [];
    for (let next = box; (next = next.nextElementSibling) && !next.matches(ENDS);) rest.push(next);
    if (rest.length) new Veil(asked, rest);
    if (rest.length || !box.nextElementSibling?.matches(".predict")) asked = [];
  }

  const leadTo = (hash) => {
    const place = document.getElementById(decodeURIComponent(hash.slice(1)));
    const isVeiled = place?.closest(".veiled > .veil-rest");
    place?.dispatchEvent(new Event("reveal", { bubbles: true }));
    if (isVeiled) place.scrollIntoView();
  };
  addEventListener("hashchange", () => leadTo(location.hash));
  addEventListener("click", ({ target }) => leadTo(target.closest?.("a[href^='#']")?.hash ?? ""));
  leadTo(location.hash);
})();
