"""What differences say of a run's gradients: which agree, which are wrong, which were left out."""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chainview.frameworks._differences import Budget, Compared, EntryCheck
from chainview.frameworks._directions import compare
from chainview.frameworks.run import BY_DESIGN, Summary, WatchedNode, leaf_names, summary
from chainview.frameworks.symptom import Symptom, messages
from chainview.frameworks.watched import Watched
from chainview.player.watch import Written
from chainview.read.words import digits, listed

AGREE = ("right", "faint")  # what differences say
MODULE_HOOK = "BackwardHookFunction"  # PyTorch wraps it around a module with such a hook


def reached(watched: Watched) -> list[str]:
    """Name the leaves with entries that were sent a gradient."""
    leaves = leaf_names(watched.leaves)
    return [name for name, x in leaves.items() if x.grad is not None and summary(x.data).size]


@dataclass(frozen=True)
class Agreement:
    """What differences say of a run's gradients, in words."""

    wrong: Sequence[Symptom] = ()
    compared: str = ""
    left_out: str = ""
    unexamined: Mapping[str, str] = field(default_factory=dict)


def left_out(watched: Watched, reason: str) -> Agreement:
    """Leave all leaves out, for one reason."""
    return Agreement(left_out=reason, unexamined=dict.fromkeys(reached(watched), reason))


def agreement(watched: Watched, directions: int, seconds: float) -> Agreement:
    """Compare the gradients of all leaves with differences."""
    if not directions:
        return left_out(watched, "all leaves (directions=0)")
    if watched.rerun is None:
        return left_out(watched, "the function can't be run again")
    found = compare(watched.rerun, directions, Budget(seconds, tell=_tell))
    if isinstance(found, str):
        return left_out(watched, found)
    leaves = leaf_names(watched.leaves)
    wrong = {
        leaves[name]: (name, check.entry)
        for name, check in found.leaves.items()
        if check.entry is not None and name in leaves
    }
    right = {
        leaves[name]
        for name, check in found.leaves.items()
        if check.kind in AGREE and name in leaves
    }
    excuses = _known_reasons(watched, {leaf: entry for leaf, (_, entry) in wrong.items()})
    guilty = {leaf: row for leaf, row in wrong.items() if leaf not in excuses}
    unclear = _unclear(found, seconds)
    for leaf, reason in excuses.items():
        unclear[reason].append(wrong[leaf][0])
    parts = [f"{listed(names, 6)} ({reason})" for reason, names in unclear.items()]
    unexamined = {
        name: reason
        for reason, names in unclear.items()
        for name in names
        if name in reached(watched) and found.leaves[name].nearby not in AGREE
    }
    symptoms = _wrong_gradients(watched, guilty, right)
    return Agreement(symptoms, _agreeing(found), "; ".join(parts), unexamined)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _wrong_gradients(
    watched: Watched,
    wrong: Mapping[WatchedNode, tuple[str, EntryCheck]],
    right: set[WatchedNode],
) -> list[Symptom]:
    if not wrong:
        return []
    name, first = next(iter(wrong.values()))
    own = _suspect_functions(watched, set(wrong), right)
    functions = listed(sorted({value.op for value in own}), 3)
    return [
        Symptom(
            "wrong gradient",
            listed([name for name, _ in wrong.values()], 6),
            f"the gradient is {digits(first.gradient)} at {first.place} of {name}, the "
            f"difference {digits(first.difference)}",
            f"the backward of {functions}: it isn't the derivative of its forward (by design, that "
            "is so in a straight-through estimator)"
            if own
            else "the derivatives on its way to the loss",
            [*own, *wrong],
            own[0].line if own else None,
        )
    ]


def _agreeing(found: Compared) -> str:
    """Say how many leaves agree with differences, and how far that goes."""
    kinds = [check.kind for check in found.leaves.values()]
    agree, count = kinds.count("right") + kinds.count("faint"), len(kinds)
    if not agree:
        return ""
    leaves = f"all {count} leaves" if agree == count else f"{agree} of {count} leaves"
    text = "the one leaf agrees" if count == 1 else f"{leaves} agree"
    text += f" along {found.directions} random direction{'s' * (found.directions > 1)}"
    faint = [name for name, check in found.leaves.items() if check.kind == "faint"]
    if faint:
        text += f"; of {listed(faint, 3)} gradient and difference are both 0 up to rounding"
    return f"{text} ({found.runs} runs of the function)"


def _unclear(found: Compared, seconds: float) -> dict[str, list[str]]:
    """Return the leaves about which differences tell us nothing, by the reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for name, check in found.leaves.items():
        if check.kind == "no time":
            reason = f"the other leaves took all of the {seconds:g} s that seconds= allows"
        elif check.kind == "kink":
            reason = "a kink here"
        elif check.kind == "rough":
            reason = "differences disagree: the loss is too rough here, or computed too roughly"
        else:
            continue
        is_right = check.nearby in AGREE
        reasons[reason + "; at a point nearby they agree" * is_right].append(name)
    return reasons


def _known_reasons(
    watched: Watched, wrong: Mapping[WatchedNode, EntryCheck]
) -> dict[WatchedNode, str]:
    """Explain, where we know it, why a leaf's gradient isn't meant to be the derivative."""
    cut, hooked = _detached_leaves(watched), _hooked(watched)
    by_design = {value for value in watched.values if value.note.startswith(BY_DESIGN)}
    own = {value for value in watched.values if _is_custom_function(value)}
    through = _came_through(watched, hooked | by_design | own)
    excuses = {}
    for leaf, entry in wrong.items():
        way = [value for value in watched.values if value is leaf or value in through[leaf]]
        hooks = [value.name for value in way if value in hooked]
        designs = [value for value in way if value in by_design]
        if leaf in cut:
            excuses[leaf] = "a detached copy, too, leads to the loss"
        elif hooks:
            excuses[leaf] = f"a hook changes the gradient of {listed(hooks, 3)}"
        elif designs:
            excuses[leaf] = f"{designs[0].name}: {designs[0].note}"
        elif entry.kind == "flat" and (functions := [v for v in way if v in own]):
            excuses[leaf] = (
                f"the loss doesn't move with it, and the backward of {functions[0].op} isn't the "
                "derivative of its forward: by design in a straight-through estimator"
            )
    return excuses


def _hooked(watched: Watched) -> set[WatchedNode]:
    """Return the values whose gradient a hook changed, of a tensor or of a module."""
    hooked = {event.node for event in watched.events[1:] if isinstance(event, Written)}
    for message in messages(watched):
        if message.child.op == MODULE_HOOK and not _same(message.share, message.above):
            hooked.add(message.child)
    return hooked


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Summary) or isinstance(other, Summary):
        return summary(one) == summary(other)
    return np.array_equal(one, other, equal_nan=True)


def _is_custom_function(value: WatchedNode) -> bool:
    """Return whether a value is a function that the reader wrote."""
    return value.note.startswith("one function") and value.op != MODULE_HOOK


def _detached_leaves(watched: Watched) -> set[WatchedNode]:
    """Return the leaves that a number depends on without passing a gradient back."""
    behind: set[WatchedNode] = set()
    for value in reversed(watched.values):  # children before parents
        is_cut = not value.requires_grad and "float" in str(getattr(value.data, "dtype", ""))
        if value in behind or is_cut:
            behind.update(value.parents)
    return {value for value in behind if not value.parents}


def _came_through(
    watched: Watched, chosen: set[WatchedNode]
) -> dict[WatchedNode, set[WatchedNode]]:
    """Map each value to the chosen ones, other than itself, that its gradient comes through."""
    through: dict[WatchedNode, set[WatchedNode]] = defaultdict(set)
    for value in reversed(watched.values):  # children before parents
        for parent in value.parents:
            through[parent] |= through[value] | ({value} & chosen)
    return through


def _suspect_functions(
    watched: Watched, wrong: set[WatchedNode], right: set[WatchedNode]
) -> list[WatchedNode]:
    """Return the reader's functions that wrong gradients came through, and right ones didn't."""
    through = _came_through(watched, set(filter(_is_custom_function, watched.values)))
    suspects: set[WatchedNode] = set()
    cleared: set[WatchedNode] = set()
    for value in watched.values:
        if value in wrong:
            suspects |= through[value]
        elif value in right:
            cleared |= through[value]
    between = suspects - cleared or suspects
    return [value for value in watched.values if value in between]
