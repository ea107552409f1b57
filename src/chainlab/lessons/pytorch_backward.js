// Calls of backward, function by function, as PyTorch made them; and the call that fails.
import { playOnce, Transport } from "../../chainview/transport.js";
import { keepKeys, startAll } from "../../chainview/ui.js";

startAll(".chaingrad-functions", (root, data) => {
  const [retain, again, words] = ["input", "button", ".cg-words"].map((selector) =>
    root.querySelector(selector),
  );
  const [boxes, edges] = ["[data-at]", "[data-edge]"].map((selector) => [
    ...root.querySelectorAll(selector),
  ]);
  let calls = data.off;
  let called = 1; // how many calls the reader has made

  const frame = (k) => calls.slice(0, called).flat()[k];
  const show = (k) => {
    const { at, sent, boxes: texts, stops, words: says } = frame(k);
    for (const box of boxes) {
      const [keeps, got] = texts[box.dataset.at];
      box.querySelector(".cg-keeps").textContent = keeps;
      box.querySelector(".cg-got").textContent = got;
      box.classList.toggle("cg-now", box.dataset.at === at);
      box.classList.toggle("cg-stops", stops && box.dataset.at === at);
      box.classList.toggle("cg-freed", keeps === "freed");
    }
    for (const edge of edges) {
      const [from, to] = edge.dataset.edge.split("-");
      edge.classList.toggle("cg-sent", from === at && sent.includes(to));
    }
    words.innerHTML = says;
    words.classList.toggle("cg-stopped", stops);
    again.disabled = called === calls.length;
    return words.textContent;
  };
  const transport = new Transport(calls[0].length, show, { beat: 2200, first: 0 });
  // Let the bar lead through the calls that were made, and stand at the beginning of one.
  const extend = (count) => {
    called = count;
    transport.last = calls.slice(0, count).flat().length - 1;
    transport.slider.max = String(transport.last);
    transport.at = -1;
    transport.go(calls.slice(0, count - 1).flat().length);
  };
  again.addEventListener("click", () => {
    extend(called + 1);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) transport.go(transport.last);
    else transport.play();
  });
  retain.addEventListener("change", () => {
    calls = retain.checked ? data.on : data.off;
    extend(1);
  });
  root.querySelector(".cg-live").append(transport.bar);
  root.querySelector(".cg-controls").hidden = false;
  transport.put(0);
  transport.listen(root);
  playOnce(transport, root, root.querySelector(".cg-words"));
  keepKeys(root);
});
