// What a reader wrote on the pages, kept in this browser, page by page. It is sent nowhere.
window.kept = (() => {
  const PREFIX = "backpropagation-course/";
  const EVERYWHERE = "reading"; // what is kept for all pages
  const here = /** @type {HTMLMetaElement} */ (document.querySelector("meta[name='course-page']"))
    ?.content;
  const inMemory = new Map(); // of pages for which the browser keeps nothing
  let trouble = "";

  function read(page) {
    if (inMemory.has(page)) return structuredClone(inMemory.get(page));
    try {
      return JSON.parse(localStorage.getItem(PREFIX + page)) ?? {};
    } catch {
      return {};
    }
  }

  function write(page, record) {
    try {
      if (Object.keys(record).length) localStorage.setItem(PREFIX + page, JSON.stringify(record));
      else localStorage.removeItem(PREFIX + page);
      inMemory.delete(page);
      trouble = "";
    } catch (error) {
      inMemory.set(page, record);
      trouble =
        error.name === "QuotaExceededError" ? "its storage is full" : "it allows no storage";
    }
    dispatchEvent(new CustomEvent("kept", { detail: page }));
    return !trouble;
  }

  function stored() {
    try {
      return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
    } catch {
      return []; // it allows no storage
    }
  }

  const RAN = `${PREFIX}ran`;

  /** The element with the code of a cell or an answer; a cell's output may stand above its code. */
  const codeOf = (box) => (box.querySelector(".cell_input") ?? box).querySelector(".highlight pre");

  return {
    /** Note that something has run in this tab, which is kept for as long as the tab. */
    ran() {
      try {
        sessionStorage.setItem(RAN, "yes");
      } catch {} // it allows no storage
    },
    /** Do something when the browser is idle, if something has run in this tab before. */
    again(act) {
      try {
        // With a limit: in a window that draws no frames nothing is ever idle.
        const idle = window.requestIdleCallback ?? ((later) => setTimeout(later));
        if (sessionStorage.getItem(RAN)) idle(act, { timeout: 2000 });
      } catch {} // it allows no storage
    },
    /** The name that this page's work is kept under. */
    page: here,
    codeOf,
    /** The name of the page that a link leads to. */
    pageOf(link) {
      const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
      const { pathname } = new URL(link.getAttribute("href"), location.href);
      return decodeURIComponent(pathname.slice(root.pathname.length).replace(/\.html$/, ""));
    },
    /** The code of the page's cells, as the book has it. */
    sourcesHere: () =>
      [...document.querySelectorAll("div.cell:has(.cell_input)")].map(
        (cell) => codeOf(cell).textContent,
      ),
    /** What cells are kept as: their code in the book, and which one of those with the same code. */
    keys(sources) {
      const seen = new Map();
      return sources.map((text) => {
        const source = text.trimEnd();
        const before = seen.get(source) ?? 0;
        seen.set(source, before + 1);
        return `cell ${before} ${source}`;
      });
    },
    /** {kind: {key: what is kept}} of a page, or of "reading", on all; kinds are code, guesses, … */
    read,
    /** Whether a question of this page is answered, has been missed twice, or is skipped. */
    isSettled({ name, asked }) {
      if (read(EVERYWHERE).veil?.off) return true;
      const { guesses = {}, skipped = {} } = read(here);
      const { right, settled, asked: before } = guesses[name] ?? {};
      return (before === asked && (right || settled)) || skipped[name] === asked;
    },
    /** Keep something under a key, or nothing: false if that lasts no longer than the page. */
    put(page, kind, key, value) {
      const record = read(page);
      record[kind] = { ...record[kind], [key]: value };
      if (value === undefined) delete record[kind][key];
      if (!Object.keys(record[kind]).length) delete record[kind];
      return write(page, record);
    },
    /** Replace all that is kept of a page; returns what was. */
    replace(page, record) {
      const before = read(page);
      write(page, record);
      return before;
    },
    /** All that is kept, {page: record}. */
    all() {
      const pages = [...stored().map((name) => name.slice(PREFIX.length)), ...inMemory.keys()];
      return Object.fromEntries(pages.map((page) => [page, read(page)]));
    },
    /** Give the reader a file. */
    download(name, type, text) {
      const link = make("a", {
        href: URL.createObjectURL(new Blob([text], { type })),
        download: name,
      });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    },
    /** Why nothing can be kept, or "". */
    trouble: () => trouble,
  };
})();
