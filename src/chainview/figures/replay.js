import { keepKeys, startAll } from "../ui.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SECONDS = 8; // that it plays for

startAll('.chaingrad-lookup[data-kind="replay"]', (root, data) => {
  const { words, x, bottom, fine, curves, marks, numbers } = data;
  const find = (selector) => root.querySelector(selector);
  const [slider, play, said] = ["input", "button", ".cg-words"].map(find);
  const cells = [...root.querySelectorAll("th ~ td")];
  const paths = curves.map((_, i) => find(`.cg-curve-${i}`));
  const last = words.length - 1;
  const box = paths[0].ownerSVGElement.viewBox.baseVal;
  const base = bottom + box.height;
  let timer; // while it plays
  let isTouched = false;

  const top = (letters, at) =>
    base - fine * (64 * LETTERS.indexOf(letters[at]) + LETTERS.indexOf(letters[at + 1]));
  const show = (k) => {
    slider.value = k;
    slider.setAttribute("aria-valuetext", words[k]);
    said.textContent = words[k];
    find("[role=img]").setAttribute("aria-label", words[k]);
    curves.forEach((letters, i) => {
      const points = x.map(
        (left, p) => `${left} ${top(letters, 2 * (k * x.length + p)).toFixed(1)}`,
      );
      paths[i].setAttribute("d", `M${points.join("L")}`);
    });
    const [left, height] = marks[k];
    find(".cg-mark").setAttribute("transform", `translate(${left})`);
    find(".cg-mark circle").setAttribute("cy", height);
    cells.forEach((cell, i) => {
      cell.textContent = (numbers[k][i] / 100).toFixed(2).replace("-", "−");
    });
  };
  const stop = () => {
    cancelAnimationFrame(timer);
    timer = undefined;
    play.textContent = "Play";
  };
  const start = () => {
    const from = +slider.value < last ? +slider.value : 0;
    let began;
    const move = (now) => {
      began ??= now;
      const k = Math.min(last, from + Math.floor(((now - began) / 1000 / SECONDS) * last));
      show(k);
      if (k < last) timer = requestAnimationFrame(move);
      else stop();
    };
    play.textContent = "Pause";
    timer = requestAnimationFrame(move);
  };
  play.addEventListener("click", () => {
    isTouched = true;
    if (timer) stop();
    else start();
  });
  slider.addEventListener("input", () => {
    isTouched = true;
    stop();
    show(+slider.value);
  });
  // Paper shows where the run came to, unless the reader has chosen a step.
  addEventListener("beforeprint", () => isTouched || show(last));
  addEventListener("afterprint", () => isTouched || show(0));
  keepKeys(root);
  find(".cg-controls").hidden = false;
  show(0);
});
