"""Judge what `diagnose` says of a model against its row of the table."""

import re
import time
import warnings
from dataclasses import dataclass
from typing import Literal

from chainview.frameworks import diagnose, watch_jax, watch_torch
from tests.corpus.models.table import Model, Run

Verdict = Literal["right", "partly", "false finding", "false clean bill"]
REFUSED = "refused"
SAYS: dict[str, set[str]] = {  # kinds of symptoms that tell a fault
    "broadcast loss": {"broadcast loss"},
    "clamped": {"zero"},
    "constant": {"zero"},
    "cut": {"no gradient", "zero", REFUSED},
    "dead": {"dead units", "zero"},
    "exploding": {"exploding"},
    "flat": {"zero"},
    "nan": {"not finite"},
    "no logarithm": {"no logarithm"},
    "outside": {"not a parameter"},
    "overflow": {"not finite"},
    "saturated": {"zero"},
    "softmax over the batch": {"softmax over the batch"},
    "stale graph": {"stale graph", REFUSED},
    "two sigmoids": {"two sigmoids"},
    "two softmaxes": {"two softmaxes"},
    "unused": {"no gradient", "zero"},
    "vanishing": {"vanishing"},
    "wrong rule": {"wrong gradient", "zero"},
    "zero weights": {"zero"},
}
SHOULD_TELL = {"wrong rule": {"wrong gradient"}}  # where another kind is only a consequence


@dataclass(frozen=True)
class Said:
    """What was said: kinds and places, the whole text, and processor time."""

    findings: tuple[tuple[str, str], ...]
    text: str
    seconds: float


def ask(model: Model) -> Said:
    """Diagnose a model. An error is a finding, too: the reader gets its message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is wrong, on purpose
        began = time.process_time()
        try:
            found = diagnosed(model.build())
        except (RuntimeError, TypeError, ValueError) as error:
            findings, text = ((REFUSED, str(error)),), f"{type(error).__name__}: {error}"
        else:
            findings = tuple((symptom.kind, symptom.where) for symptom in found.symptoms)
            text = str(found)
    return Said(findings, text, time.process_time() - began)


def diagnosed(run: Run):
    if run.argnums is not None:
        return diagnose(watch_jax(run.f, *run.inputs, argnums=run.argnums))
    return diagnose(watch_torch(run.f, *run.inputs, model=run.model))


def verdict(model: Model, said: Said) -> Verdict:
    """Return whether it is right; partly, if it owns that it didn't look there.

    A false finding is any of a sound model, or one of a wrong kind or at a wrong place. A false
    clean bill finds nothing and doesn't say that what it left out could hold the fault.
    """
    if model.fault is None:
        return "false finding" if said.findings else "right"
    if not said.findings:
        return "partly" if _owns(model.fault, said.text) else "false clean bill"
    fits = all(kind in SAYS[model.fault] and at(model, place) for kind, place in said.findings)
    kinds = {kind for kind, _ in said.findings}
    tells = kinds & SHOULD_TELL.get(model.fault, SAYS[model.fault])
    return "right" if fits and tells else "false finding"


def _owns(fault: str, text: str) -> bool:
    words = (
        ("Not compared", "Not examined") if fault in ("wrong rule", "cut") else ("Not examined",)
    )
    return any(word in text for word in words)


def at(model: Model, place: str) -> bool:
    """Whether a finding's place is one of the row's, as whole words, whatever the case."""
    return any(
        re.search(rf"(?<![a-z0-9]){re.escape(_plain(wanted))}(?![a-z0-9])", _plain(place))
        for wanted in model.where
    )


def _plain(place: str) -> str:
    """Write `LogSoftmax` and `log_softmax` alike, each word by itself."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", place).lower()
