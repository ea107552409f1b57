import { make, makeButton, reveal, startAll } from "../../../chainview/ui.js";
import { Overview } from "./overview.js";
import { pick } from "./problem.js";
import { IN_A_ROW, after, begun, due } from "./progress.js";
import { QUESTIONS, firstStop, nextStop } from "./start.js";
import { Task } from "./task.js";

// The page of problems: which one is shown, by its address; what is kept of the reader's way.
class Practice {
  constructor(root, { kinds, levels, problems, aFile, address, mistakes, page, path }) {
    this.root = root;
    this.kinds = kinds;
    this.levels = levels;
    this.problems = problems;
    this.aFile = aFile;
    this.address = address;
    this.mistakes = mistakes;
    this.page = page;
    this.path = path;
    this.place = root.querySelector(".cg-live");
    this.site = document.documentElement.dataset.content_root ?? "./";
    this.files = {};
    const called = kinds.map(({ name, title }) => [name, title]);
    this.kind = this.select("Practise", called);
    const each = Array.from({ length: levels }, (_, i) => [i + 1, i + 1]);
    this.level = this.select("Level", each);
    this.count = make("span", { class: "cg-count" });
    this.large = makeButton("Large", () => this.enlarge());
    this.on = makeButton("Next", () => this.next());
    this.one = makeButton("Fill the next box", () => this.task.sheet.fillOne(), {
      class: "cg-one",
    });
    this.head = make("div", { class: "cg-choose" });
    this.head.append(this.kind.parentNode, this.level.parentNode, this.count);
    this.body = make("div");
    const start = () => this.ask([]);
    this.overview = new Overview({ kinds, levels, read: (name) => this.read(name), start });
    this.overview.element.open = !location.hash;
    this.place.replaceChildren(this.head, this.body, this.overview.element);
    addEventListener("storage", () => this.tell()); // another tab of this page
    addEventListener("pagehide", () => this.keep());
    this.kind.addEventListener("change", () => this.choose(this.kind.value));
    this.level.addEventListener("change", () => this.start(+this.level.value));
    addEventListener("hashchange", () => this.follow());
    this.goal = location.hash ? this.head : undefined; // what is brought into view next
    document.addEventListener("fullscreenchange", () => this.fit());
    if (!this.follow()) this.choose(window.kept.read(page).drills?.last?.kind ?? kinds[0].name);
  }

  select(label, options) {
    const inside = options.map(([value, says]) => make("option", { value }, says));
    return make("label", {}, `${label} `, make("select", {}, ...inside)).lastChild;
  }

  // What is kept of a kind.
  read(name = this.name) {
    return begun(window.kept.read(this.page).drills?.[name]);
  }

  // Keep what is half answered until the page is read again.
  keep() {
    if (!this.task) return;
    const { problem, solved, sheet } = this.task;
    const draft = solved ? undefined : sheet.draft;
    const kept = draft?.some((part) => part.length) ? { name: problem.name, draft } : undefined;
    if (kept || this.drafted) window.kept.put(this.page, "drills", "draft", kept);
  }

  get drafted() {
    return window.kept.read(this.page).drills?.draft;
  }

  // Start a kind, or go on where the reader was in it.
  choose(name) {
    const back = due(this.read(name), true);
    if (back) return this.go(name, back.level, back.seed);
    this.start(this.read(name).level, name);
  }

  // Go on in the series of a level.
  start(level, name = this.name) {
    this.go(name, level, (this.read(name).seeds[level] ?? 0) + 1);
  }

  go(name, level, seed) {
    const hash = `#${name}-${level}-${seed}`;
    if (location.hash === hash) this.follow();
    else location.hash = hash;
  }

  // Show the problem of the address, if it is one's.
  follow() {
    const [, name, ...numbers] = /^#([a-z]+)-(\d)-(\d{1,9})$/.exec(location.hash) ?? [];
    const [level, seed] = numbers.map(Number);
    const kind = this.kinds.find((one) => one.name === name);
    if (!kind || !(level >= 1 && level <= this.levels) || !(seed >= 1)) return false;
    this.open(kind, level, seed);
    return true;
  }

  async open(kind, level, seed) {
    const turn = (this.turn = `${kind.name}-${level}-${seed}`);
    const number = ((seed - 1) % this.problems) + 1; // after the last the series begins anew
    const file = `${kind.name}-${level}-${Math.floor((number - 1) / this.aFile)}`;
    let graphs;
    try {
      graphs = await (this.files[file] ??= this.fetch(file));
    } catch {
      delete this.files[file];
      this.body.replaceChildren(
        make("p", { class: "cg-asks" }, "The problems could not be loaded."),
      );
      const again = makeButton("Try again", () => this.open(kind, level, seed));
      return this.body.append(again);
    }
    if (turn !== this.turn) return; // another was chosen meanwhile
    if (this.asked?.name !== turn) this.asked = undefined;
    const place = { level, seed, name: turn, graphs: graphs.length };
    const problem = { ...pick(graphs, number), ...place };
    this.name = kind.name;
    this.kind.value = kind.name;
    this.level.value = level;
    const moved = this.body.contains(document.activeElement) || this.overview.left;
    this.judged = false;
    const back = this.read().again.some((one) => one.level === level && one.seed === seed);
    if (!back || !this.series || this.series.name !== kind.name) {
      this.series = { name: kind.name, level, seed };
    }
    this.task = new Task(problem, {
      sheet: kind.sheet,
      asks: kind.asks[level - 1],
      pictures: problem.pictures,
      mistakes: this.mistakes,
      lesson: kind.lesson,
      root: this.site,
      outcome: (what) => this.note(problem, kind, what),
    });
    this.task.bar.append(this.on, this.one, this.large);
    this.body.replaceChildren(this.task.element);
    if (this.drafted?.name === turn) this.task.sheet.draft = this.drafted.draft;
    this.task.sheet.fit();
    if (moved) this.task.sheet.focus();
    this.overview.left = false;
    this.seed = seed;
    this.tell();
    if (this.goal) reveal(this.body, this.goal);
    this.goal = this.head;
  }

  async fetch(file) {
    const answer = await fetch(this.site + this.address.replace("{}", file));
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.json();
  }

  // Keep what came of a problem: its first outcome counts.
  note(problem, kind, what) {
    const outcome = ["right", "part"].includes(what) ? what : "wrong";
    let words = what === "part" ? "One part went wrong, so the row stays as it is." : "";
    if (!this.judged && this.asked) {
      this.judged = true;
      this.asked.right = outcome === "right";
    } else if (!this.judged) {
      this.judged = true;
      const [next, passes] = after(this.read(), problem, outcome, this.levels);
      window.kept.put(this.page, "drills", kind.name, next);
      window.kept.put(this.page, "drills", "last", { kind: kind.name });
      if (passes) words = `<b>Level ${problem.level} is passed.</b>`;
    }
    this.tell();
    if (what !== "wrong") this.on.focus();
    return words;
  }

  // Ask the next question of where to start, after those that were answered; or say where.
  ask(answers) {
    const { path } = this;
    const stop = nextStop(answers, path.length);
    if (stop === undefined) return this.advise(firstStop(answers, path.length));
    const [kind, level] = path[stop];
    const seed = 150 + answers.length; // far from where a series begins
    this.overview.leave();
    this.asked = { answers, stop, name: `${kind}-${level}-${seed}`, right: false };
    this.go(kind, level, seed);
  }

  advise(stop) {
    this.asked = undefined;
    window.kept.put(this.page, "drills", "start", { stop });
    this.overview.element.open = true;
    const [kind, level] = this.path[stop];
    this.goal = this.overview.element;
    this.start(level, kind);
    this.overview.sum.focus();
  }

  // Where to start, if that was found out.
  get advice() {
    const { stop } = window.kept.read(this.page).drills?.start ?? {};
    if (!this.path[stop]) return [];
    const [name, level, page, title] = this.path[stop];
    const kind = this.kinds.find((one) => one.name === name);
    const read = make("a", { href: `${this.site}chapters/${page}.html` }, title);
    const practise = make("a", { href: `#${name}-${level}-1` }, `${kind.title}, level ${level}`);
    return [" Begin with ", read, ", and practise ", practise, "."];
  }

  tell() {
    if (!this.name) return;
    this.overview.show();
    this.overview.advice.replaceChildren(...this.advice);
    if (this.asked) {
      const number = this.asked.answers.length + 1;
      this.count.textContent = `Where should I start? Problem ${number} of ${QUESTIONS} at most`;
      return;
    }
    const { level, row, again } = this.read();
    const here = +this.level.value === level ? `, ${row} of ${IN_A_ROW} in a row` : "";
    const unkept = window.kept.trouble() && ` · not kept by this browser: ${window.kept.trouble()}`;
    const isBack = again.some((one) => one.level === +this.level.value && one.seed === this.seed);
    const back = isBack ? " comes back after a mistake" : "";
    this.count.textContent = `Problem ${this.seed}${back}${here}${unkept}`;
  }

  // What was wrong and is due; else the next of the series, of the next level where one is passed.
  next() {
    if (this.asked) {
      const { answers, stop, right } = this.asked;
      return this.ask([...answers, { stop, right }]);
    }
    const { level, seed } = this.series;
    const back = due(this.read());
    if (back) return this.go(this.name, back.level, back.seed);
    const now = this.read().level;
    if (this.judged && now > level) return this.start(now);
    this.go(this.name, level, seed + 1);
  }

  // For a projector: all larger, and boxes filled one by one.
  enlarge() {
    if (document.fullscreenElement) return document.exitFullscreen();
    return this.root.requestFullscreen?.();
  }

  fit() {
    const on = document.fullscreenElement === this.root;
    this.root.classList.toggle("cg-large", on);
    this.large.textContent = on ? "Small" : "Large";
    this.task?.sheet.fit();
  }
}

// What the page keeps is read by a script that is loaded with it.
const begin = () =>
  startAll(".chaingrad-player[data-kind=drills]", (root, data) => new Practice(root, data));
if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
else begin();
