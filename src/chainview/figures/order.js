import { Message } from "../player/message.js";
import { actAsButton } from "../ui.js";
import { number, startFigures } from "./figure.js";

const TRAVELS = 450; // milliseconds

startFigures("order", ({ data, drawings, boxes, put, toggle, find }) => {
  const nodes = Object.fromEntries(data.map((node) => [node.id, node]));
  const senders = data.filter((node) => node.sends.length).reverse();
  const leaves = data.filter((node) => !node.sends.length);
  const root = data.at(-1);
  const [words] = find("p");
  const start = words.innerHTML;
  const buttons = find("button");
  const message = new Message();
  let clicks = [];

  // What each node holds after the clicks, what it has sent along each edge, and the last share.
  const play = () => {
    const now = {};
    let last;
    for (const { id, sends } of data) {
      now[id] = { holds: +(id === root.id), came: 0, clicks: 0, sent: sends.map(() => []) };
    }
    for (const id of clicks) {
      const [node, from] = [nodes[id], now[id]];
      const turn = from.clicks++ % node.sends.length;
      const { to, local } = node.sends[turn];
      if (from.came < node.waits) from.early ??= from.came;
      now[to].came += !from.sent[turn].length;
      now[to].holds += from.holds * local;
      from.sent[turn].push(from.holds);
      last = { node, turn, local, above: from.holds, to };
    }
    return [now, last];
  };
  // A node passes on again only if it then holds something new.
  const spent = ({ clicks: k, sent, holds }) => sent[k % sent.length].at(-1) === holds;

  const judge = (now) => {
    const faults = senders.flatMap(({ id, html, waits }) => {
      const { early, sent } = now[id];
      const most = Math.max(...sent.map((shares) => shares.length));
      return [
        early >= 0
          ? `<b>${html} was too early</b>: ${early} of its ${waits} shares had come. `
          : "",
        most > 1 ? `${html} passed on ${most} times, and what went first went again. ` : "",
      ];
    });
    let verdict = faults.some(Boolean) ? "Right, by luck" : "Right";
    const ends = leaves.map(({ id, html, right }) => {
      const { holds } = now[id];
      const told = `${html} has ${number(holds)}`;
      if (Math.abs(holds - right) <= 1e-12 + 1e-9 * Math.abs(right)) return told;
      verdict = "Wrong";
      return `${told} instead of ${number(right)}`;
    });
    const more = senders.filter(({ id }) => !spent(now[id])).map(({ html }) => html);
    const hint = more[0] ? `${more.join(", ")} holds more by now, and can pass on again.` : "";
    return `<b>${verdict}</b>: ${ends.join(", ")}. ${faults.join("")}${hint}`;
  };

  // The share of the last click travels in the drawing that is seen, and is added.
  const send = ({ node, turn, local, above, to }, { holds }) => {
    const drawing = drawings.find(({ svg }) => svg.getBoundingClientRect().width);
    if (!drawing) return;
    const [share, known] = [above * local, holds - above * local];
    const sum = known ? `${number(known)} + ${number(share)}`.replace("+ −", "− ") : "";
    const write = (text = `grad ${number(holds)}`) => drawing.put(to, "grad", text);
    const edge = drawing.edge(to, node.id, node.sends[turn].which);
    message.send(edge, TRAVELS, [`grad ${number(known)}`, sum], write);
  };

  const show = (note) => {
    message.settle();
    const [now, last] = play();
    const done = senders.every(({ id, sends }) => now[id].clicks >= sends.length);
    for (const { id, text, sends } of data) {
      const { holds, early, sent } = now[id];
      const on = last?.node.id === id;
      put(id, "grad", holds);
      toggle(id, "cg-on", on);
      toggle(id, "cg-early", done && early >= 0);
      for (const box of sends.length ? boxes(id) : []) {
        box.setAttribute("aria-label", `${text} holds ${number(holds)}: pass it on`);
      }
      sends.forEach(({ to, which, local }, turn) => {
        const [first, ...more] = sent[turn].map((above) => above * local);
        const rest = more.reduce((sum, share) => sum + share, 0);
        for (const drawing of drawings) {
          const arrow = drawing.edge(to, id, which);
          arrow.classList.toggle("cg-sent", sent[turn].length);
          arrow.classList.toggle("cg-on", on && last.turn === turn);
          const texts = [first === undefined ? "" : number(first)];
          texts.push(more.length ? `+ ${number(rest)}`.replace("+ −", "− ") : "");
          drawing.carry([to, id, which], ...texts);
        }
      });
    }
    let step = start;
    if (last) {
      const { node, above, local, to } = last;
      step =
        `<b>${node.html}</b> passes <span class="g">${number(above)}</span> × ` +
        `<span class="l">${number(local)}</span> = ${number(above * local)} to ` +
        `${nodes[to].html}, which now holds <b>${number(now[to].holds)}</b>. `;
    }
    words.innerHTML = note ?? step + (done ? judge(now) : "");
    for (const button of buttons) button.disabled = !last;
  };
  const click = ({ id, html }) => {
    if (spent(play()[0][id])) return show(`${html} has passed on all that it holds.`);
    clicks.push(id);
    show();
    const [now, last] = play();
    send(last, now[last.to]);
  };
  for (const node of senders) {
    for (const box of boxes(node.id)) {
      actAsButton(box, () => click(node));
    }
  }
  buttons[0].addEventListener("click", () => (clicks.pop(), show()));
  buttons[1].addEventListener("click", () => ((clicks = []), show()));
  for (const { svg } of drawings) svg.setAttribute("role", "group"); // a picture has no buttons
  show();
});
