"""What an examination found: one finding for each bug, shown on the smallest expression."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import TypeVar

from chainlab.doctor.array_probes import OVER_AXIS
from chainlab.doctor.conventions import Conventions
from chainlab.doctor.interface import (
    NAMES,
    OTHER_NAMES,
    methods_to_fill,
    missing_operations,
    obstacle,
)
from chainlab.doctor.number_probes import (
    EQUAL,
    FORGETS,
    ONE_ARRAY,
    OVERFLOW,
    RECURSION,
    ROOTS,
    SHARED_BY_TWO,
    TOGETHER,
    UNSORTED,
    WITH_NUMBERS,
)
from chainlab.doctor.others import OTHER
from chainlab.doctor.probe import NO_ARRAYS, OF_ARRAYS, Probe
from chainlab.doctor.probes import MILESTONES, PROBES

Part = TypeVar("Part")

STOPS = "an error in the simplest trial"
STOPS_WITHIN = "an error inside a larger expression"
_FROM_ABOVE = (
    "where the engine raises this: the gradient that arrives comes from another operation, and may "
    "have another type or shape than the 1 that a pass begins with"
)
REFUSES = "the engine refuses them"
WIDTH = 79
_LISTED = 12  # expressions that were not tried because no time was left
_SHOWN = 6  # expressions that fail with the one that shows a bug
_PLUS, _TIMES, *_INNER = (
    next(p.text for p in PROBES if p.text.startswith(f"{text} at "))
    for text in ("a + b", "a * b", "(a + b) * c", "(a * b) * c")
)
_STATES = ("sound", "wrong", "behind a bug", "undecidable", "not finished", "not examined")


@dataclass(frozen=True)
class Outcome:
    """What came of one probe.

    Attributes:
        probe: its text.
        verdict: "sound", "wrong", "undecidable" at a kink or where a second trial came out
            otherwise, "remark", "refused" where the engine says no on purpose,
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
        undecided: the outcomes of probes at which nothing is right or wrong.
        coverage: what an engine may have, and whether that is "sound", "wrong", "behind a bug",
            "undecidable", "not examined: " and why, or "not finished".
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
        self.undecided = [x for x in outcomes if x.verdict == "undecidable"]
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
        self.coverage = _coverage(outcomes, {x.outcome.probe for x in self.findings})
        self.read_as = conventions.told(name) if conventions else ""
        self.adapter = ""
        if conventions or OTHER_NAMES in self.obstacle:
            known = conventions or Conventions(f"{name}(value)")
            self.adapter = known.as_adapter(name, methods_to_fill(came))
        gaps = self.unfinished + self.left_out + self.lacking
        self.is_sound = bool(self.tried) and not (self.obstacle or gaps or self.findings)

    def choose(self, own: Part, course: Part) -> Part:
        """Return a part of the engine if it is sound, else the course's, and print which it is.

        >>> Report("Value", [], milestone=2).choose("yours", "the course's")
        This runs on the course's engine: Value isn't sound at milestone 2 yet.
        "the course's"
        """
        where = f" at milestone {self.milestone}" if self.milestone else ""
        lacks = f"the course's engine: {self.name} isn't sound{where} yet"
        print(f"This runs on {'your engine' if self.is_sound else lacks}.")
        return own if self.is_sound else course

    @property
    def why_not(self) -> str:
        """The obstacle, and the adapter to fill in where one would help."""
        if not self.adapter:
            return self.obstacle
        return f"{self.obstacle}. Fill in this one, below the engine:\n\n{self.adapter}"

    def __str__(self) -> str:
        at = self.milestone
        told = f"{self.name}, milestone {at} ({MILESTONES[at]})" if at else self.name
        if self.obstacle and at and at > 1:
            return f"{told}: milestone 1 comes first. Its check says what is missing."
        if self.obstacle:
            return f"{told}, cannot be examined yet:\n{self.why_not}"
        head = f"{told}:\n{self._headline()}"
        if self.lacking:
            head += " The milestone asks for more."
        if self.read_as:
            head += f"\nThe doctor read {self.read_as}."
        parts = [head, *map(str, self.findings)]
        refused = [x for x in self.remarks if x.outcome.verdict == "refused"]
        parts += [f"Remark. {remark}" for remark in self.remarks if remark not in refused]
        if refused:
            parts.append(_refusals(refused))
        parts += [
            f"Undecided. {x.probe}\n  came        {x.what} = {x.found}\n  {x.right}"
            for x in self.undecided
        ]
        for what, texts in [
            ("Not finished in time", _first(self.unfinished)),
            ("Left out, the time for all was up", _first(self.left_out)),
            ("Still to write", self.lacking),
        ]:
            parts += [_folded(f"{what}: ", texts)] * bool(texts)
        for why, subjects in self._not_examined().items():
            parts.append(_folded(f"Not examined, {why}: ", subjects))
        return "\n\n".join(parts)

    def _headline(self) -> str:
        """Return whether there are bugs, how much of an engine is sound, and how much is open."""
        states = [state.partition(":")[0] for state in self.coverage.values()]
        counts = [(states.count(state), state) for state in _STATES if state in states]
        bugs = len(self.findings)
        first = f"{bugs} bug{'s' * (bugs > 1)} found." if bugs else "No bug found."
        if self.milestone and self.is_sound:
            first = "You have reached this milestone."
        if len(counts) == 1 and self.is_sound:
            return f"{first} All {len(states)} things that an engine may have are sound."
        told = ", ".join(f"{count} {state}" for count, state in counts)
        return f"{first} Of {len(states)} things that an engine may have: {told}."

    def _not_examined(self) -> dict[str, list[str]]:
        """Return what was not examined, by the reason; a remark tells of what was refused."""
        is_told = any(x.outcome.verdict == "refused" for x in self.remarks)
        by_reason: dict[str, list[str]] = {}
        for subject, state in self.coverage.items():
            verdict, _, reason = state.partition(": ")
            if verdict == "not examined" and not (reason == REFUSES and is_told):
                by_reason.setdefault(reason, []).append(subject)
        return by_reason

    __repr__ = __str__


def _coverage(outcomes: Sequence[Outcome], shown: Iterable[str]) -> dict[str, str]:
    """Return what was found of each thing that an engine may have."""
    shown = set(shown)
    came = {x.probe: x for x in outcomes}
    has_none = any(x.found == NO_ARRAYS for x in outcomes)
    by_subject: dict[str, list[Outcome]] = {}
    for probe in PROBES:
        if probe.subject and probe.text in came:
            outcome = came[probe.text]
            is_of_none = probe.milestone == OF_ARRAYS and has_none
            by_subject.setdefault("arrays" if is_of_none else probe.subject, []).append(outcome)
    return {subject: _state(found, shown) for subject, found in by_subject.items()}


def _state(found: Sequence[Outcome], shown: set[str]) -> str:
    """Return the state of one thing, by the outcomes of its probes."""
    verdicts = {x.verdict for x in found}
    if any(x.probe in shown for x in found):
        return "wrong"
    if "wrong" in verdicts:
        return "behind a bug"
    if verdicts & {"unfinished", "left out"}:
        return "not finished"
    if verdicts & {"sound", "remark"}:
        return "sound"
    if "undecidable" in verdicts:
        return "undecidable"
    why = next(x.found for x in found)
    if "refused" in verdicts:
        why = REFUSES
    lacks = (
        "no attribute", "unsupported operand", "NotImplemented", "gives None", "bad operand",
        "not subscriptable",
    )  # fmt: skip
    return f"not examined: {'it has none' if any(sign in why for sign in lacks) else why}"


def _refusals(refused: Sequence[Finding]) -> str:
    """Return in one remark what an engine refuses, and its first error."""
    told = _folded("Remark. Refused: ", [x.bug for x in refused])
    error = f"  the first error  {refused[0].outcome.found}"
    return f"{told}\n{fill(error, WIDTH, subsequent_indent=' ' * 19)}"


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
    if outcome.verdict == "remark" and not probe.only_remark:
        return f"{probe.subject} is another function here", "what the engine means by this name"
    if probe.bug == OTHER and (name := re.search(r"\.(\w+)\(", outcome.what)):
        return f"a rule: {name[1]}", probe.look
    if probe.bug == FORGETS and not outcome.what:  # an error tells nothing of the factor
        return STOPS_WITHIN, _FROM_ABOVE
    if probe.bug == RECURSION and outcome.what:
        return TOGETHER, SHARED_BY_TWO
    return probe.instead.get(outcome.found, (probe.bug, probe.look))


def _beneath(probe: Probe, outcome: Outcome) -> list[str]:
    """Return what a gradient depends on, whatever the rule is: the order in which nodes send.

    An operator may be made of others, as a - b of a + b * -1. Its value doesn't depend on the pass.
    """
    if probe.milestone < 4 or outcome.what == "the value":
        return []
    small = [p for p in PROBES if p.milestone < 3 and p.formula]
    found = [p.text for p in small if p.bug in (UNSORTED, EQUAL, ONE_ARRAY) or p.text in _INNER]
    if probe.subject in ("unary -", "-", "/", "**", WITH_NUMBERS):
        found += [_PLUS, _TIMES]
    if probe.bug == OVERFLOW and outcome.what:  # it was computed, by a rule that is wrong elsewhere
        found += [p.text for p in PROBES if p.subject == probe.subject and not p.corner]
    return found


def _calls(text: str, subject: str) -> bool:
    """Return whether an expression calls the function that a report names so."""
    return f".{subject.replace(OVER_AXIS, 'sum(axis')}" in text


def _shown(probe: Probe, outcome: Outcome) -> Probe:
    """Return a probe with the one function of many that it found wrong as its text."""
    called = re.search(r"\ba\.\w+\(\)", outcome.what, re.IGNORECASE) if probe.bug == OTHER else None
    return replace(probe, text=called[0]) if called else probe


def _findings(outcomes: Sequence[Outcome], verdict: str) -> list[Finding]:
    """Return a finding for each bug: the probes that fail with it, and the first one shows it."""
    failed = {x.probe: x for x in outcomes if x.verdict == verdict}
    blaming = {"wrong", "missing", "unfinished"} | ({"refused"} if verdict == "remark" else set())
    blamed = {x.probe for x in outcomes if x.verdict in blaming}
    remarked = {x.probe for x in outcomes if x.verdict == "remark"}
    redefined = {p.subject for p in PROBES if p.text in remarked and not p.only_remark}
    bugs: dict[str, list[Probe]] = {}
    bug_of: dict[str, str] = {}
    for probe in PROBES:
        if probe.text not in failed or probe.text in NAMES:
            continue
        if verdict == "wrong" and any(_calls(probe.text, name) for name in redefined):
            continue
        needs = (*ROOTS, *probe.needs, *_beneath(probe, failed[probe.text]))
        reasons = [text for text in needs if text in blamed]
        if verdict != "wrong" and reasons:
            continue
        reason = next((text for text in reasons if text in bug_of and text != probe.text), None)
        own = _named(probe, failed[probe.text])[0]
        bug_of[probe.text] = bug = bug_of[reason] if reason else own
        bugs.setdefault(bug, []).append(probe)
    return [
        Finding(
            bug, _shown(first, failed[first.text]), failed[first.text], [p.text for p in others]
        )
        for bug, (first, *others) in bugs.items()
    ]
