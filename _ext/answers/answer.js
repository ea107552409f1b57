// The place of an exercise where a reader answers it, and what its checks say.
import { Cell } from "./cell.js";

const listed = (names) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

export class Answer extends Cell {
  constructor(box, exercise) {
    super(box, exercise, `the answer to “${exercise.title}”`, `answer ${exercise.id}`);
  }

  /** Show what the checks found; whether all is right. */
  show(verdicts) {
    const wrong = verdicts.filter(({ verdict }) => verdict !== "right");
    for (const { part, verdict, says } of wrong)
      if (verdict !== "empty")
        this.output.text(verdict === "wrong" ? "live-wrong" : "traceback", `${part}: ${says}`);
    this.mark("right", !wrong.length);
    this.status(summary(verdicts, wrong));
    return !wrong.length;
  }

  reset() {
    super.reset();
    this.mark("right", false);
  }
}

function summary(verdicts, wrong) {
  const empty = wrong.find(({ verdict }) => verdict === "empty");
  const names = wrong.map(({ part }) => part);
  if (empty) return `Not yet: ${empty.says}`;
  if (wrong.length) return `Not right yet: ${listed(names)}.`;
  return verdicts.length > 1 ? `Right: all ${verdicts.length} checks pass.` : "Right.";
}
