// Marks at lessons: where a reader has finished one, and where one is begun.
(() => {
  const { page } = kept;
  const questions = /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("[data-veil]")
  );
  const LINKS = ".bd-links a.internal, .course-graph a";
  let isAtEnd = false;

  /** A lesson is finished when its end is reached and all that it asks is answered or skipped. */
  function finish() {
    if (!isAtEnd || kept.read(page).read?.end) return;
    if ([...questions].every(({ dataset }) => kept.isSettled(dataset)))
      kept.put(page, "read", "end", true);
  }

  function state(name) {
    const record = kept.read(name);
    if (record.read?.end) return "finished";
    return Object.keys(record).length ? "begun" : "";
  }

  function show() {
    for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(LINKS))) {
      link.dataset.title ??= link.textContent.trim();
      const found = state(kept.pageOf(link));
      link.dataset.state = found;
      link.setAttribute("aria-label", link.dataset.title + (found && `, ${found}`));
    }
  }

  const end = document.querySelector(".prev-next-area");
  if (end && document.querySelector(".at-a-glance"))
    new IntersectionObserver(([{ isIntersecting }]) => {
      isAtEnd ||= isIntersecting;
      finish();
    }).observe(end);
  addEventListener("kept", () => {
    finish();
    show();
  });
  addEventListener("storage", show); // another tab
  addEventListener("pageshow", show); // also when one comes back to it
  show();
})();
