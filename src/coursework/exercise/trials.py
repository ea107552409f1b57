"""Answers to try an exercise's checks on: wrong ones must lose points whatever the secret is.

A file `EXERCISE.toml` holds tables `[[wrong]]` and `[[right]]`. Each says `why`: what is wrong, or
what is unusual. The answer is `code`, or the reference answer with `old` replaced by `new`. A wrong
one says in `finds`, for each check in order (those added in a private folder may be left out),
which result is the first that is wrong: a name, a pattern such as `v*`, `raises` where there is
none, `follows` where all that is wrong follows from an earlier part's, and "" where all are right.

Each is tried once more in float32, the default of PyTorch and JAX, with inputs and results rounded
to it. A wrong one must lose the same parts. A right one, and the reference answer, must still be
right, also where only the inputs are rounded, as in an answer that mixes float32 and float64; in
float16 its dtype must be what is wrong, whatever is drawn. Checks that ask for more digits than
float32 has are left out.
"""

import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from chaingrad.checks import HALF, RTOL, first_difference
from coursework.exercise import following
from coursework.exercise.problems import Part, Problem
from coursework.exercise.trusted import ProblemError, errors_at, errors_named

RAISES, FOLLOWS = "raises", "follows"


@dataclass(frozen=True)
class Trial:
    """An answer, why it is wrong (or unusual), and what each check finds in it."""

    why: str
    code: str
    finds: tuple[str, ...]


def read_trials(folder: Path, problem: Problem) -> list[Trial]:
    """Read the answers to try on a problem; raise `ProblemError` if a table is wrong."""
    path = folder / f"{problem.id}.toml"
    if not path.exists():
        return []
    with errors_at(str(path)):
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            right = [(entry, ("",) * len(problem.parts)) for entry in data.get("right", [])]
            wrong = [(entry, tuple(entry["finds"])) for entry in data.get("wrong", [])]
            return [_trial(problem, entry, finds) for entry, finds in [*right, *wrong]]
        except (KeyError, tomllib.TOMLDecodeError) as error:
            raise ProblemError(f"not a file of answers: {error}") from None


def _trial(problem: Problem, entry: dict[str, Any], finds: tuple[str, ...]) -> Trial:
    code = entry.get("code") or problem.answer.replace(entry["old"], entry["new"])
    added = sum(part.private for part in problem.parts if not problem.private)
    if code == problem.answer or len(finds) not in (len(problem.parts), len(problem.parts) - added):
        raise ProblemError(f"{entry['why']!r} is the reference answer, or not for these checks")
    return Trial(entry["why"], code, finds)


def try_all(
    problems: Sequence[Problem],
    answers: Mapping[str, Sequence[Trial]],
    secrets: Sequence[str | int],
) -> list[str]:
    """Return the surprises under each of the secrets, found on all cores."""
    tasks = [(q, answers[q.id], secret) for secret in secrets for q in problems]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return [*chain.from_iterable(pool.map(_try, *zip(*tasks, strict=True), chunksize=8))]


def _try(problem: Problem, trials: Sequence[Trial], secret: str | int) -> list[str]:
    return list(unexpected_findings(problem.for_student(secret, "a student"), trials, secret))


def unexpected_findings(
    problem: Problem, trials: Sequence[Trial], secret: str | int
) -> Iterator[str]:
    """Yield where the checks, under the secret, find something else than the trials say."""
    drawn = [[part.draw(secret, k) for k in range(part.draws)] for part in problem.parts]
    return unexpected_on(problem, trials, drawn, f"the secret {secret!r}")


def unexpected_on(
    problem: Problem, trials: Sequence[Trial], inputs: Sequence[Sequence[Any]], name: str
) -> Iterator[str]:
    """Yield the surprises for given inputs of each check; `name` says where they come from."""
    right = Trial("the reference answer", problem.answer, ("",) * len(problem.parts))
    for k, (part, drawn) in enumerate(zip(problem.parts, inputs, strict=True)):
        expected = [problem.expected(part, each) for each in drawn]
        for trial in (trial for trial in (right, *trials) if k < len(trial.finds)):
            wanted = trial.finds[k]
            said = f"{problem.id}, {part.name!r}, {name}: in {trial.why!r} it finds"
            found = first_wrong(problem, part, trial.code, drawn, expected)
            if not _fits(found, wanted):
                yield f"{said} {found!r}, not {wanted!r}"
            if part.rtol < RTOL or (any(trial.finds) and _fits("", wanted)):
                continue
            for twin in TWINS if wanted == "" else TWINS[:1]:
                found = first_wrong(problem, part, trial.code, drawn, expected, twin)
                if bool(found) != bool(wanted):
                    yield f"{said} {found!r} {twin.name}, not {wanted!r}"


def _fits(found: str, wanted: str) -> bool:
    return any(fnmatchcase(found, pattern) for pattern in wanted.split("|"))


@dataclass(frozen=True)
class Twin:
    """How an answer is tried once more: the dtypes that inputs and results are rounded to."""

    name: str
    inputs: type[np.floating[Any]]
    results: type[np.floating[Any]]


TWINS = (
    Twin("in float32", np.float32, np.float32),
    Twin("partly in float32", np.float32, np.float64),
    Twin("in float16", np.float16, np.float16),
)


def first_wrong(
    problem: Problem,
    part: Part,
    code: str,
    drawn: Sequence[Any],
    expected: Sequence[Any],
    twin: Twin | None = None,
) -> str:
    """Return the name of the first wrong result, "raises" if there is none, "" if all are right.

    It's "follows" if the wrong results follow from one of an earlier part.

    A ``twin`` rounds inputs and results. Of results in float16 all is said to be right if they are
    refused for that alone.
    """
    tried, found = replace(problem, answer=code), ""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for inputs, wanted in zip(drawn, expected, strict=True):
            try:
                with errors_named("the answer"):
                    got = _results(tried, part, inputs, twin)
            except ProblemError:
                return RAISES
            wrong = first_difference(part.asked(wanted), got, part.rtol, part.atol)
            if wrong and following.slip(part, inputs, wanted, got):
                found = FOLLOWS
            elif wrong and wrong.hint != HALF:
                return wrong.name
    return found


def _results(tried: Problem, part: Part, inputs: Any, twin: Twin | None) -> Any:
    """Compute on rounded inputs, or on Python's own numbers if the answer takes no others."""
    if twin is None:
        return tried.expected(part, inputs)
    try:
        results = tried.expected(part, _rounded(inputs, twin.inputs))
    except ProblemError:
        results = tried.expected(part, inputs)
    return _rounded(results, twin.results)


def _rounded(value: Any, dtype: type[np.floating[Any]]) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_rounded(item, dtype) for item in value)
    if isinstance(value, (float, complex, np.ndarray)):
        array = np.asarray(value)
        kinds: dict[str, Any] = {"f": dtype, "c": np.result_type(dtype, np.complex64)}
        return array.astype(kinds[array.dtype.kind])[()] if array.dtype.kind in kinds else value
    return value
