"""What an examination found: one finding for each bug, shown on the smallest expression."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill

from chainlab.doctor.conventions import Conventions
from chainlab.doctor.interface import (
    NAMES,
    OTHER_NAMES,
    methods_to_fill,
    missing_operations,
    obstacle,
)
from chainlab.doctor.probe import Probe
from chainlab.doctor.probes import MILESTONES, PROBES
from chainlab.doctor.scalars import ROOTS

STOPS = "an error in the simplest trial"
WIDTH = 79
_LISTED = 12  # expressions that were not tried because no time was left
_SHOWN = 6  # expressions that fail with the one that shows a bug


@dataclass(frozen=True)
class Outcome:
    """What came of one probe.

    Attributes:
        probe: its text.
        verdict: "sound", "wrong", "remark", "refused" where the engine says no on purpose,
            "missing" where it lacks an operation, "unfinished" where its time was up, or "left out"
            where the time for all probes was.
        what, found, right: what was read, the number that came (or the error), and what is right.
    """

    probe: str
    verdict: str
    what: str = ""
    found: str = ""
    right: str = ""

    @property
    def failure(self) -> str:
        """What came in place of an answer; empty if one did."""
        return "" if self.verdict == "sound" else self.found


@dataclass(frozen=True)
class Finding:
    """A bug: its name, the probe and outcome that show it, and the probes that fail with it."""

    bug: str
    probe: Probe
    outcome: Outcome
    others: Sequence[str]

    @property
    def look(self) -> str:
        """What to look at."""
        return _named(self.probe, self.outcome)[1]

    def __str__(self) -> str:
        of = f"{self.outcome.what} = " if self.outcome.what else ""
        lines = [
            self.bug,
            f"  expression  {self.probe.text}",
            f"  came        {of}{self.outcome.found}",
            f"  is right    {of}{self.outcome.right}",
            f"  look at     {self.look}",
        ]
        also = [text for text in _expressions(self.others) if text != expression(self.probe.text)]
        if also:
            more = f"; and {len(also) - _SHOWN} more" * (len(also) > _SHOWN)
            lines.append(f"  also fails  {'; '.join(also[:_SHOWN])}{more}")
        return "\n".join(lines)


class Report:
    """The outcomes of an examination, in words when printed.

    Attributes:
        name: of the engine.
        outcomes: one for each probe.
        milestone: the one that was asked for, or None.
        tried: the outcomes of probes for which the engine has the operations.
        findings: the bugs, that on which others depend first; at a milestone also what its text
            asks for and the engine does in another way.
        remarks: what others have chosen, too, and which can still mislead.
        unfinished: the probes that were stopped.
        left_out: those for which no time was left.
        missing: the expressions with an operation which the engine does not have.
        lacking: those of them that the milestone asks for.
        obstacle: why the engine cannot be examined yet; empty if it can.
        read_as: what was read of an engine with names of its own, in words; empty if its names are
            micrograd's.
        adapter: the text of an adapter with what was read, to copy into a file; empty where the
            engine needs none.
        is_sound: whether all that was tried came to its end with no findings, something was tried,
            and nothing is lacking.
    """

    def __init__(
        self,
        name: str,
        outcomes: Sequence[Outcome],
        milestone: int | None = None,
        conventions: Conventions | None = None,
    ) -> None:
        self.name = name
        self.outcomes = outcomes
        self.milestone = milestone
        self.tried = [x for x in outcomes if x.verdict not in ("missing", "left out")]
        choices = _findings(outcomes, "remark") + _findings(outcomes, "refused")
        self.remarks = [x for x in choices if not (milestone and x.probe.demanded)]
        bugs = _findings(outcomes, "wrong") + [x for x in choices if x not in self.remarks]
        self.findings = sorted(bugs, key=lambda finding: finding.probe.corner)
        self.unfinished = [x.probe for x in outcomes if x.verdict == "unfinished"]
        came = {x.probe: x.failure for x in outcomes}
        self.obstacle = obstacle(came)
        self.left_out = [x.probe for x in outcomes if x.verdict == "left out"]
        missing = {x.probe for x in outcomes if x.verdict == "missing"}
        own = missing.difference(ROOTS, NAMES)  # without what all engines have
        alone = [p for p in PROBES if p.text in own and missing.isdisjoint(p.needs)]
        self.missing = _expressions(p.text for p in alone)
        self.lacking = _expressions(p.text for p in alone if milestone and p.required)
        if self.obstacle:
            self.missing = [NAMES[text] for text in missing_operations(came)]
            self.lacking = self.missing if milestone else []
        elif {"a + b", "a * b"} <= set(self.missing):
            self.obstacle = "it differentiates neither a + b nor a * b"
        self.read_as = conventions.told(name) if conventions else ""
        self.adapter = ""
        if conventions or OTHER_NAMES in self.obstacle:
            known = conventions or Conventions(f"{name}(value)")
            self.adapter = known.as_adapter(name, methods_to_fill(came))
        gaps = self.unfinished + self.left_out + self.lacking
        self.is_sound = bool(self.tried) and not (self.obstacle or gaps or self.findings)

    @property
    def why_not(self) -> str:
        """The obstacle, and the adapter to fill in where one would help."""
        if not self.adapter:
            return self.obstacle
        return f"{self.obstacle}. Fill in this one, below the engine:\n\n{self.adapter}"

    def __str__(self) -> str:
        sound = sum(x.verdict == "sound" for x in self.outcomes)
        bugs, missing = len(self.findings), len(self.outcomes) - len(self.tried)
        at = self.milestone
        told = f"{self.name}, milestone {at} ({MILESTONES[at]})" if at else self.name
        if self.obstacle:
            return f"{told}, cannot be examined yet:\n{self.why_not}"
        head = f"{told}:\n{sound} of {len(self.tried)} probes tried are sound"
        head += f", {missing} not tried" * bool(missing)
        head += f"; {bugs} bug{'s' * (bugs > 1)} found" if bugs else "; no bug found"
        if self.lacking:
            head += ", and the milestone asks for more"
        if self.read_as:
            head += f"\nThe doctor read {self.read_as}."
        parts = [head, *map(str, self.findings)]
        parts += [f"Remark. {remark}" for remark in self.remarks]
        others = [text for text in self.missing if text not in self.lacking]
        for what, texts in [
            ("Not finished in time", _first(self.unfinished)),
            ("Left out, the time for all was up", _first(self.left_out)),
            ("Still to write", self.lacking),
            ("Not tried, the engine lacks it", others),
        ]:
            parts += [_folded(f"{what}: ", texts)] * bool(texts)
        return "\n\n".join(parts)

    __repr__ = __str__


def _first(texts: Iterable[str]) -> list[str]:
    """Return the expressions that would come next, and how many more there are."""
    found = _expressions(texts)
    more = len(found) - _LISTED
    return found[:_LISTED] + [f"and {more} more"] * (more > 0)


def _folded(what: str, texts: Iterable[str]) -> str:
    """Return lines that end between two texts, never within one."""
    whole = "; ".join(text.replace(" ", "\N{NO-BREAK SPACE}") for text in texts)
    return fill(what + whole, WIDTH).replace("\N{NO-BREAK SPACE}", " ")


def expression(text: str) -> str:
    """Return a probe's text without the place at which it is evaluated."""
    return text.partition(" at ")[0]


def _expressions(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(map(expression, texts)))


def _named(probe: Probe, outcome: Outcome) -> tuple[str, str]:
    """Return the bug that an outcome shows if no smaller one does, and what to look at."""
    if outcome.verdict == "refused":
        where = "where the engine raises this, and whether it is meant"
        return probe.refused, where if probe.demanded else probe.look
    if probe.text in ROOTS and not outcome.what:
        return STOPS, "where the engine raises this"
    return probe.instead.get(outcome.found, (probe.bug, probe.look))


def _findings(outcomes: Sequence[Outcome], verdict: str) -> list[Finding]:
    """Return a finding for each bug: the probes that fail with it, and the first one shows it."""
    failed = {x.probe: x for x in outcomes if x.verdict == verdict}
    blaming = {"wrong", "missing", "unfinished"} | ({"refused"} if verdict == "remark" else set())
    blamed = {x.probe for x in outcomes if x.verdict in blaming}
    bugs: dict[str, list[Probe]] = {}
    bug_of: dict[str, str] = {}
    for probe in PROBES:
        if probe.text not in failed or probe.text in NAMES:
            continue
        reasons = [text for text in (*ROOTS, *probe.needs) if text in blamed]
        if verdict != "wrong" and reasons:
            continue
        reason = next((text for text in reasons if text in bug_of and text != probe.text), None)
        own = _named(probe, failed[probe.text])[0]
        bug_of[probe.text] = bug = bug_of[reason] if reason else own
        bugs.setdefault(bug, []).append(probe)
    return [
        Finding(bug, first, failed[first.text], [probe.text for probe in others])
        for bug, (first, *others) in bugs.items()
    ]
