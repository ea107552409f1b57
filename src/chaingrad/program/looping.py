"""What the text of a loop takes: names, lists of what is kept, and values handed on."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from chaingrad.program.line import Line
from chaingrad.program.loops import Loop
from chaingrad.program.tape import Recorded


def kept(values: Sequence[Recorded]) -> dict[Recorded, tuple[str, int] | None]:
    """Map the values in bodies of which each step's is read later to their list, none as yet."""
    return {
        x.option("of"): None
        for x in values
        if x.op == "kept" or (x.op == "item" and x.option("at") < _loop(x).count - 1)
    }


def read_later(values: Sequence[Recorded]) -> Counter[Recorded]:
    """Count the values in bodies that are read in another step or behind the loop."""
    found = Counter(x.option("of") for x in values if x.op in ("kept", "item"))
    for x in values:
        if x.op == "loop":
            found.update(then for *_, then in x.option("loop").carried)
    return Counter(dict.fromkeys(found, 2))


def _loop(x: Recorded) -> Loop:
    loop: Loop = x.args[0].option("loop")
    return loop


def name_columns(
    loop: Loop,
    labels: dict[Recorded, str],
    results: dict[Recorded, str],
    adjoint_of: dict[Recorded, Recorded],
) -> None:
    """Give what a body computes the names that its values have in each step."""
    size = len(loop.body)
    for i, of in enumerate(loop.body):
        column = loop.within[i::size]
        stems = {re.sub(r"_?\d+$", "", labels.get(x, "")) for x in column}
        if column[-1] in results:
            results[of] = results[column[-1]]
        elif len(stems) == 1 and (stem := stems.pop()):
            labels[of] = stem
        owner = adjoint_of.get(column[len(column) // 2])
        if owner is not None and owner.op == "item":
            adjoint_of[of] = owner.option("of")


def made_of(x: Recorded) -> Recorded:
    """Return the array that steps have put parts into to make ``x``, or ``x`` itself."""
    while x.op == "put" or (x.op == "item" and x.option("of").op == "put"):
        if x.op == "put":
            x = x.args[0]
            continue
        first = {state: init for state, init, _ in _loop(x).carried}
        y = x.option("of")
        while y.op == "put":
            y = y.args[0]
        if y not in first:
            break
        x = first[y]
    return x


def settle(
    loop: Loop, inner: list[Line], names: dict[Recorded, str], operand: Callable[[Recorded], str]
) -> list[str]:
    """Have lines write over what a step was handed, and return the text that hands on the rest.

    Args:
        loop: the loop.
        inner: the lines of its body, some of which get other names.
        names: of values, where the new ones go.
        operand: returns a value as the text has it.
    """
    moves: list[tuple[str, str]] = []
    handed = {then for *_, then in loop.carried}
    at = {line.target: i for i, line in enumerate(inner)}
    for state, _, then in sorted(loop.carried, key=lambda each: at.get(each[2], -1)):
        name, own = names[state], operand(then)
        if name == own:
            continue
        i = at.get(then)
        if i is None or state in handed or _is_read(name, inner[i:]):
            moves.append((name, own))
            continue
        for k in range(i, len(inner)):
            inner[k] = replace(
                inner[k],
                name=name if inner[k].name == own else inner[k].name,
                text=re.sub(_as_value(own), name, inner[k].text),
            )
        names[then] = name
        if then.op in ("add", "subtract") and then.args[0] is state and not then.is_array:
            inner[i] = _in_place(inner[i])
    if not moves:
        return []
    left, right = zip(*moves, strict=True)
    return [f"{', '.join(left)} = {', '.join(right)}"]


def _is_read(name: str, lines: Sequence[Line]) -> bool:
    """Return whether a name is read when the first statement of these lines has run."""
    text = "\n".join(line.text for line in lines).partition("\n")[2]
    return re.search(_as_value(name), text) is not None


def _as_value(name: str) -> str:
    """Match a name where it is a value, and no attribute or keyword."""
    return rf"(?<![\w.]){name}\b(?!=)"


def _in_place(line: Line) -> Line:
    """Write x = x + y as x += y, for numbers: somebody else may hold an array."""
    sign, _, rest = line.text.removeprefix(f"{line.name} ").partition(" ")
    return replace(line, text=f"{line.name} {sign}= {rest}", makes_new=False)
