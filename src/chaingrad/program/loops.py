"""Blocks of operations that repeat: the ``for`` loop that a function ran, found again.

What is traced is written out, step by step. Here we look for a block of operations that repeats
with a period, forward and backward, and put one loop in the place of its copies. A copy may differ
from the next only by what a loop can follow: a value that the step before has computed, an index or
a number that changes with the step, a value that another loop has kept. The operations stay, and
so does their order, so that a loop gives the very numbers of the text without it.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from chaingrad.program.assembly import Piece, lie_apart, taken_apart
from chaingrad.program.tape import Recorded, in_order, options_key, reached

FEWEST = 3  # steps of a loop
_PERIODS, _LAGS = 40, 12  # periods that are tried; how often three signs may occur in one
_ROUNDS = 5  # of looking for stretches in what is left
_TRIMS = sorted(product(range(3), repeat=2), key=sum)  # steps left out at either end
_INDEXED = {"getitem", "scatter", "put"}
_ARITHMETIC = {"add", "subtract", "multiply", "divide"}

Records = Sequence[Recorded]
Part = tuple[Piece, Recorded, Sequence[Recorded]]  # of an array: what goes there, with its index


class _UnlikeError(Exception):
    """The steps of a block differ by more than a loop can follow."""


@dataclass(eq=False)
class Loop:
    """A block that is written once and runs ``count`` times.

    Attributes:
        body: what a step computes, in order.
        carried: for each value that comes from the step before: what stands for it in the body,
            its value at first, and what replaces it at the end of a step.
        inner: all that the body is made of.
        within: what the steps computed before we found the loop.
        variable: the name that counts the steps.
        counts: (a, b) if that is a i + b in step i.
    """

    count: int
    body: list[Recorded] = field(default_factory=list)
    carried: list[tuple[Recorded, Recorded, Recorded]] = field(default_factory=list)
    inner: list[Recorded] = field(default_factory=list)
    within: list[Recorded] = field(default_factory=list)
    variable: str = ""
    counts: tuple[int, int] = (1, 0)

    def count_with(self, name: Callable[[], str]) -> str:
        """Choose what the variable counts, and write the head of the loop."""
        steps = Counter(
            (step.slope, step.start) for x in self.inner for step in changing(dict(x.options))
        )
        unit = {c: n for c, n in steps.items() if abs(c[0]) == 1}
        self.counts = a, b = max(unit, key=lambda c: (unit[c], c)) if unit else (1, 0)
        self.variable = name() if steps else "_"
        stop = b + a * self.count
        if a < 0:
            turned = f"reversed(range({self.count}))"
            return turned if stop == -1 else f"range({b}, {stop}, -1)"
        return f"range({b}, {stop})" if b else f"range({stop})"


@dataclass(frozen=True)
class Step:
    """The whole number ``slope`` i + ``start`` in step i of a loop."""

    loop: Loop
    slope: int
    start: int

    def __str__(self) -> str:
        a, b = self.loop.counts
        times = self.slope * a  # a is 1 or -1
        more = self.start - times * b
        text = self.loop.variable if abs(times) == 1 else f"{abs(times)} * {self.loop.variable}"
        if times < 0:
            return f"{more} - {text}" if more else f"-{text}"
        return text + (f" {'+' if more > 0 else '-'} {abs(more)}" if more else "")


def changing(x: Any) -> Iterator[Step]:
    """Yield the numbers in the options of an operation that change with the step."""
    if isinstance(x, Step):
        yield x
    elif isinstance(x, slice):
        yield from changing((x.start, x.stop, x.step))
    elif isinstance(x, dict | tuple):
        for part in x.values() if isinstance(x, dict) else x:
            yield from changing(part)


def is_inline(x: Recorded) -> bool:
    """Return whether ``x`` is no step of its own: it is written out wherever it is read."""
    return (
        x.op in ("input", "constant", "float", "item")
        or (x.op == "broadcast_to" and x.args[0].is_constant)
        or (x.op == "transpose" and x.option("axes") is None)
        or (x.op == "getitem" and len(x.args) == 1 and isinstance(x.option("index"), int))
    )


def roll(
    given: Sequence[Recorded], first: Sequence[Recorded], demanded: Sequence[Recorded]
) -> None:
    """Put loops in the place of blocks that repeat, in the graph of what is ``given``.

    Args:
        given: values that are read from outside.
        first: those that are computed before all others.
        demanded: values that no loop computes.
    """
    before = [(x, x.op, x.args, x.options, x.place) for x in reached(given)]

    def restore() -> None:
        for x, op, args, options, place in before:
            x.op, x.args, x.options, x.place = op, args, options, place

    def attempt(whole: Sequence[Recorded], sinks: bool) -> int:
        restore()
        unfolded = list(map(_Unfolded, whole))
        values, forward = in_order(reached(given), first)
        values = _sunk(values, forward, set(demanded)) if sinks else values
        for i, x in enumerate(values):
            x.place = i
        found = _Roller(given, set(demanded)).roll(values, forward)
        for each in unfolded:
            each.undo()
        return sum(map(_size, reached(given))) if found else len(before)

    plans: list[tuple[int, Sequence[Recorded], bool]] = [(len(before), [], False)]
    for sinks in (False, True):
        plans.append((attempt([], sinks), [], sinks))
        whole = [x for x in reached(given) if x.op == "assemble" and _gathers(x)]
        if whole:
            plans.append((attempt(whole, sinks), whole, sinks))
    best = min(plans, key=lambda plan: plan[0])
    if 4 * best[0] > 3 * len(before):
        restore()
    elif best is not plans[-1]:
        attempt(*best[1:])


def _size(x: Recorded) -> int:
    return 1 + len(x.option("loop").inner) if x.op == "loop" else 1


def _gathers(x: Recorded) -> bool:
    """Return whether an array is made of what the steps of a loop have computed."""
    steps = {y.option("at") for z in x.args for y in _read(z) if y.op == "item"}
    return len(steps) >= FEWEST


# --- the order of computing ---------------------------------------------------------------------


def _sunk(values: Sequence[Recorded], forward: int, stay: Container[Recorded]) -> list[Recorded]:
    """Move values of the backward pass to where they are read, if less is held meanwhile.

    A pass backward computes what a step sends to the step before when it comes by. The first step
    has none before, and so would not be like the others.
    """
    first: dict[Recorded, int] = {}  # where a value is read first, and last
    last: dict[Recorded, int] = {}
    reader: dict[Recorded, Recorded] = {}
    moved: dict[Recorded, list[Recorded]] = {}
    own = set(values[forward:])
    for i, x in reversed(list(enumerate(values[forward:]))):
        at = i
        if x in reader and x not in stay and x.args:
            at = first[x]
            longer = sum(max(0, at - max(i, last.get(y, i))) for y in {*x.args} & own)
            if is_inline(x) or longer < at - i:
                moved.setdefault(reader[x], []).append(x)
            else:
                at = i
        for y in x.args:
            if at <= first.get(y, at):
                first[y], reader[y] = at, x
            last[y] = max(last.get(y, at), last.get(x, at) if is_inline(x) else at)
    order = list(values[:forward])
    away = {x for some in moved.values() for x in some}
    stack = [x for x in reversed(values[forward:]) if x not in away]
    while stack:
        x = stack.pop()
        if x in moved:
            stack += (x, *moved.pop(x))
        else:
            order.append(x)
    return order


class _Unfolded:
    """An array made of parts as a chain of operations, which can be undone."""

    def __init__(self, x: Recorded) -> None:
        self.x, self._before = x, (x.op, x.args, x.options)
        self.made: list[Recorded] = []
        base, pieces = taken_apart(x)
        terms: dict[str, list[Part]] = {}
        for piece, a, parts in pieces:
            key = f"{piece.index!r} {[y.place for y in parts]} {_kind(a)}"
            terms.setdefault(key, []).append((piece, a, parts))
        ends = [self._added_up(each) for each in terms.values()]
        apart = not any(piece.parts for piece, *_ in ends)
        apart = apart and lie_apart(x.shape, [piece.index for piece, *_ in ends])
        if apart and not base:
            ends.sort(key=lambda each: each[1].place)
        held = self._new("assemble", [y for _, y in base], x, x.place - 0.5)
        held.options = (("base", tuple(sign for sign, _ in base)), ("pieces", ()))
        held.place = max((y.place for y in held.args), default=-1) + self._more()
        for i, (piece, a, parts) in enumerate(ends):
            more = bool(base or (i and not apart))
            place = max(y.place for y in (held, a, *parts))
            options = {"index": piece.index, "sign": piece.sign, "is_more": more}
            held = self._new("put", (held, a, *parts), x, place, **options)
        last = self.made.pop()
        x.op, x.args, x.options, x.place = last.op, last.args, last.options, last.place

    def _more(self) -> float:
        return 1e-6 * (1 + len(self.made))

    def _new(
        self, op: str, args: Sequence[Recorded], like: Recorded, place: float, **options: Any
    ) -> Recorded:
        x = Recorded(like.tape, op, tuple(args), tuple(options.items()), like.example)
        x.region, x.place = like.region, place + self._more()
        self.made.append(x)
        return x

    def _added_up(self, terms: Sequence[Part]) -> Part:
        (piece, total, parts), *rest = terms
        for other, a, _ in rest:
            op = "add" if other.sign == piece.sign else "subtract"
            total = self._new(op, (total, a), total, max(total.place, a.place))
        return piece, total, parts

    def undo(self) -> None:
        """Make the array at once, unless a loop has taken a part of the chain."""
        if not any(y.op == "item" for y in (self.x, *self.made)):
            self.x.op, self.x.args, self.x.options = self._before


# --- blocks that repeat -------------------------------------------------------------------------


class _Roller:
    """Puts loops in the place of repeated blocks.

    Args:
        outputs: what is given, and what is demanded of.
        demanded: values that no loop computes.
    """

    def __init__(self, outputs: Sequence[Recorded], demanded: Container[Recorded]) -> None:
        self._outputs, self._demanded = set(outputs), demanded
        self.addresses: dict[Recorded, dict[Recorded, int]] = {}  # where loops have it: at step i
        self.owner: dict[Recorded, Recorded] = {}  # the loop of a value in its body

    def roll(self, values: Sequence[Recorded], forward: int) -> bool:
        """Find loops among values, so many of them forward, and return whether there are any."""
        border = sum(not is_inline(x) for x in values[:forward])
        steps = [x for x in values if not is_inline(x)]
        self._place = {x: i for i, x in enumerate(steps)}
        self._last = dict.fromkeys(steps, 0)
        self._reads = Counter[Recorded]()
        for x in values:
            for y in x.args if not is_inline(x) else ():
                for z in _bases(y):
                    self._reads[z] += 1
                    if z in self._last:
                        self._last[z] = self._place[x]
        for x in self._outputs:
            for y in _bases(x):
                self._last[y] = len(steps)
                self._reads[y] += 1
        numbers: dict[Any, int] = {}
        signs = [
            -i if x in self._demanded else numbers.setdefault(_sign(x), len(numbers) + 1)
            for i, x in enumerate(steps)
        ]
        for part in (slice(border), slice(border, None)):
            self._within(steps[part], np.array(signs[part], int))
        return bool(self.owner)

    def _within(self, steps: Records, signs: np.ndarray) -> None:
        """Roll the best stretches, in their order: a loop may read what those before have kept."""
        failed: set[tuple[int, int, int]] = set()
        for _ in range(_ROUNDS):
            chosen: list[tuple[int, int, int]] = []
            free = np.ones(len(steps), bool)
            for run in _runs(signs):
                start, _, length = run
                if run not in failed and free[start : start + length].all():
                    free[start : start + length] = False
                    chosen.append(run)
            if not chosen:
                return
            for run in sorted(chosen):
                if (found := self._found(steps, *run)) is None:
                    failed.add(run)
                else:
                    signs[found] = -len(self._place) - np.arange(found.stop - found.start)

    def _found(self, steps: Records, start: int, period: int, length: int) -> slice | None:
        """Roll a stretch of operations that has a period, and return where the loop lies."""
        count, rest = divmod(length, period)
        begins = sorted(range(rest + 1), key=lambda i: self._carried(steps, start + i, period))
        for begin, (head, tail) in product(begins[:2], _TRIMS):
            if (n := count - head - tail) < FEWEST:
                continue
            first = start + begin + head * period
            rows = [steps[first + t * period :][:period] for t in range(n)]
            if not self._is_worthwhile(rows):
                return None
            try:
                self._put(_Mould(rows, self))
            except _UnlikeError:
                continue
            return slice(first, first + n * period)
        return None

    def _carried(self, steps: Records, start: int, period: int) -> int:
        """Count what one step would hand to the next if steps began here."""
        border = start + period
        return sum(border <= self._last[x] < border + period for x in steps[start:border])

    def _is_worthwhile(self, rows: Sequence[Records]) -> bool:
        """Return whether a loop takes fewer lines than its steps do, by an estimate."""
        row = rows[len(rows) // 2]
        end = self._place[rows[-1][-1]]
        lines = sum(self._reads[x] > 1 or x.op in ("put", "assemble") for x in row) or 1
        kept = sum(self._last[x] > end for x in row)
        return 1.3 * (lines + kept + 2) < len(rows) * lines

    def _put(self, mould: "_Mould") -> None:
        loop, rows = mould.loop, mould.rows
        x = Recorded(rows[0][0].tape, "loop", tuple(mould.outside), (("loop", loop),), 0.0)
        x.place = rows[0][0].place - 0.5
        column = {of: j for j, of in enumerate(loop.body)}
        for state, init, then in loop.carried:
            self.owner[state] = x
            self.addresses.setdefault(init, {})[state] = 0
            for i, row in enumerate(rows[:-1] if then in column else (), 1):
                self.addresses.setdefault(row[column[then]], {})[state] = i
        for i, row in enumerate(rows):
            for of, y in zip(loop.body, row, strict=True):
                self.owner[of] = x
                self.addresses.setdefault(y, {})[of] = i
                y.op, y.args, y.options = "item", (x,), (("of", of), ("at", i))


def _read(x: Recorded) -> Iterator[Recorded]:
    """Yield the operations, and the values of loops, that are read where ``x`` is."""
    if x.op == "item" or not is_inline(x):
        yield x
    else:
        for y in x.args:
            yield from _read(y)


def _bases(x: Recorded) -> Iterator[Recorded]:
    """Yield the operations that are read where ``x`` is."""
    return (y for y in _read(x) if y.op != "item")


def _sign(x: Recorded) -> Any:
    options = options_key(x.options)
    if x.op in _INDEXED:
        options = re.sub(r"-?\d+", "0", repr(options))
    elif x.op == "assemble":
        options = repr(options)
    return x.op, _kind(x), bool(x.region), len(x.args), options


def _is_table(x: Recorded) -> bool:
    return x.op == "counter" or (x.op == "getitem" and x.args[0].op == "table")


def _check_numbers(column: Records) -> None:
    """Check that plain numbers which change with the step may be read from a table.

    A number may decide how an operation is written, as 1/3, by which we divide.
    """
    for x in column:
        for c in (float(y.example) for y in x.args if y.is_constant and not y.is_array):
            is_inverse = x.op == "multiply" and 0 < c < 1 and 1 / round(1 / c) == c
            if x.op not in _ARITHMETIC or not math.isfinite(c) or is_inverse:
                raise _UnlikeError


def _kind(x: Recorded) -> Any:
    return x.shape, x.dtype, x.is_array


def _runs(signs: np.ndarray) -> list[tuple[int, int, int]]:
    """List stretches with a period: where they begin, the period and their length."""
    found = []
    for period in _periods(signs):
        differ = np.flatnonzero(signs[period:] != signs[:-period])
        ends = np.concatenate([[-1], differ, [len(signs) - period]])
        for i in np.flatnonzero(np.diff(ends) > (FEWEST - 1) * period):
            start, length = int(ends[i]) + 1, int(ends[i + 1] - ends[i]) - 1 + period
            found.append((start, period, length))
    return sorted(found, key=lambda run: (run[1] - run[2] + run[2] % run[1], run[1]))


def _periods(signs: np.ndarray) -> list[int]:
    """List the distances at which most signs return."""
    triples = np.stack([signs, np.roll(signs, -1), np.roll(signs, -2)], axis=1)
    kinds = np.unique(triples, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(kinds, kind="stable")
    counts = np.zeros(len(signs) // FEWEST + 1, int)
    for lag in range(1, _LAGS + 1):
        near, far = order[:-lag], order[lag:]
        apart = (far - near)[kinds[near] == kinds[far]]
        counts += np.bincount(apart[apart < len(counts)], minlength=len(counts))
    best = np.argsort(-counts * np.arange(len(counts)), kind="stable")[:_PERIODS]
    return [int(period) for period in best if counts[period] >= FEWEST - 1]


class _Mould:
    """A loop whose steps give these rows of operations.

    Raises:
        _UnlikeError: there is none.
    """

    def __init__(self, rows: Sequence[Records], roller: _Roller) -> None:
        self.rows, self.loop = rows, Loop(len(rows))
        self.outside: dict[Recorded, None] = {}
        self._roller = roller
        self._at = {x: (i, j) for i, row in enumerate(rows) for j, x in enumerate(row)}
        self._made: dict[tuple[Recorded, ...], Recorded] = {}
        self._before: dict[tuple[int, int], Recorded] = {}  # values of column j at steps below 0
        self._states: dict[tuple[int, int], Recorded] = {}  # column j, so many steps before
        columns = list(zip(*rows, strict=True))
        self._examples = [column[-1] for column in columns]
        for column in columns:
            self.loop.body.append(self._of_alike(column))
        self._carry()
        self.loop.inner += [*self.loop.body, *self._made.values(), *self._states.values()]
        self.loop.within += [x for row in rows for x in row]

    def _new(self, op: str, args: tuple[Recorded, ...], like: Recorded, **options: Any) -> Recorded:
        x = Recorded(like.tape, op, args, tuple(options.items()), like.example)
        x.region = like.region
        return x

    def _of_alike(self, column: Records) -> Recorded:
        """Make the operation of which each value is the result in its step."""
        x = column[-1]
        args = tuple(self._operand(each) for each in zip(*[y.args for y in column], strict=True))
        if any(_is_table(y) for y, z in zip(args, x.args, strict=True) if z.is_constant):
            _check_numbers(column)
        named = [dict(y.options) for y in column]
        options = {
            key: self._option([o[key] for o in named], x.op in _INDEXED and key == "index")
            for key in named[0]
        }
        return self._new(x.op, args, x, **options)

    def _option(self, each: Sequence[Any], may_change: bool) -> Any:
        first = each[0]
        if all(options_key(x) == options_key(first) for x in each):
            return first
        if not may_change or len(set(map(type, each))) > 1:
            raise _UnlikeError
        if type(first) is int:
            return self._step(each)
        if isinstance(first, slice):
            ends = zip(*[(x.start, x.stop, x.step) for x in each], strict=True)
            return slice(*(self._option(end, True) for end in ends))
        if type(first) is tuple and len(set(map(len, each))) == 1:
            return tuple(self._option(part, True) for part in zip(*each, strict=True))
        raise _UnlikeError

    def _step(self, each: Sequence[Any]) -> Step:
        slope = each[1] - each[0]
        if any(x != each[0] + slope * i for i, x in enumerate(each)):
            raise _UnlikeError
        return Step(self.loop, int(slope), int(each[0]))

    def _operand(self, each: tuple[Recorded, ...]) -> Recorded:
        """Write what an operation reads in each step as one value."""
        if each in self._made:
            return self._made[each]
        last, first = self._at.get(each[-1]), each[0]
        if last is not None:
            return self._own(each, last[1], len(each) - 1 - last[0])
        if any(x in self._at for x in each):
            raise _UnlikeError
        if all(x is first for x in each):
            self.outside[first] = None
            return first
        if len(set(map(_kind, each))) > 1:
            raise _UnlikeError
        found = self._kept(each)
        if found is None and all(x.is_constant for x in each):
            found = self._constants(each)
        if found is None:
            if first.op in ("input", "constant", "item") or not is_inline(first):
                raise _UnlikeError
            if len({(x.op, len(x.args)) for x in each}) > 1:
                raise _UnlikeError
            found = self._of_alike(each)
        self._made[each] = found
        return found

    def _own(self, each: Records, j: int, back: int) -> Recorded:
        """Read column j of the step that is ``back`` steps before."""
        like = _kind(self._examples[j])
        for i, x in enumerate(each):
            if i >= back and self._at.get(x) != (i - back, j):
                raise _UnlikeError
            if i < back and (x in self._at or self._before.setdefault((j, i - back), x) is not x):
                raise _UnlikeError
            if i < back and _kind(x) != like:
                raise _UnlikeError
        if not back:
            if j >= len(self.loop.body):
                raise _UnlikeError
            return self.loop.body[j]
        return self._state(j, back)

    def _state(self, j: int, back: int) -> Recorded:
        if (j, back) not in self._states:
            self._states[j, back] = self._new("state", (), self._examples[j])
        return self._states[j, back]

    def _carry(self) -> None:
        deepest: dict[int, int] = {}
        for j, back in self._states:
            deepest[j] = max(back, deepest.get(j, 0))
        for j, back in deepest.items():
            for k in range(back, 0, -1):
                then = self._state(j, k - 1) if k > 1 else self.loop.body[j]
                init = self._before[j, -k]
                self.outside[init] = None
                self.loop.carried.append((self._state(j, k), init, then))

    def _kept(self, each: Records) -> Recorded | None:
        """Read what another loop has computed in its step that belongs to this one."""
        addresses = [self._roller.addresses.get(x, {}) for x in each]
        for of in addresses[0]:
            if all(of in found for found in addresses):
                try:
                    step = self._step([found[of] for found in addresses])
                except _UnlikeError:
                    continue
                self.outside[self._roller.owner[of]] = None
                return self._new("kept", (self._roller.owner[of],), each[-1], of=of, at=step)
        return None

    def _constants(self, each: Records) -> Recorded:
        examples, last = [x.example for x in each], each[-1]
        if not last.is_array:
            if type(last.example) is float and all(float(x).is_integer() for x in examples):
                try:
                    return self._new("counter", (), last, at=self._step(examples))
                except _UnlikeError:
                    pass
            if type(last.example) is not float or 2 * len(set(examples)) <= len(each):
                raise _UnlikeError
        rows: Any = np.stack(examples) if last.is_array else tuple(examples)
        table = Recorded(last.tape, "constant" if last.is_array else "table", (), (), rows)
        table.place = self.rows[0][0].place - 0.75
        self.outside[table] = None
        at = Step(self.loop, 1, 0)
        return self._new("getitem", (table,), last, index=at)
