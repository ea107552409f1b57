// Questions to answer before one looks: a choice or a number, compared with what the page computed.
import { numbersIn } from "../../src/chainlab/drills/page/reading.js";

// Half of what the last digit of a number counts: nothing in a whole number or a fraction.
const halfDigit = (text) => {
  const [, places, power] =
    /^[^/*×·÷^()]*?[.,](\d+)(?:e([-+]?\d+))?$/i.exec(text.trim().replace("−", "-")) ?? [];
  return places ? 0.5 * 10 ** (Number(power ?? 0) - places.length) : 0;
};
const digitsOf = (text) => text.split(/e/i)[0].replace(/\D/g, "").replace(/^0+/, "").length;
const ENOUGH = 3; // digits that a reader may round a number to
const TRIES = 2; // the first miss gets a hint, and the second one the answer

/** What is said of a choice: of a formula, which has no name of its own, its TeX. */
function spoken(text) {
  const copy = text.cloneNode(true);
  for (const formula of copy.querySelectorAll(".katex"))
    formula.replaceWith(formula.querySelector("annotation").textContent);
  return copy.textContent.trim();
}

(() => {
  const { page } = kept;

  class Question {
    constructor(box) {
      this.box = box;
      this.name = box.dataset.name;
      this.right = Number(box.dataset.right);
      this.within = Number(box.dataset.within);
      this.list = box.querySelector(":scope > .predict-choices");
      this.answer = box.querySelector(":scope > details");
      this.computed = this.answer.querySelector(":scope > p > strong");
      this.known = [...this.answer.querySelectorAll("dt")].map((term) => ({
        text: term.textContent.trim(),
        says: term.nextElementSibling,
      }));
      this.asked = box.dataset.asked;
      this.build();
      this.restore();
      this.look();
      addEventListener("kept", () => this.look());
    }

    /** Show the answer once a guess is right, or a second one has missed. */
    look() {
      const { asked, right, settled } = kept.read(page).guesses?.[this.name] ?? {};
      this.answer.hidden = asked !== this.asked || !(right || settled);
    }

    build() {
      this.says = make("div", { className: "predict-says", role: "status" });
      this.again = makeButton("Ask me again", () => this.forget(), { hidden: true });
      const check = make("button", { type: "submit" }, "Check");
      this.form = make("form", { noValidate: true }, this.field(), check, this.again, this.says);
      this.form.ariaLabel = `Your prediction: ${this.asked}`;
      this.form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.guess();
      });
      this.answer.before(this.form);
      this.answer.hidden = true;
    }

    field() {
      if (!this.list) {
        // no keypad of decimals: that of a phone has no minus, and no stroke
        const kind = { type: "text", size: 10, autocomplete: "off" };
        this.input = make("input", { ...kind, ariaLabel: "Your prediction, a number" });
        return this.input;
      }
      const items = [...this.list.querySelectorAll("li > p")].map((text, i) => {
        const radio = make("input", { type: "radio", name: `predict-${this.name}`, value: i });
        if (text.querySelector(".katex")) radio.ariaLabel = spoken(text);
        return make("label", {}, radio, make("span", {}, ...text.childNodes));
      });
      this.list.remove();
      const legend = make("legend", { className: "visually-hidden" }, "Your prediction");
      const set = make("fieldset", {}, legend, ...items);
      this.radios = [...set.querySelectorAll("input")];
      return set;
    }

    /** What is chosen or typed; undefined if nothing is. */
    get value() {
      if (!this.radios) return this.input.value.trim() || undefined;
      return this.known[this.radios.findIndex((radio) => radio.checked)]?.text;
    }

    set value(text) {
      if (this.input) this.input.value = text;
      else this.radios.forEach((radio, i) => (radio.checked = this.known[i].text === text));
    }

    /** Whether a number of the list is the right one. */
    isRight(text) {
      const within = Math.max(this.within, halfDigit(text));
      return Math.abs(numbersIn(text)[0] - this.right) <= within + 1e-9 * Math.abs(this.right);
    }

    /** Whether a guess is right, and what there is to say of it. */
    judge(value) {
      if (this.radios) {
        const chosen = this.known.findIndex(({ text }) => text === value);
        return { right: chosen === this.right, says: this.known[chosen]?.says };
      }
      const numbers = numbersIn(value);
      const near = (other, within) =>
        numbers.some((number) => Math.abs(number - other) <= within + 1e-9 * Math.abs(other));
      const typed = halfDigit(value);
      const isExact = digitsOf(value) >= ENOUGH;
      const rounded = near(this.right, typed);
      const right = near(this.right, this.within) || (rounded && isExact);
      const told = this.known.find(({ text }) =>
        near(numbersIn(text)[0], Math.max(halfDigit(text), isExact ? typed : 0)),
      );
      const why = right ? this.known.find(({ text }) => this.isRight(text)) : told;
      if (why) return { right, says: why.says };
      if (right) return { right, says: "" };
      if (rounded) return { right, says: "So far it is right: write another digit." };
      return { right, says: numbers[0] < this.right ? "It is larger." : "It is smaller." };
    }

    guess() {
      const { value } = this;
      if (value === undefined || (this.input && !numbersIn(value).length)) {
        this.says.textContent = this.input
          ? "Write a number, such as 6, −0.5 or 1/3."
          : "Choose one first.";
        (this.input ?? this.radios[0]).focus();
        return;
      }
      const { right } = this.judge(value);
      const lasts = this.keep(value, right);
      this.show(value);
      const unkept = `Not kept by this browser: ${kept.trouble()}.`;
      if (!lasts) this.says.append(" ", make("small", {}, unkept));
    }

    /** Keep a guess, with how many different ones have missed; whether the browser keeps it. */
    keep(value, right) {
      const { asked } = this;
      const last = kept.read(page).guesses?.[this.name];
      const before = last?.asked === asked ? last : {};
      const { misses = 0 } = before;
      const again = before.value === value;
      const missed = right || again ? misses : misses + 1;
      const settled = right || Boolean(before.right || before.settled) || missed >= TRIES;
      return kept.put(page, "guesses", this.name, { asked, value, right, misses: missed, settled });
    }

    /** Show what there is to say of a guess. */
    show(value) {
      const { right, says } = this.judge(value);
      const settled = right || kept.read(page).guesses[this.name].settled;
      const mark = make("b", { className: "predict-mark" }, right ? "✓" : "✗");
      const hint = settled ? "" : says;
      const reason = says instanceof Element ? [...says.cloneNode(true).childNodes] : [hint];
      this.says.replaceChildren(mark, " ", ...this.compared(value, right, settled), ...reason);
      this.paint(value, right, settled);
      this.again.hidden = false;
    }

    /** A guess beside what the page computed, once the question has not to keep that for itself. */
    compared(value, right, settled) {
      if (this.radios && right) return []; // the choice itself says it
      const said = this.radios ? "Not this" : `You said ${value}`;
      if (!settled) return [`${said}. `];
      const computed = [...this.computed.cloneNode(true).childNodes];
      const isSame = value === this.computed.textContent;
      return [isSame ? "It is " : `${said}; it is `, ...computed, ". "];
    }

    /** Tell right from wrong by colour, of the box and of each choice; nothing for no guess. */
    paint(value, right, settled) {
      this.box.classList.toggle("predict-right", Boolean(right));
      this.radios?.forEach(({ parentElement: choice }, i) => {
        choice.classList.toggle("predict-hit", Boolean(settled) && i === this.right);
        choice.classList.toggle("predict-miss", !right && this.known[i].text === value);
      });
    }

    restore() {
      const before = kept.read(page).guesses?.[this.name];
      if (!before) return;
      if (before.asked !== this.asked) {
        this.says.textContent = `The question has changed since you predicted ${before.value}.`;
        return;
      }
      this.value = before.value;
      if (this.value !== undefined) this.show(this.value);
    }

    forget() {
      kept.put(page, "guesses", this.name, undefined);
      this.form.reset();
      this.says.replaceChildren();
      this.paint();
      this.answer.hidden = true;
      this.answer.open = false;
      this.again.hidden = true;
      (this.input ?? this.radios[0]).focus();
    }
  }

  document.querySelectorAll(".predict").forEach((box) => new Question(box));
})();
