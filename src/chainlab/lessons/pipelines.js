// A pipeline's schedule as a timeline, for the devices and microbatches that the reader chooses.
import { keepKeys, make, startAll } from "../../chainview/ui.js";

// What each device does, when: see `pipeline` in pipelines.py, which a test holds this to.
const pipeline = (p, m, rule, room, length) => {
  const pieces = [];
  const done = new Map();
  const free = Array(p).fill(0);
  const frees = rule.includes("W") ? "W" : "B";
  const count = free.map(() => ({ F: 0, B: 0, W: 0 }));
  for (let turn = 0; pieces.length < p * m * rule.length; turn += 1) {
    const came = (kind, i, s) => (done.get(`${kind} ${i} ${s}`) ?? Infinity) <= turn;
    count.forEach((n, s) => {
      const may = {
        F: n.F < Math.min(m, n[frees] + room[s]) && (s === 0 || came("F", n.F, s - 1)),
        B: came("F", n.B, s) && (s === p - 1 || came("B", n.B, s + 1)),
        W: came("B", n.W, s),
      };
      const kind = [...rule].find((one) => may[one] && free[s] <= turn);
      if (!kind) return;
      pieces.push({ device: s, kind, i: n[kind], begin: turn });
      free[s] = turn + length[kind];
      done.set(`${kind} ${n[kind]} ${s}`, free[s]);
      n[kind] += 1;
    });
  }
  return { pieces, turns: Math.max(...free), frees };
};

const roomOf = (rule, p, m) =>
  Array.from({ length: p }, (_, s) => ({ FB: m, BF: p - s, BFW: p + 1 })[rule]);

startAll(".chaingrad-pipeline:has(.cg-controls)", (root, { schedules }) => {
  const bar = root.querySelector(".cg-controls");
  const picks = [...bar.querySelectorAll("button")];
  const [microbatches, devices] = bar.querySelectorAll("input");
  let chosen = 0;

  const show = () => {
    const [rule, length] = schedules[chosen];
    const [m, p] = [microbatches, devices].map((slider) => {
      slider.parentElement.querySelector("b").textContent = slider.value;
      return Number(slider.value);
    });
    const { pieces, turns, frees } = pipeline(p, m, rule, roomOf(rule, p, m), length);
    const mosts = [];
    const percent = (part) => `${((100 * part) / turns).toFixed(3)}%`;
    const rows = Array.from({ length: p }, (_, s) => {
      let now = 0;
      let most = 0;
      const boxes = pieces
        .filter(({ device }) => device === s)
        .map(({ kind, i, begin }) => {
          now += kind === "F" ? 1 : 0;
          most = Math.max(most, now);
          now -= kind === frees ? 1 : 0;
          const box = make("i", { className: `cg-${kind}` }, String(i + 1));
          box.style.left = percent(begin);
          box.style.width = percent(length[kind]);
          return box;
        });
      mosts.push(most);
      return make(
        "div",
        { className: "cg-row" },
        make("span", {}, make("span", {}, "device"), ` ${s + 1}`),
        make("div", { className: "cg-line" }, ...boxes),
        make("span", { className: "cg-held" }, make("span", {}, "holds"), ` ${most}`),
      );
    });
    root.querySelector(".cg-rows").replaceChildren(...rows);
    for (const key of root.querySelectorAll(".cg-key span:has(i[class])"))
      key.hidden = !(key.firstElementChild.className.slice(3) in length);
    const work = [...rule].reduce((sum, kind) => sum + m * length[kind], 0);
    const idle = Math.round(100 * (1 - work / turns));
    const bold = (text) => make("b", {}, String(text));
    root
      .querySelector(".cg-words")
      .replaceChildren(
        "Done after ",
        bold(turns),
        " turns; each device is idle ",
        bold(`${idle} %`),
        " of the time, and one holds up to ",
        bold(Math.max(...mosts)),
        " of the microbatches.",
      );
  };
  picks.forEach((pick, i) =>
    pick.addEventListener("click", () => {
      chosen = i;
      picks.forEach((other) => other.setAttribute("aria-pressed", String(other === pick)));
      show();
    }),
  );
  for (const slider of [microbatches, devices]) slider.addEventListener("input", show);
  bar.hidden = false;
  keepKeys(root);
});
