"""Check an answer to an exercise by the cells that its notebook has, in names of their own.

Neither the cells of the page nor its folded answers are run, and nothing that an answer defines
is left behind.
"""

import linecache
import traceback
from typing import Any

from chaingrad.checks import check_results

PartVerdict = dict[str, Any]  # part, verdict, says, and the error of one that failed

ANSWER = "<your answer>"
EMPTY = "it still says `raise NotImplementedError`: write your answer in place of that line."
UNCHANGED = "this is what you started from: change it to your answer."


def check(exercise: dict[str, Any], answer: str) -> list[PartVerdict]:
    """Check an answer: return {"part", "verdict", "says"} for each check, or one for all.

    Verdicts are right, wrong (a result differs), failed (it raised) and empty (not written).
    A failed check also has "error", the exception that it raised.
    """
    if answer.strip() == exercise["start"].strip() != "":
        return [{"part": "your answer", "verdict": "empty", "says": UNCHANGED}]
    names = {"__name__": "__main__", "check_results": check_results}
    try:
        execute(exercise["given"], "<given code>", names)
        execute(answer, ANSWER, names)
    except BaseException as error:
        return [verdict("your answer", error)]
    missing = [name for name in exercise["names"] if name not in names]
    if missing:
        says = f"it defines no {missing[0]}: keep the names and arguments that were given."
        return [{"part": "your answer", "verdict": "failed", "says": says}]
    return [check_part(part, dict(names)) for part in exercise["checks"]]


def check_part(part: dict[str, str], names: dict[str, Any]) -> PartVerdict:
    print(f"{part['name']}: ", end="")
    try:
        execute(part["source"], "<check>", names)
    except BaseException as error:
        print("not right")
        return verdict(part["name"], error)
    return {"part": part["name"], "verdict": "right", "says": ""}


def execute(source: str, filename: str, names: dict[str, Any]) -> None:
    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)
    exec(compile(source, filename, "exec"), names)


def verdict(part: str, error: BaseException) -> PartVerdict:
    if isinstance(error, NotImplementedError):
        return {"part": part, "verdict": "empty", "says": EMPTY}
    if raised_by_the_check(error):
        return {"part": part, "verdict": "wrong", "says": str(error)}
    return {"part": part, "verdict": "failed", "says": report(error), "error": error}


def raised_by_the_check(error: BaseException) -> bool:
    """Return whether a comparison failed, rather than the answer's own code."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return isinstance(error, AssertionError) and frames[-1].f_code is check_results.__code__


def report(error: BaseException) -> str:
    """Format the traceback, starting at the answer's first line in it."""
    if isinstance(error, SyntaxError) and error.filename == ANSWER:
        return "".join(traceback.format_exception_only(error))
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != ANSWER:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))
