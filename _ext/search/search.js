// Search by section: the box finds sections while one types, and a section opened from it shows
// what was found. The index and MiniSearch are loaded when somebody first puts the cursor there.
(() => {
  const root = document.documentElement.dataset.content_root ?? "";
  const COMMON = new Set(
    (
      "a an and are as at by can do does doesn don for from get how i in is it isn my not of on or " +
      "s so t that the then this to what when which why with"
    ).split(" "),
  );
  const SHOWN = 12; // in the box; the page of results shows all
  let engine;

  // A word without its ending, so that decreases, decreased and decreasing are one.
  const stem = (word) =>
    word
      .replace(/(?<=.{3}[^s])s$/, "")
      .replace(/(?<=.{4})i[sz](?:e|ed|ing|ation)$/, "")
      .replace(/(?<=.{4})(?:ing|ed)$/, "")
      .replace(/([b-df-hj-km-rtvwxz])\1$/, "$1")
      .replace(/(?<=.{4})e$/, "");
  const term = (word) => {
    const plain = word.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
    return COMMON.has(plain) ? null : stem(plain);
  };

  // Readers ask in one word for what the pages say in another.
  const ALSO = new Map(
    [
      "derivative gradient slope backprop backpropagation backward differentiate",
      "checkpoint rematerialization",
      "order sort topological",
      "acos arccos",
      "clamp clip",
      "std deviation",
      "epsilon step",
      "batchnorm batch",
      "layernorm layer",
      "dying dead",
      "autodiff autograd",
      "rnn lstm recurrent",
      "oom memory",
      "initialize init initial start",
      "inplace place",
      "lr rate",
    ].flatMap((line) => {
      const ones = line.split(" ").map(stem);
      return ones.map((one) => [one, ones.filter((other) => other !== one)]);
    }),
  );

  const words = (text) => text.match(/[\p{L}\p{N}_]+/gu) ?? [];

  function load(name) {
    return new Promise((resolve, reject) => {
      const onerror = () => reject(new Error(`${name} could not be loaded`));
      const src = `${root}_static/${name}`;
      document.head.append(make("script", { src, onload: resolve, onerror }));
    });
  }

  const EMPTY = { within: "", text: "", code: "", answers: "", asked: "" }; // what the index leaves out

  // Give the search: from a question to sections, the best first.
  function ready() {
    engine ??= Promise.all([load("minisearch.js"), load("search/index.js")]).then(() => {
      const sections = new Map(
        window.courseSections.map((section) => [section.id, { ...EMPTY, ...section }]),
      );
      const index = new MiniSearch({
        fields: ["title", "asked", "within", "page", "text", "code", "answers"],
        tokenize: words,
        processTerm: term,
        searchOptions: {
          boost: { title: 6, asked: 6, within: 3, page: 2, text: 1, code: 0.4, answers: 0.4 },
          prefix: (word) => word.length > 2,
          fuzzy: (word) => (word.length > 5 ? 0.15 : 0),
          weights: { prefix: 0.4, fuzzy: 0.2 },
          boostDocument: (id) => weight(sections.get(id)),
        },
      });
      index.addAll(sections.values());
      return (question) => {
        const asked = [...new Set(words(question).map(term).filter(Boolean))];
        const hits = index.search(question, {
          processTerm: (word) => meant(term(word)),
          boostTerm: (one) => (asked.includes(one) ? 1 : 0.3),
        });
        const covered = coverage(hits, asked, sections.size);
        return hits
          .map((hit) => ({
            ...sections.get(hit.id),
            terms: hit.terms,
            queryTerms: hit.queryTerms,
            rank: hit.score * covered(hit),
          }))
          .sort((one, other) => other.rank - one.rank);
      };
    });
    return engine;
  }

  const meant = (word) => [word, ...(ALSO.get(word) ?? [])];

  // A section that has all that was asked for comes before one that has a part of it often; a word
  // that few sections have counts for more.
  function coverage(hits, asked, sections) {
    const has = ({ queryTerms }, word) => meant(word).some((one) => queryTerms.includes(one));
    const rarity = asked.map((word) => {
      const count = hits.filter((hit) => has(hit, word)).length;
      return count && Math.log(1 + sections / count);
    });
    const sum = (ones) => ones.reduce((total, one) => total + one, 0);
    const all = sum(rarity);
    return (hit) => (sum(rarity.filter((_, i) => has(hit, asked[i]))) / all) ** 2;
  }

  const weight = (section) => (section.isList ? 0.5 : 1) * (section.first ? 1.3 : 1);

  const matcher = (terms) =>
    new RegExp(`(?<![\\p{L}\\p{N}_])(?:${terms.map(escaped).join("|")})[\\p{L}\\p{N}_]*`, "giu");
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  // The words around the first hit in the prose, or the line of code that holds it; never an answer.
  function excerpt(section) {
    const pattern = matcher(section.terms);
    const { text } = section;
    const first = text.search(pattern);
    if (first < 0) {
      const line = section.code.split("\n").find((one) => one.search(pattern) >= 0);
      if (line && section.title.search(pattern) < 0) return { code: line.trim() };
    }
    let start = Math.max(0, Math.min(first, text.length) - 60);
    if (start) start = Math.max(text.lastIndexOf(". ", first) + 2, text.indexOf(" ", start) + 1);
    const rest = text.slice(start, start + 170);
    return { text: rest.length === 170 ? rest.slice(0, rest.lastIndexOf(" ")) : rest };
  }

  function marked(text, pattern) {
    const line = document.createDocumentFragment();
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      line.append(text.slice(end, match.index), make("mark", {}, match[0]));
      end = match.index + match[0].length;
    }
    line.append(text.slice(end));
    return line;
  }

  const element = (name, className, ...inside) => make(name, { className }, ...inside);

  function item(section, question) {
    const pattern = matcher(section.terms);
    const [page, id] = section.id.split("#");
    const title = section.first ? section.page : section.title;
    const link = element("a", "hit", element("span", "hit-title", marked(title, pattern)));
    link.href = `${root}${page}?found=${encodeURIComponent(question)}#${id}`;
    const place = [section.page, section.within].filter(Boolean).join(" › ");
    if (!section.first) link.append(element("span", "hit-page", place));
    const { text, code } = excerpt(section);
    if (code) link.append(element("code", "hit-text", marked(code, pattern)));
    else if (text) link.append(element("span", "hit-text", marked(text, pattern)));
    return element("li", "", link);
  }

  // One search box and its list of results.
  function attach(form) {
    const input = form.querySelector("input");
    const whole = !form.closest("dialog"); // the page of results
    const status = make("p", { className: "search-status", role: "status" });
    const list = element("ul", "hits");
    const box = document.getElementById("search-results");
    const results = whole && box ? box : element("div", "search-box");
    results.append(status, list);
    if (!results.isConnected) form.after(results);

    async function show() {
      const question = input.value.trim();
      if (!question) {
        status.textContent = "";
        list.replaceChildren();
        return;
      }
      let find;
      try {
        find = await ready();
      } catch (error) {
        status.textContent = `The search is not at hand: ${error.message}.`;
        return;
      }
      if (question !== input.value.trim()) return;
      const found = find(question);
      const shown = whole ? found : found.slice(0, SHOWN);
      list.replaceChildren(...shown.map((section) => item(section, question)));
      status.textContent = unmet(found, question) + report(found.length, shown.length, question);
    }

    input.addEventListener("focus", () => ready().catch(() => {}));
    input.addEventListener("input", show);
    form.addEventListener("submit", (event) => {
      if (!whole) return;
      event.preventDefault();
      history.replaceState(null, "", `?q=${encodeURIComponent(input.value.trim())}`);
      show();
    });
    form.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const stops = [input, ...list.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + step];
      event.preventDefault();
      next?.focus();
    });
    if (whole) {
      input.value = new URLSearchParams(location.search).get("q") ?? "";
      show();
    }
  }

  // Of several words, those that no section has.
  function unmet(found, question) {
    const has = (word) =>
      found.some((hit) => hit.queryTerms.some((one) => meant(term(word)).includes(one)));
    const missing = found.length ? words(question).filter((word) => term(word) && !has(word)) : [];
    return missing.length
      ? `No section has ${missing.map((word) => `“${word}”`).join(" or ")}. `
      : "";
  }

  function report(found, shown, question) {
    if (!found)
      return `Nothing in the course matches “${question}”. Try another or a shorter word.`;
    if (found === 1) return "One section";
    return shown < found ? `${shown} of ${found} sections; Enter shows all` : `${found} sections`;
  }

  // A section opened from a search: mark what was asked for, and bring the first hit into view.
  function showHits() {
    const address = new URL(location.href);
    const question = address.searchParams.get("found");
    const article = document.querySelector("article");
    if (!question || !article || !CSS.highlights) return;
    const terms = words(question).map(term).filter(Boolean);
    if (!terms.length) return;
    const place = document.getElementById(decodeURIComponent(address.hash.slice(1)));
    const section = place?.closest("section, dl, article") ?? article;
    const ranges = rangesOf(section, matcher(terms));
    if (!ranges.length) return;
    CSS.highlights.set("found", new Highlight(...ranges));
    const first = ranges.find((range) => range.getClientRects().length);
    const around = first?.startContainer.parentElement;
    around?.dispatchEvent(new Event("reveal", { bubbles: true }));
    if (first && first.getBoundingClientRect().bottom > innerHeight)
      around.scrollIntoView({ block: "center" });
    offerToHide(ranges.length, question);
  }

  function rangesOf(section, pattern) {
    const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT, (node) =>
      node.parentElement.closest("svg, script, style, .katex")
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT,
    );
    const ranges = [];
    while (walker.nextNode()) {
      const text = /** @type {Text} */ (walker.currentNode);
      for (const match of text.data.matchAll(pattern)) {
        const range = new Range();
        range.setStart(walker.currentNode, match.index);
        range.setEnd(walker.currentNode, match.index + match[0].length);
        ranges.push(range);
      }
    }
    return ranges;
  }

  function offerToHide(count, question) {
    const says = `Hide ${count} ${count === 1 ? "match" : "matches"} of “${question}”`;
    const button = makeButton(says, hide, { className: "hide-hits d-print-none" });
    function hide() {
      CSS.highlights.delete("found");
      button.remove();
      removeEventListener("keydown", onEscape);
      const address = new URL(location.href);
      address.searchParams.delete("found");
      history.replaceState(null, "", address);
    }
    const onEscape = (event) => event.key === "Escape" && hide();
    addEventListener("keydown", onEscape);
    document.querySelector("main").append(button);
  }

  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("form.bd-search").forEach(attach);
  });
  addEventListener("load", showHits);
})();
