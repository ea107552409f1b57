"""Print what `diagnose` says of each model: `python -m tests.corpus.models [names]`."""

import sys
from collections import Counter

from tests.corpus.models import faulty_torch, in_jax, sound_torch  # noqa: F401
from tests.corpus.models.judge import ask, verdict
from tests.corpus.models.table import MODELS


def main(names: list[str]) -> None:
    verdicts: Counter[str] = Counter()
    print(
        "| model | true fault | where | said | verdict | processor s |\n|---|---|---|---|---|---|"
    )
    for name in names or MODELS:
        model = MODELS[name]
        said = ask(model)
        judged = verdict(model, said)
        verdicts[judged] += 1
        findings = "; ".join(f"{kind}: {place}" for kind, place in said.findings) or _left_out(
            said.text
        )
        row = model.name, model.fault or "sound", ", ".join(model.where), findings, judged
        print("|", " | ".join(cell.replace("|", "\\|") for cell in row), f"| {said.seconds:.2f} |")
    print("\n" + ", ".join(f"{judged}: {count}" for judged, count in sorted(verdicts.items())))


def _left_out(text: str) -> str:
    parts = [part for part in text.split("\n\n") if part.startswith("Not ")]
    return "nothing. " + " ".join(" ".join(parts).split()) if parts else "nothing"


if __name__ == "__main__":
    main(sys.argv[1:])
