// The engine's lines beside the graph: the line that has run, the nodes it worked on, the gradients.
import { playOnce, Transport } from "../../chainview/transport.js";
import { keepKeys, make, makeButton, startAll } from "../../chainview/ui.js";

startAll(".chaingrad-lines", (root, film) => {
  const find = (selector) => root.querySelector(selector);
  const all = (selector) => [...root.querySelectorAll(selector)];
  const [code, words, held] = [".cg-code", ".cg-words", ".cg-held"].map(find);
  const [boxes, arrows] = [all("[data-node]"), all("[data-to]")];
  const grads = all(".cg-grad");
  const parts = [...new Set(film.map(({ part }) => part))];

  const show = (k) => {
    const { line, part, made, lit, from, says, order, to_do, grads: now } = film[k];
    const there = new Set(boxes.slice(0, made).map(({ dataset }) => dataset.node));
    for (const row of code.children) {
      const isRunning = row.dataset.line === String(line);
      row.classList.toggle("cg-runs", isRunning);
      // Only the code scrolls, and never the page.
      if (isRunning) code.scrollTop = row.offsetTop - code.clientHeight / 2;
    }
    boxes.forEach((box, i) => {
      const name = box.dataset.node;
      box.classList.toggle("cg-none", !there.has(name));
      box.classList.toggle("cg-lit", lit.includes(name));
      box.classList.toggle("cg-from", name === from);
      box.classList.toggle("cg-listed", part === "Sort" && order.includes(name));
      grads[i].textContent = now[i];
    });
    for (const arrow of arrows) {
      const { from: parent, to: child } = arrow.dataset;
      arrow.classList.toggle("cg-none", !there.has(child));
      arrow.classList.toggle("cg-used", child === from && lit.includes(parent));
    }
    words.innerHTML = says;
    held.textContent = "";
    if (part === "Sort" && to_do.length) held.append(`to_do: ${to_do.join(" ")}`, make("br"));
    if (part !== "Record") held.append(`order: ${order.join(" ") || "empty"}`);
    picks.forEach((pick, i) => pick.setAttribute("aria-pressed", String(parts[i] === part)));
    return `${part}. ${words.textContent}`;
  };
  const picks = parts.map((part) =>
    makeButton(part, () => bar.go(film.findIndex((stop) => stop.part === part))),
  );
  const bar = new Transport(film.length, show, { beat: 1600 });
  const group = find(".cg-parts");
  group.append(...picks);
  group.hidden = false;
  root.append(bar.bar);
  playOnce(bar, root, find(".cg-graph"));
  bar.listen(root);
  keepKeys(root);
  bar.put(0);
});
