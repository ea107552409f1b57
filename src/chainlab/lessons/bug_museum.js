// Break the engine, predict the wrong number, and say which test would have seen it.
import { keepKeys, make, makeButton, startAll } from "../../chainview/ui.js";

const rich = (name, html, properties = {}) => make(name, { innerHTML: html, ...properties });
const listed = (words) => (words.length ? words.join(", ") : "none");

// A question with several answers, of which one or more are right. What is said of an answer comes
// from `judge`; `done` follows a right one.
class Question {
  constructor(asks, answers, judge, done) {
    this.first = undefined; // whether the first answer was right
    this.says = make("div", { className: "cg-says", role: "status" });
    this.buttons = answers.map((answer) => makeButton(answer.text, () => this.choose(answer)));
    this.answers = answers;
    this.judge = judge;
    this.done = done;
    const legend = rich("legend", asks);
    const bar = make("div", { className: "cg-bar" }, ...this.buttons);
    this.element = make("fieldset", {}, legend, bar, this.says);
  }

  choose(answer) {
    const button = this.buttons[this.answers.indexOf(answer)];
    this.first ??= answer.right;
    for (const other of this.buttons) other.classList.toggle("cg-on", other === button);
    if (!button.dataset.mark) {
      button.dataset.mark = answer.right ? "✓" : "✗";
      button.append(` ${button.dataset.mark}`);
    }
    this.says.innerHTML = this.judge(answer);
    if (answer.right && !this.isDone) {
      this.isDone = true;
      this.done();
    }
  }
}

class Game {
  constructor(root, { tests, changes }) {
    this.tests = tests;
    this.changes = changes;
    this.rounds = new Map();
    this.words = make("p", { className: "cg-words", role: "status" });
    this.picks = changes.map((change, i) =>
      makeButton(`${i + 1}. ${change.name}`, () => this.pick(change), { ariaPressed: "false" }),
    );
    const bar = make("div", { className: "cg-picks", role: "group" }, ...this.picks);
    bar.ariaLabel = "Changes";
    this.stage = make("div", { className: "cg-stage" });
    const live = root.querySelector(".cg-live");
    live.append(this.words, bar, this.stage);
    live.hidden = false;
    keepKeys(live);
    this.pick(changes[0]);
    this.count();
  }

  pick(change) {
    const chosen = this.picks[this.changes.indexOf(change)];
    for (const button of this.picks) button.ariaPressed = String(button === chosen);
    if (!this.rounds.has(change)) this.rounds.set(change, this.play(change));
    this.stage.replaceChildren(...this.rounds.get(change).parts);
  }

  // The parts of a round. Those of its end are hidden until then.
  play(change) {
    const { method, old, asks, guesses, seen } = change;
    const line = (sign, said, text) =>
      make(
        "span",
        { className: "cg-line" },
        make("span", { ariaHidden: "true" }, sign),
        make("span", { className: "cg-said" }, said),
        make("span", {}, text),
      );
    const code = make(
      "pre",
      {},
      line("  ", "", `in ${method}`),
      line("− ", "Instead of: ", old),
      line("+ ", "Now: ", change.new),
    );
    const number = new Question(
      asks,
      guesses,
      ({ text, says, right }) =>
        right ? `<b>Yes, ${text}.</b> ${says}` : `<b>Not ${text}.</b> ${says}`,
      () => (test.element.hidden = false),
    );
    const options = this.tests.map((each, i) => ({ ...each, text: each.name, right: seen[i] }));
    const test = new Question(
      "Which of these tests would have seen it?",
      options,
      ({ text, does, right }) =>
        right
          ? `<b>Yes.</b> “${text}” fails with this engine.`
          : `<b>It passes</b>, so “${text}” would have seen nothing. What it does: ${does}`,
      () => {
        end.hidden = false;
        this.count();
      },
    );
    test.element.hidden = true;
    const names = (sees) => this.tests.filter((_, i) => seen[i] === sees).map(({ name }) => name);
    const end = make(
      "div",
      { className: "cg-end", hidden: true },
      rich("p", `<b>${change.kind}.</b> ${change.why} ${change.met}`),
      rich("p", `Tests that see it: ${listed(names(true))}. Blind: ${listed(names(false))}.`),
      makeButton("Next change", () => this.next(change)),
    );
    return { parts: [code, number.element, test.element, end], number, test };
  }

  next(change) {
    const { changes, rounds } = this;
    const at = changes.indexOf(change);
    const order = [...changes.slice(at + 1), ...changes.slice(0, at + 1)];
    const following = order.find((each) => !rounds.get(each)?.test.isDone) ?? order[0];
    this.pick(following);
    this.picks[changes.indexOf(following)].focus();
  }

  count() {
    const done = [...this.rounds.values()].filter(({ test }) => test.isDone);
    const firsts = (part) => done.filter((round) => round[part].first).length;
    this.changes.forEach((change, i) => {
      this.picks[i].classList.toggle("cg-done", Boolean(this.rounds.get(change)?.test.isDone));
    });
    this.words.textContent = done.length
      ? `${done.length} of ${this.changes.length} played. Your first guess was right for ` +
        `${firsts("number")} of the numbers and ${firsts("test")} of the tests.`
      : "Pick a change of one line, and answer two questions about it.";
  }
}

startAll(".chaingrad-museum", (root, data) => {
  if (data) new Game(root, data);
});
