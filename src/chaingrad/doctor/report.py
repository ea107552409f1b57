"""What an examination found: one finding for each bug, shown on the smallest expression."""

from collections.abc import Sequence
from dataclasses import dataclass

from chaingrad.doctor.probes import PROBES, Probe


@dataclass(frozen=True)
class Outcome:
    """What came of one probe.

    Attributes:
        probe: its text.
        verdict: "sound", "wrong", "remark", or "missing" where the engine lacks an operation.
        what, found, right: what was read, the number that came (or the error), and what is right.
    """

    probe: str
    verdict: str
    what: str = ""
    found: str = ""
    right: str = ""


@dataclass(frozen=True)
class Finding:
    """A bug: its name, the probe and outcome that show it, and the probes that fail with it."""

    bug: str
    probe: Probe
    outcome: Outcome
    others: Sequence[str]

    def __str__(self) -> str:
        of = f"{self.outcome.what} = " if self.outcome.what else ""
        lines = [
            self.bug,
            f"  expression  {self.probe.text}",
            f"  came        {of}{self.outcome.found}",
            f"  is right    {of}{self.outcome.right}",
            f"  look at     {self.probe.look}",
        ]
        if self.others:
            lines.append(f"  also fails  {'; '.join(self.others)}")
        return "\n".join(lines)


class Report:
    """The outcomes of an examination, in words when printed.

    Attributes:
        name: of the engine.
        outcomes: one for each probe.
        findings: the bugs.
        remarks: what others have chosen, too, and which can still mislead.
        missing: the expressions with an operation which the engine does not have.
        is_sound: whether there are no findings, and something could be tried.
    """

    def __init__(self, name: str, outcomes: Sequence[Outcome]) -> None:
        self.name = name
        self.outcomes = outcomes
        self.findings = _findings(outcomes, "wrong")
        self.remarks = _findings(outcomes, "remark")
        missing = {x.probe for x in outcomes if x.verdict == "missing"}
        alone = [p for p in PROBES if p.text in missing and missing.isdisjoint(p.needs)]
        self.missing = list(dict.fromkeys(probe.text.partition(" at ")[0] for probe in alone))
        self.is_sound = not self.findings and any(x.verdict == "sound" for x in outcomes)

    def __str__(self) -> str:
        sound = sum(x.verdict == "sound" for x in self.outcomes)
        bugs = len(self.findings)
        head = f"{self.name}: {sound} of {len(self.outcomes)} probes are sound; " + (
            f"{bugs} bug{'s' * (bugs > 1)} found" if bugs else "no bug found"
        )
        parts = [head, *map(str, self.findings)]
        parts += [f"Remark. {remark}" for remark in self.remarks]
        if self.missing:
            parts.append("Not tried, the engine lacks it: " + "; ".join(self.missing))
        return "\n\n".join(parts)

    __repr__ = __str__


def _findings(outcomes: Sequence[Outcome], verdict: str) -> list[Finding]:
    """Probes that fail without a smaller one to blame, by their bug; the first shows it."""
    failed = {x.probe: x for x in outcomes if x.verdict == verdict}
    blamed = {x.probe for x in outcomes if x.verdict in ("wrong", "missing")}
    bugs: dict[str, list[Probe]] = {}
    bug_of: dict[str, str] = {}
    for probe in PROBES:
        if probe.text not in failed:
            continue
        reason = next((need for need in probe.needs if need in blamed), None)
        if reason is not None and verdict == "remark":
            continue
        bug = bug_of.get(reason, "") if reason is not None else ""
        own = probe.instead.get(failed[probe.text].found, probe.bug)
        bug_of[probe.text] = bug = bug or own
        bugs.setdefault(bug, []).append(probe)
    return [
        Finding(bug, first, failed[first.text], [probe.text for probe in others])
        for bug, (first, *others) in bugs.items()
    ]
