"""The engine doctor on engines that its makers did not write: nothing false in what it says.

``engines.toml`` says what is true of each engine, which is a file or a change of another one. A
finding is false if its name is none of those for the engine's faults, or if the fault doesn't show
in its expression. A clean bill is false if the engine has a fault that neither a finding nor a
remark names.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chainlab.doctor.__main__ import examine_apart
from chainlab.doctor.examination import TOTAL
from chainlab.doctor.report import Finding, Report

FOLDER = Path(__file__).parent
CORPUS = tomllib.loads((FOLDER / "engines.toml").read_text("utf-8"))
BASES = {engine["name"]: engine for engine in CORPUS["engine"] if "of" not in engine}
ENGINES: list[dict[str, Any]] = [BASES.get(e.get("of"), {}) | e for e in CORPUS["engine"]]
QUICK = {
    "long_chain_recurses", "val_and_gradient", "breadth_first", "mean_divides_twice",
    "sigmoid_of_its_input", "operands_first",
}  # fmt: skip
FROM_CHAINLAB = "from chainlab.doctor import Adapter, Functional\n\n\n"


def text_of(engine: dict[str, Any]) -> str:
    """Return an engine's text: a file of its own, or another's with one text for another."""
    text = (FOLDER / "engines" / f"{engine.get('of', engine['name'])}.py").read_text("utf-8")
    for old, new in engine.get("change", []):
        assert old in text, (engine["name"], old)
        text = text.replace(old, new)
    return text


def examined(folder: Path, engine: dict[str, Any], adapter: str = "") -> Report:
    """Examine a file of an engine, with a reader's adapter below it."""
    source = text_of(engine)
    copy = folder / f"{engine['name']}.py"
    copy.write_text(source + "\n\n" + FROM_CHAINLAB + adapter if adapter else source, "utf-8")
    name = "Mine" if adapter else engine["class"]
    return examine_apart(f"{copy}:{name}", seconds=5.0, total=TOTAL)


def names(words: list[str], finding: Finding) -> bool:
    """Return whether a finding says one of these, and shows it where it can be seen."""
    for fault in (CORPUS["faults"][word] for word in words):
        shows = fault.get("shows", [""])
        if finding.bug.startswith(tuple(fault["names"])):
            return any(part in finding.probe.text for part in shows)
    return False


def complaints(engine: dict[str, Any], report: Report) -> Iterator[str]:
    """Yield what is false in a report on an engine."""
    faults, also = engine.get("faults", []), engine.get("also", [])
    words = [name for fault in faults for name in CORPUS["faults"][fault]["names"]]
    if report.obstacle:
        if not any(word in report.obstacle for word in words):
            yield f"refused: {report.obstacle}"
        return
    for finding in report.findings:
        if not names(faults + also, finding):
            yield f"false finding: {finding.bug}, on {finding.probe.text}"
    named = any(names(faults, finding) for finding in report.findings + report.remarks)
    if faults and not named:
        yield "false clean bill" if report.is_sound else "the fault is not named"
    if not faults and not report.is_sound and not report.findings:
        yield "no clean bill: " + "; ".join(map(str, report.unfinished + report.left_out))


def verdict(folder: Path, engine: dict[str, Any]) -> list[str]:
    """Return what is false in what the doctor says of an engine, as a reader would run it."""
    first = examined(folder, engine)
    if "adapter" not in engine:
        return list(complaints(engine, first))
    bare = [] if first.obstacle else [f"bare: {told}" for told in complaints(engine, first)]
    return bare + list(complaints(engine, examined(folder, engine, engine["adapter"])))


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(engine, id=engine["name"], marks=[] if quick else pytest.mark.full)
        for engine in ENGINES
        for quick in [engine["name"] in QUICK]
    ],
)
def test_doctor_says_what_is_true(engine: dict[str, Any], tmp_path: Path) -> None:
    assert verdict(tmp_path, engine) == engine.get("today", [])


def test_corpus_is_whole() -> None:
    files = {path.stem for path in (FOLDER / "engines").glob("[a-z]*.py")}
    assert files == set(BASES)
    names = [engine["name"] for engine in ENGINES]
    assert len({text_of(engine) for engine in ENGINES}) == len(set(names)) == len(names) >= 40
    assert set(names) >= QUICK
    assert sum("faults" not in engine for engine in ENGINES) >= 12
    assert len({engine["kind"] for engine in ENGINES}) >= 5
    said = {word for e in ENGINES for word in e.get("faults", []) + e.get("also", [])}
    assert said == set(CORPUS["faults"])
