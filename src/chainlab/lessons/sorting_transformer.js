// A film of training: at each stop the net as it was there sorts what the reader types.
import { dragAlong, playOnce, Transport } from "../../chainview/transport.js";
import { keepKeys, make, makeButton, startAll } from "../../chainview/ui.js";

const SECONDS = 8; // that the film lasts

// The net, as on the page; matrices are lists of rows.
const dense = (W, b, x) => W.map((row, i) => row.reduce((sum, w, j) => sum + w * x[j], b[i]));
const plus = (x, y) => x.map((value, i) => value + y[i]);
const mean = (x) => x.reduce((sum, value) => sum + value, 0) / x.length;
const norm = (gain, shift, x) => {
  const [mu, squares] = [mean(x), mean(x.map((value) => value * value))];
  const sigma = Math.sqrt(squares - mu * mu + 1e-5);
  return x.map((value, i) => (gain[i] * (value - mu)) / sigma + shift[i]);
};
const softmax = (scores) => {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
};
const times = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);

class Net {
  constructor([text, scales], shapes, heads) {
    const bytes = Int8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    let from = 0;
    const take = (count, scale) =>
      [...bytes.subarray(from, (from += count))].map((byte) => byte * scale);
    this.heads = heads;
    this.held = Object.fromEntries(
      shapes.map(([name, rows, columns], i) => [
        name,
        columns
          ? Array.from({ length: rows }, () => take(columns, scales[i]))
          : take(rows, scales[i]),
      ]),
    );
  }

  dense(name, x) {
    return dense(this.held[`${name}.W`], this.held[`${name}.b`], x);
  }

  norm(name, x) {
    return norm(this.held[`${name}.gain`], this.held[`${name}.shift`], x);
  }

  attention(name, rows, maps) {
    const parts = rows.map((x) => this.dense(`${name}.qkv`, x));
    const width = rows[0].length;
    const size = width / this.heads;
    const mixed = rows.map(() => []);
    for (let head = 0; head < this.heads; head++) {
      const cut = (part, which) =>
        part.slice(which * width + head * size, which * width + (head + 1) * size);
      const map = parts.map((part, i) =>
        softmax(
          parts
            .slice(0, i + 1)
            .map((other) => times(cut(part, 0), cut(other, 1)) / Math.sqrt(size)),
        ),
      );
      map.forEach((row, i) => {
        const sum = Array.from({ length: size }, () => 0);
        row.forEach((part, j) => cut(parts[j], 2).forEach((v, c) => (sum[c] += part * v)));
        mixed[i].push(...sum);
      });
      maps.push(map);
    }
    return mixed.map((x) => this.dense(`${name}.out`, x));
  }

  // The scores of the next digit, and the maps of all heads.
  run(line) {
    const { digit, place } = this.held;
    const maps = [];
    let rows = line.map((d, i) => plus(digit[d], place[i]));
    for (const block of ["blocks.0", "blocks.1"]) {
      const normed = rows.map((x) => this.norm(`${block}.norms.0`, x));
      const looked = this.attention(`${block}.attention`, normed, maps);
      rows = rows
        .map((x, i) => plus(x, looked[i]))
        .map((x) => {
          const h = this.dense(`${block}.up`, this.norm(`${block}.norms.1`, x));
          return plus(
            x,
            this.dense(
              `${block}.down`,
              h.map((a) => Math.max(a, 0)),
            ),
          );
        });
    }
    return { scores: this.dense("head", this.norm("norm", rows.at(-1))), maps };
  }

  // What it answers, digit by digit, reading its own answers; and its maps at the last of them.
  sort(digits) {
    const line = [...digits];
    let maps;
    for (let i = 0; i < digits.length; i++) {
      const found = this.run(line);
      maps = found.maps;
      line.push(found.scores.indexOf(Math.max(...found.scores)));
    }
    return { said: line.slice(digits.length), maps };
  }
}

startAll(".chaingrad-sorter:has(.cg-live)", (root, data) => {
  if (!data.packs) return; // a picture while it trains
  const { packs, shapes, heads, every, losses, right, tops, ends } = data;
  const find = (selector) => root.querySelector(selector);
  const all = (selector) => [...root.querySelectorAll(selector)];
  const nets = packs.map(() => null); // unpacked when they are needed
  const cells = all(".cg-cell");
  const [columns, outs] = [all(".cg-digit"), all(".cg-said")];
  let digits = [...data.typed].map(Number);
  let map = data.shown[0] * heads + data.shown[1];
  let isBySize = false; // whether the columns are arranged

  const show = (k) => {
    nets[k] ??= new Net(packs[k], shapes, heads);
    const { said, maps } = nets[k].sort(digits);
    const ordered = [...digits].sort();
    const isRight = said.every((digit, i) => digit === ordered[i]);
    const places = [...digits.keys()];
    if (isBySize) places.sort((a, b) => digits[a] - digits[b]);
    const typed = places.map((place) => digits[place]);
    [...typed, ...said.slice(0, -1)].forEach((d, j) => (columns[j].textContent = String(d)));
    let at = 0;
    said.forEach((digit, i) => {
      outs[i].textContent = String(digit);
      outs[i].classList.toggle("cg-wrong", digit !== ordered[i]);
      const row = maps[map][5 + i];
      [...places.map((place) => row[place]), ...row.slice(6)].forEach((part, j) => {
        const cell = cells[at++];
        cell.classList.toggle("cg-there", j < 6 && typed[j] === ordered[i]);
        cell.lastElementChild.setAttribute("fill-opacity", part.toFixed(2));
      });
    });
    const x = ends[0] + ((ends[1] - ends[0]) * k) / (packs.length - 1);
    find(".cg-mark").setAttribute("transform", `translate(${x.toFixed(1)})`);
    find(".cg-mark circle").setAttribute("cy", tops[k]);
    const missing = digits.length - field.value.length; // of what is being typed
    result.textContent = missing ? "" : said.join("");
    result.classList.toggle("cg-wrong", !isRight);
    verdict.textContent = isRight ? "✓" : `✗, it should be ${ordered.join("")}`;
    if (missing) verdict.textContent = `${missing} more`;
    const words = `loss ${losses[k].toPrecision(2)}, sorts ${right[k]} of 100 new sequences`;
    find(".cg-words").textContent = `After ${k * every} steps: ${words}.`;
    find(".cg-map").setAttribute(
      "aria-label",
      `${digits.join("")} becomes ${said.join("")}, ${isRight ? "right" : "wrong"}. ` +
        said.map((d, i) => `${d}: looks most at ${most(maps[map][5 + i], said)}`).join("; "),
    );
    return words;
  };
  const most = (row, said) => {
    const at = row.indexOf(Math.max(...row));
    return `the ${at < 6 ? digits[at] : said[at - 6]} ${at < 6 ? "typed" : "answered"} (${Math.round(100 * row[at])} %)`;
  };

  const field = make("input", {
    type: "text",
    inputMode: "numeric",
    maxLength: 6,
    size: 6,
    value: data.typed,
    autocomplete: "off",
    spellcheck: false,
    "aria-label": "Six digits to sort",
  });
  const result = make("output", { className: "cg-result" });
  const verdict = make("span", { className: "cg-verdict" });
  const take = (text) => {
    field.value = text.replace(/\D/g, "").slice(0, 6);
    if (field.value.length === 6) digits = [...field.value].map(Number);
    show(bar.at);
  };
  field.addEventListener("input", () => take(field.value));
  const draw = () => take(Array.from({ length: 6 }, () => Math.floor(10 * Math.random())).join(""));
  find(".cg-ask").append(
    make("label", {}, "Your digits ", field),
    makeButton("Other digits", draw),
    make("span", { className: "cg-sorted" }, "the net says ", result, " ", verdict),
  );
  find(".cg-ask").hidden = false;

  const picks = Array.from({ length: 2 * heads }, (_, i) =>
    makeButton(
      `layer ${1 + Math.floor(i / heads)}, head ${1 + (i % heads)}`,
      () => {
        map = i;
        picks.forEach((pick, j) => pick.setAttribute("aria-pressed", String(i === j)));
        show(bar.at);
      },
      { "aria-pressed": String(i === map) },
    ),
  );
  const arrange = makeButton(
    "By size",
    () => {
      isBySize = !isBySize;
      arrange.setAttribute("aria-pressed", String(isBySize));
      find(".cg-head").textContent = isBySize ? "what you typed, by size" : "what you typed";
      show(bar.at);
    },
    { "aria-pressed": "false" },
  );
  const bar = new Transport(packs.length, show, {
    beat: (1000 * SECONDS) / packs.length,
    first: 0,
    every,
  });
  const group = { role: "group", ariaLabel: "Whose map", className: "cg-bar cg-picks" };
  find(".cg-live").append(bar.bar, make("div", group, ...picks, arrange));
  dragAlong(bar, find(".cg-loss"), ends[0], ends[1]);
  playOnce(bar, root, find(".cg-map"));
  bar.listen(root);
  keepKeys(root);
  bar.put(0);
});
