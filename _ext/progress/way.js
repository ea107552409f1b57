// Where the reader was last: the link that begins the course then leads there.
(() => {
  const told = document.querySelector("meta[name='course-lessons']")?.getAttribute("content");
  if (!told) return;
  const lessons = JSON.parse(told);
  const keep = (lesson) => kept.put("reading", "way", "at", lesson);

  if (Array.isArray(lessons)) {
    const [here, next] = lessons;
    keep(here);
    // Whoever has come to the end goes on with the next.
    const end = document.querySelector(".prev-next-area");
    const seen = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && keep(next));
    if (next && end) seen.observe(end);
    return;
  }
  const link = /** @type {HTMLAnchorElement} */ (document.querySelector(".begin a"));
  const show = () => {
    const [address, title] = lessons[kept.read("reading").way?.at] ?? [];
    if (!title) return;
    link.href = address;
    link.textContent = `Go on: ${title}`;
  };
  addEventListener("pageshow", show); // also when one comes back to it
  show();
})();
