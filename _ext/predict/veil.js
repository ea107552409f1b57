// What answers a question is veiled until the reader has guessed it, has missed twice, or has skipped
// it: a line stands in its place. The build has marked it.
(() => {
  const { page } = kept;
  const EVERYWHERE = "reading"; // what is kept for all pages
  const SAYS = "The answer comes next: predict first.";

  class Veil {
    constructor(boxes, covered) {
      this.boxes = boxes;
      this.covered = covered;
      const skip = makeButton("Skip the question", () => this.skip());
      const never = makeButton("Never veil", () => this.never());
      const className = "veil-note d-print-none";
      const says = make("p", {}, `${SAYS} `, skip, never);
      this.note = make("div", { className, role: "group", "aria-label": SAYS }, says);
      for (const part of covered)
        for (const found of ["beforematch", "reveal"])
          part.addEventListener(found, () => this.lift());
      addEventListener("kept", () => this.look());
      this.look();
    }

    get isSettled() {
      return this.boxes.every(({ dataset }) => kept.isSettled(dataset));
    }

    look() {
      const veiled = !this.isLifted && !this.isSettled;
      if (veiled === this.note.isConnected) return;
      if (veiled) this.covered[0].before(this.note);
      else this.note.remove();
      for (const part of this.covered) {
        if (veiled) part.setAttribute("hidden", "until-found");
        else part.removeAttribute("hidden");
      }
    }

    /** Until the page is left: somebody was led into it, or has run the cell. */
    lift() {
      this.isLifted = true;
      this.look();
    }

    skip() {
      for (const { dataset } of this.boxes) kept.put(page, "skipped", dataset.name, dataset.asked);
      this.focus();
    }

    /** Lift all veils of the page, those above this one, too, which stays where the reader sees it. */
    never() {
      const before = this.note.getBoundingClientRect().top;
      kept.put(EVERYWHERE, "veil", "off", true);
      this.focus();
      const now = this.covered[0].getBoundingClientRect().top;
      scrollBy({ top: now - before, behavior: "instant" });
    }

    /** Hand the focus of a button that is gone to what it has revealed. */
    focus() {
      const [first] = this.covered;
      first.tabIndex = -1;
      first.focus({ preventScroll: true });
    }
  }

  const asked = {};
  const all = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-veil]"));
  for (const box of all) (asked[box.dataset.veil] ??= []).push(box);
  for (const [name, boxes] of Object.entries(asked))
    new Veil(boxes, document.querySelectorAll(`.answers-${name}`));

  onArrival((place) => {
    const isVeiled = place?.closest("[hidden='until-found']");
    place?.dispatchEvent(new Event("reveal", { bubbles: true }));
    if (isVeiled) place.scrollIntoView();
  });
})();
