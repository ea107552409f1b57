"""What the doctor tries on numbers: milestones 1 to 4, each from small expressions to large."""

import contextlib
import functools
import gc
import math
import operator
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import numpy as np

from chainlab.doctor.probe import (
    Experiment,
    NotThereError,
    Observation,
    Probes,
    TimeIsUpError,
    as_numbers,
    clock,
)

OVERWRITES = "Museum 1: = for +="
UNSORTED = "Museum 2: no topological order"
STALE = "Museum 3: gradients of the pass before"
ONE_SHARE = "Museum 5: a set of parents"
RECURSION = "Museum 6: recursion"
FORGETS = "Museum 7: the gradient from above is forgotten"
EXP = "Museum 7: the local gradient of exp"
ZERO_POWER = "Museum 8: nothing to the power of nothing"
CHANGED = "Museum 9: data changed between forward and backward"
SLOW = "time grows faster than the graph"
EQUAL = "Museum, the mystery: nodes of equal value taken for one"
ONE_ARRAY = "two nodes share one array of gradients"
ANOTHER_GRAPH = "the second graph is not like the first"
EMPTIED = "reading grad empties it"
UNSEEDED = "the root is not seeded with 1"
SILENT = "no gradient reaches the leaves"
NUMBER = "a number beside a node"
WHOLE = "whole numbers"
OVERFLOW = "overflow"
NEGATIVE = "powers of negative numbers"
TOGETHER = "operations that are right alone, and wrong together"
FLOAT32 = "numbers of 32 bits"

# What an engine has, as the report counts it.
PASS, ORDER, SHARED, AGAIN = "the pass", "the order", "values used twice", "a second pass"
WITH_NUMBERS, OF_WHOLE = "numbers beside nodes", "whole numbers"

FUNCTIONS = ("exp", "log", "tanh", "relu", "sigmoid", "sqrt", "sin", "cos")
_DEPTH = 5_000  # beyond Python's recursion limit, and the larger limit of notebooks
_LEAVES = 600  # of a graph whose pass is timed, and four times as many
_LONG = 1.0  # seconds: after a longer pass, neither this graph nor a larger one is timed
_DOUBT = 2.0  # seconds in which an engine that looks slow may turn out quick, on a busy machine
_INSTANT = 1e-3  # seconds: a shorter time says nothing about how time grows
_FACTOR = 9.0  # between 4, if time grows with the graph, and 16, if it grows with the square
_kept: list[Any] = []  # nodes that a browser cannot free

NUMBERS = Probes()
_try, _program = NUMBERS.expression, NUMBERS.program
_INTEGERS = "where gradients and data are made: an int must not make them whole"

# --- what every gradient depends on -------------------------------------------------------------

_HALF, _READ_TWICE = "a = 0.5", "y = a * b, each gradient read twice"
_ROOT, _LEAF = "y = a + b, y.grad", "y = a + b"
ROOTS = (_HALF, _READ_TWICE, _ROOT, _LEAF)


def _small_pass(engine: Any, f: Callable[[Any, Any], Any]) -> tuple[Any, list[Any]]:
    leaves = [engine.leaf(3.0), engine.leaf(5.0)]
    with engine.forward():
        y = f(*leaves)
    engine.backward(y)
    return y, leaves


def _read_twice(engine: Any) -> Iterator[Observation]:
    alone = engine.leaf(3.0)
    with contextlib.suppress(Exception):
        alone.grad = 2.5
        if engine.gradient(alone) == 2.5:
            yield "a gradient of 2.5, read again", engine.gradient(alone), 2.5
    for leaf in _small_pass(engine, lambda a, b: a * b)[1]:
        first, second = engine.gradient(leaf), engine.gradient(leaf)
        before = None if first is None else as_numbers(first)
        if before is not None and before.size == 1 and before.any():
            yield "the gradient, read again", second, float(before.reshape(()))


def _root_gradient(engine: Any) -> tuple[Any, bool]:
    """Return the root's own gradient after a pass, and whether no leaf has a gradient."""
    y, leaves = _small_pass(engine, lambda a, b: a + b)
    with contextlib.suppress(NotThereError):
        leaves += _small_pass(engine, lambda a, b: a * b)[1]
    found = [engine.gradient(leaf) for leaf in leaves]
    return engine.gradient(y), all(g is None or g == 0 for g in found)


def _root(engine: Any) -> Iterator[Observation]:
    seed, silent = _root_gradient(engine)
    if silent:
        yield "dy/dy", seed, 1.0
    elif seed is not None and seed != 0:
        _, (a, b) = _small_pass(engine, lambda a, b: a + b)
        if engine.gradient(a) == engine.gradient(b) == seed:
            yield "dy/dy", seed, 1.0


def _leaf(engine: Any) -> Iterator[Observation]:
    if _root_gradient(engine)[1]:
        yield "dy/da", 0.0, 1.0


def _held(x: float) -> Experiment:
    return lambda engine: iter([("the value", engine.value(engine.leaf(x)), x)])


NUMBERS.subject = "leaves"
_program(_HALF, WHOLE, _INTEGERS, _held(0.5))
_program(_READ_TWICE, EMPTIED, "what reading does: grad has to be there for the next reader, which "
         "is += itself", _read_twice)  # fmt: skip
NUMBERS.subject = PASS
_program(_ROOT, UNSEEDED, "the start of the pass: the root's gradient is 1, and stays until it is "
         "sent", _root)  # fmt: skip
_program(_LEAF, SILENT, "what the operators keep: the operands themselves, not copies; and what is "
         "set to 0 after the pass", _leaf)  # fmt: skip

# --- milestone 1: numbers, + and * --------------------------------------------------------------

_RULE = "the rule of {0}: its value, and the local gradient of each operand"
_WITHIN = "the rule of {0}: its local gradient has to be multiplied by the gradient of the result"
_ORDER = "the order of the backward pass: a node sends once, after all that use it have sent to it"
SHARED_BY_TWO = "what two operations of one graph share: the order, an array, a cache"
_PRECISE = "where data are made: float64, Python's own, keeps 16 digits; float32 keeps 7"


def _within(
    text: str, names: str, at: tuple[Any, ...], rule: str, *needs: str, **more: Any
) -> None:
    more = {"subject": rule} | more
    _try(text, names, at, FORGETS, _WITHIN.format(rule), *needs,
         instead={"0": (UNSORTED, _ORDER)}, **more)  # fmt: skip


def _leaf_alone(engine: Any) -> Iterator[Observation]:
    a = engine.leaf(3.0)
    engine.backward(a)
    yield "dy/da", engine.gradient(a), 1.0


def _untouched(engine: Any) -> Iterator[Observation]:
    a, b, c = (engine.leaf(x) for x in (3.0, 5.0, 7.0))
    engine.backward(a * b)
    yield "dy/dc", engine.gradient(c), 0.0


_program("a = 0.1", FLOAT32, _PRECISE, _held(0.1), only_remark=True, demanded=True, rtol=1e-12,
         subject="leaves")  # fmt: skip
_try("a + b", "a b", (3, 5), "a rule: +", _RULE.format("+"), required=True, graded=True,
     subject="+")  # fmt: skip
_try("a * b", "a b", (3, 5), "a rule: *", _RULE.format("*"), required=True, graded=True,
     subject="*")  # fmt: skip
_within("(a + b) * c", "a b c", (2, 3, 7), "+", "a + b", "a * b", graded=True)
_within("(a * b) * c", "a b c", (2, 3, 7), "*", "a * b", graded=True)
_try("c * (a * b)", "a b c", (2, 3, 0), "a gradient of 0 taken for none",
     "tests such as `if self.grad` and `self.grad or 1.0`: 0 is a gradient, too",
     "(a * b) * c", graded=True)  # fmt: skip
_try("(a + b) * (c + d)", "a b c d", (2, 3, 7, 11), TOGETHER, SHARED_BY_TWO,
     "(a + b) * c", "(a * b) * c", graded=True)  # fmt: skip
_program("y = a, a leaf", "a pass that starts at a leaf",
         "the seed: the gradient of the root is 1, also where it is a leaf",
         _leaf_alone)  # fmt: skip
_program("y = a * b, and c takes no part", "what was not used takes part",
         "the gradient before any pass: 0 (or None)", _untouched, "a * b")  # fmt: skip
_try("(a * b) * c", "a b c", (2, 3, 0.5), WHOLE, _INTEGERS, "(a * b) * c",
     corner=True, whole=True, subject=OF_WHOLE)  # fmt: skip

# --- milestone 2: values used twice, and the order ----------------------------------------------

NUMBERS.milestone = 2
NUMBERS.subject = SHARED
KEPT = "where a share is kept: a copy, for += changes every node that holds the array"
SEND = "where a node sends to its parents: parent.grad += share, not ="
_ROOM = "what holds the operands or their shares: a set or a dictionary has room for one of two"
_BASE = ("a + b", "a * b", "(a + b) * c", "(a * b) * c", "a * b + a * c")


def _in_place(a: Any, b: Any) -> Any:
    y = a
    y += b
    return y * a


def _dead_end(a: Any, b: Any) -> Any:
    u = a * b
    u * u
    return u + b


def _draw_tangle(at: Sequence[float], operations: int) -> list[tuple[str, int, int]]:
    """Draw sums and products, each of a late node and any other, whose values stay near 1."""
    draw, values, drawn = random.Random(0).random, list(at), list[tuple[str, int, int]]()
    while len(drawn) < operations:
        op = "+" if draw() < 0.5 else "*"
        i, j = len(values) - 1 - int(3 * draw()), int(len(values) * draw())
        value = values[i] + values[j] if op == "+" else values[i] * values[j]
        if 0.1 < value < 10:
            values.append(value)
            drawn.append((op, i, j))
    return drawn


_AT_TANGLE = (0.5, 0.7, 1.1)
_TANGLE = _draw_tangle(_AT_TANGLE, 24)


def _tangled(*leaves: Any) -> Any:
    """Compute the drawn operations, and add up the nodes that no other reads: none is left out."""
    nodes = list(leaves)
    for op, i, j in _TANGLE:
        nodes.append(nodes[i] + nodes[j] if op == "+" else nodes[i] * nodes[j])
    read = {place for _, i, j in _TANGLE for place in (i, j)}
    ends = [node for place, node in enumerate(nodes) if place not in read]
    return functools.reduce(operator.add, ends)


class _EnoughError(BaseException):
    """More lines of Python have run than are worth counting."""


def _lines(run: Callable[[], Any], most: float) -> float:
    """Count the lines of Python that run, up to a bound: the same on every machine."""
    count = 0

    def look(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        if count > most:
            raise _EnoughError
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        run()
    except _EnoughError:
        return count
    finally:
        sys.settrace(before)
    return count


def _doubled(engine: Any) -> Iterator[Observation]:
    """Count lines: if they grow with the square of the nodes, that's slow, but the order holds."""
    most = 1e6
    for times in (10, 40):
        a = y = engine.leaf(1.0)
        with engine.forward():
            for _ in range(times):
                y = y + y
        lines = _lines(lambda y=y: engine.backward(y), most)  # type: ignore[misc]
        if lines > most:
            yield f"lines that run, {times} nodes", lines, most / 10
        most = 40 * lines + 1000
    end = as_numbers(engine.value(y))
    if end is not None and np.isinf(end).any():
        raise NotThereError("its numbers end below 2⁴⁰")
    yield "dy/da", engine.gradient(a), 2.0**40


def _deep(engine: Any) -> Iterator[Observation]:
    a, b = engine.leaf(1.0), engine.leaf(0.5)
    nodes = [a]
    try:
        with engine.forward():
            for _ in range(_DEPTH):
                nodes.append(nodes[-1] + b)
        engine.backward(nodes[-1])
        yield "dy/da", engine.gradient(a), 1.0
    except BaseException as error:
        error.__traceback__ = None  # Its frames hold nodes, which would outlive the list of them.
        raise
    finally:
        _free_graph(nodes)


def _free_graph(nodes: list[Any]) -> None:
    """Free a long graph node by node: all at once takes more stack than a browser gives.

    The root goes first, while its operands are still in the list. But an engine that keeps nodes in
    a dictionary or a set frees the root last, after all that it leads to: then they stay.
    """
    referrers = gc.get_referrers(nodes[-1]) if sys.platform == "emscripten" else []
    if any(isinstance(thing, dict | set) for thing in referrers):
        _kept.extend(nodes)
    while nodes:
        nodes.pop()


def _seconds(engine: Any, leaves: int, times: int) -> float:
    """Return the time of the backward passes of several sums."""
    roots = []
    for _ in range(times):
        layer = [engine.leaf(1.0) for _ in range(leaves)]
        with engine.forward():
            while len(layer) > 1:
                odd = layer[len(layer) - len(layer) % 2 :]
                layer = [a + b for a, b in zip(layer[::2], layer[1::2], strict=False)] + odd
        roots += layer
    began = clock()
    for root in roots:
        engine.backward(root)
    return max(clock() - began, _INSTANT)


def _timed(engine: Any) -> Iterator[Observation]:
    """Time several passes and compare the least times: other programs can only make times larger.

    Four small sums are timed together. A clock that does not count processor time, as in a browser,
    then runs about as long for them as for a large one, and as many other programs disturb it.
    """
    _seconds(engine, _LEAVES, 1)  # within the examination's own bounds
    tracing, collecting = sys.gettrace(), gc.isenabled()
    sys.settrace(None)  # a count of lines would hide what compiled code costs
    gc.disable()
    few = many = math.inf
    began, rounds = clock(), 0
    try:
        while rounds < 7 or (rounds < 16 and clock() - began < _DOUBT):
            few = min(few, _seconds(engine, _LEAVES, 4) / 4)
            if few > _LONG:
                raise TimeIsUpError
            many = min(many, _seconds(engine, 4 * _LEAVES, 1))
            rounds += 1
            is_long = many > _LONG
            if many < _FACTOR * few and (is_long or rounds > 2):
                return
            if is_long and rounds > 1:
                break
    finally:
        sys.settrace(tracing)
        if collecting:
            gc.enable()
    yield "the time for four times as many nodes", many / few, 4.0


_try("a * b + a * c", "a b c", (2, 3, 5), OVERWRITES, SEND, "a + b", "a * b", "(a + b) * c",
     graded=True)  # fmt: skip


def _overwrites(op: str, *needs: str) -> None:
    """Try what an operand does with the inner share, after the outer product has sent its share."""
    needs = (f"a {op} b", "a * b", f"(a {op} b) * c", "a * b + a * c", *needs)
    for text in (f"a * (a {op} b)", f"a * (b {op} a)"):
        _try(text, "a b", (4, 9), OVERWRITES, SEND, *needs, subject=op)


_overwrites("+")
_overwrites("*")
ONCE_MORE = ("a * (a + b)", "a * (b + a)", "a * (a * b)", "a * (b * a)")
for _text in ("(a + b) + a", "a + (a + b)", "(b + a) + a", "a + (b + a)"):
    _try(_text, "a b", (2, 3), ONE_ARRAY, KEPT, "a + b", "(a + b) * c", "a * b + a * c",
         "a * (a + b)", "a * (b + a)")  # fmt: skip
_IN_PLACE = ("(a + b) + a", "a + (a + b)", "(b + a) + a", "a + (b + a)")
_try("a * a", "a", (3,), ONE_SHARE, _ROOM, "a * b", "a * (a * b)", "a * (b * a)",
     graded=True)  # fmt: skip
_try("a + a", "a", (3,), ONE_SHARE, _ROOM, "a + b", "a * (a + b)", "a * (b + a)",
     graded=True)  # fmt: skip
NUMBERS.subject = ORDER
_try("u = a * b, u * u", "a b", (2, 3), UNSORTED,
     "how often a node is visited: once, also where both operands are this node",
     "(a + b) * c", "(a * b) * c", "a * a", graded=True,
     f=lambda a, b: (u := a * b) * u)  # fmt: skip
_try("u = a * b, u + u * c", "a b c", (2, 3, 5), UNSORTED, _ORDER, *_BASE,
     f=lambda a, b, c: (u := a * b) + u * c, graded=True)  # fmt: skip
_try("u = a * b, u * c + u", "a b c", (2, 3, 5), UNSORTED, _ORDER,
     "u = a * b, u + u * c", *_BASE, f=lambda a, b, c: (u := a * b) * c + u,
     graded=True)  # fmt: skip
_program("a = a + a, 40 times", UNSORTED,
         "how often a node is visited: 2⁴⁰ paths lead through 40 nodes, and each is to send once",
         _doubled, "a + a", "u = a * b, u * u", "u = a * b, u + u * c",
         "u = a * b, u * c + u")  # fmt: skip
_try("a * b + c * d", "a b c d", (2, 2, 2, 2), EQUAL,
     "how visited nodes are known: by identity, not by value (__eq__ and __hash__)",
     "a + b", "a * b", "(a + b) * c")  # fmt: skip
_try("u = a * b, v = u * c, u * v + v * u", "a b c", (2, 3, 5), UNSORTED, _ORDER,
     "u = a * b, u + u * c", "u = a * b, u * c + u", "a * b + c * d", *_BASE, *ONCE_MORE,
     f=lambda a, b, c: (u := a * b) * (v := u * c) + v * u, graded=True)  # fmt: skip
# Its error may be that of 24 roundings in float16; a share that is sent early costs more.
_try(f"{len(_TANGLE)} sums and products in a tangle", "a b c", _AT_TANGLE, UNSORTED, _ORDER,
     "u = a * b, v = u * c, u * v + v * u", "u = a * b, u * u", "a * b + c * d",
     "(a + b) * (c + d)", "a * a", "a + a", *_BASE, *ONCE_MORE, *_IN_PLACE, f=_tangled,
     rtol=2e-2)  # fmt: skip
_try("y = a, y += b, y * a", "a b", (2, 3), "+= changes the operand",
     "__iadd__: leave it out, and Python makes a new node with __add__",
     "(a + b) * c", "a * b + a * c", *ONCE_MORE, f=_in_place, refused="+= is refused",
     subject="+= of a node")  # fmt: skip
_try("u = a * b, u * u unused, u + b", "a b", (2, 3), "what was not used takes part",
     "what the pass visits: only what the result was computed from",
     "a + b", "a * b", "a * b + a * c", *ONCE_MORE, f=_dead_end)  # fmt: skip
_program(f"{_DEPTH:,} additions in a row", RECURSION,
         "the sort and the pass: a list as the stack, no function that calls itself", _deep,
         "a + b", "(a + b) * c", *_IN_PLACE, corner=True, subject="deep graphs")  # fmt: skip
_program(f"a sum of {_LEAVES:,} leaves, and of {4 * _LEAVES:,}, in pairs", SLOW,
         "how visited nodes are looked up: in a set, not in a list", _timed,
         "a + b", "(a + b) * c", corner=True,
         refused="several graphs at once are refused", subject="large graphs")  # fmt: skip

# --- milestone 3: once more, and clearing -------------------------------------------------------

NUMBERS.milestone = 3
NUMBERS.subject = AGAIN


def clean_pass(engine: Any, root: Any, *leaves: Any) -> None:
    """Run a backward pass after the gradients of the leaves are cleared."""
    for leaf in leaves:
        engine.clear(leaf)
    engine.backward(root)


def _second_pass(engine: Any) -> Iterator[Observation]:
    a, b, c = (engine.leaf(x) for x in (2.0, 3.0, 7.0))
    y = (a * b) * c
    for which in ("first", "second"):
        clean_pass(engine, y, a, b, c)
        yield f"dy/da of the {which} pass", engine.gradient(a), 21.0


def _set_to_zero(engine: Any) -> Iterator[Observation]:
    """Set gradients to 0.0 between passes, unless the adapter clears them in a way of its own."""
    if engine.clears_by_assignment:
        a, b, c = (engine.leaf(x) for x in (2.0, 3.0, 7.0))
        y = (a * b) * c
        engine.backward(y)
        a.grad = b.grad = c.grad = 0.0
        engine.backward(y)
        yield "dy/da of the second pass", engine.gradient(a), 21.0


def _goes_on(engine: Any) -> Iterator[Observation]:
    a, b, c = (engine.leaf(x) for x in (2.0, 3.0, 7.0))
    u = a * b
    engine.backward(u)
    clean_pass(engine, u * c, a, b, c)
    yield "dy/da", engine.gradient(a), 21.0


def _grows(engine: Any) -> Iterator[Observation]:
    a, b, c = (engine.leaf(x) for x in (2.0, 3.0, 7.0))
    u = a * b
    y = u * c
    for text, root, right in (
        ("y", y, 21.0), ("y, again", y, 21.0), ("u", u, 3.0), ("y, after u", y, 21.0)
    ):  # fmt: skip
        clean_pass(engine, root, a, b, c)
        yield f"dy/da of the pass from {text}", engine.gradient(a), right
    clean_pass(engine, y * u, a, b, c)
    yield "dy/da of the pass from y * u", engine.gradient(a), 252.0


def _adds_up(engine: Any) -> Iterator[Observation]:
    a, b, c = (engine.leaf(x) for x in (2.0, 3.0, 7.0))
    engine.backward(a * b)
    engine.backward(a * c)
    yield "d(y + z)/da", engine.gradient(a), 10.0


def _loop(engine: Any) -> Iterator[Observation]:
    w, x, t = engine.leaf(1.0), engine.leaf(3.0), engine.leaf(-1.0)
    for step in range(1, 4):
        for leaf in (w, x, t):
            engine.clear(leaf)
        e = w * x + t
        engine.backward(e * e)
        yield f"dy/dw of graph {step}", engine.gradient(w), 12.0


def _updated(engine: Any) -> Iterator[Observation]:
    """Compute once more after a leaf has changed, as a step of training does."""
    w, x = engine.leaf(1.0), engine.leaf(3.0)
    for to in (1.0, 2.0):
        if to > 1.0:
            try:
                engine.update(w, to)
            except Exception as error:
                raise NotThereError(f"its data cannot be set: {error}") from None
            if engine.value(w) != to:
                raise NotThereError("its data cannot be set")
        for leaf in (w, x):
            engine.clear(leaf)
        y = w * x
        engine.backward(y)
        yield f"y at w = {to:g}", engine.value(y), 3.0 * to
        yield f"dy/dx at w = {to:g}", engine.gradient(x), to


def _changed(engine: Any) -> Iterator[Observation]:
    a, b = engine.leaf(2.0), engine.leaf(3.0)
    u = a * b
    y = u * u
    try:
        u.data = 1.0
        engine.backward(y)
    except Exception:  # it has noticed
        return
    yield "dy/da", engine.gradient(a), 36.0


_AFRESH = "the start of a pass: interior nodes begin at 0, and the root at 1"
_TWICE = "y = (a * b) * c, backward twice, leaves cleared between"
_CLEARED = {"0": ("a second pass sends nothing", "what a pass throws away: the next needs it, too")}
_program(_TWICE, STALE, _AFRESH, _second_pass, "(a * b) * c", instead=_CLEARED, demanded=True,
         refused="a second pass is refused")  # fmt: skip
_program("u = a * b, backward from u, then from u * c", STALE, _AFRESH, _goes_on,
         _TWICE, "(a * b) * c", instead=_CLEARED, demanded=True,
         refused="a second pass is refused")  # fmt: skip
_program("u = a * b, y = u * c, backward from y twice, u, y and y * u", STALE, _AFRESH, _grows,
         _TWICE, "u = a * b, backward from u, then from u * c", "u = a * b, u + u * c",
         "u = a * b, u * c + u", *ONCE_MORE,
         instead=_CLEARED, demanded=True, refused="a second pass is refused")  # fmt: skip
_program("y = (a * b) * c, backward twice, leaf.grad = 0.0 between",
         "a gradient cannot be set to 0.0",
         "what the pass does with a leaf's gradient: the number 0.0 has to do",
         _set_to_zero, _TWICE, only_remark=True, demanded=True)  # fmt: skip
_program("y = a * b, z = a * c, backward from both", "gradients of two losses do not add up",
         "what a pass sets to 0: leaves accumulate, so that batches can be split",
         _adds_up, "a * b", "a * b + a * c", only_remark=True, demanded=True)  # fmt: skip
_OUTLIVES = "what outlives a graph: lists of nodes, counters, caches"
_program("(w x + t)² at w = 1, three graphs in a row", ANOTHER_GRAPH, _OUTLIVES, _loop,
         "a + b", "a * b", "u = a * b, u * u", "(a * b) * c", "(a + b) * c")  # fmt: skip
_program("y = w * x, then w.data = 2 and y = w * x again", ANOTHER_GRAPH, _OUTLIVES, _updated,
         "a * b", "(w x + t)² at w = 1, three graphs in a row")  # fmt: skip
_program("u = a * b, y = u * u, then u.data = 1", CHANGED,
         "nothing counts the writes to data: an error would be better than a wrong number",
         _changed, "a * b", "u = a * b, u * u", only_remark=True,
         subject="writes to data")  # fmt: skip

# --- milestone 4: more rules, and constants -----------------------------------------------------

NUMBERS.milestone = 4
NUMBERS.subject = WITH_NUMBERS
_PLAIN = "the operator for a plain number on this side: the number is a constant"
_POWER = "the rule of **: n a^(n - 1) for every n"

for _text, _need in [
    ("a + 2", "a + b"), ("2 + a", "a + b"), ("a * 2", "a * b"), ("2 * a", "a * b")
]:  # fmt: skip
    _try(_text, "a", (4,), NUMBER, _PLAIN, _need, required=True, graded=True)
_try("np.float64(2) * a", "a", (4,), NUMBER, _PLAIN, "a * b")
_try("-a", "a", (3,), "a rule: unary -", _RULE.format("unary -"), required=True, graded=True,
     subject="unary -")  # fmt: skip
_try("a - b", "a b", (3, 5), "a rule: -", _RULE.format("-"), "a + b", required=True, graded=True,
     subject="-")  # fmt: skip
_try("a / b", "a b", (3, 5), "a rule: /", _RULE.format("/"), "a * b", required=True, graded=True,
     subject="/")  # fmt: skip
_try("a ** 3", "a", (2,), "a rule: **", _RULE.format("**"), required=True, graded=True,
     subject="**")  # fmt: skip
for _text, _need in [
    ("a - 2", "a - b"), ("2 - a", "a - b"), ("a / 2", "a / b"), ("2 / a", "a / b")
]:  # fmt: skip
    _try(_text, "a", (4,), NUMBER, _PLAIN, _need, required=True, graded=True)
_try("sum([a, b])", "a b", (3, 5), NUMBER, "__radd__: sum() starts with the number 0",
     "a + b", "(a + b) * c", "2 + a")  # fmt: skip
for _name in FUNCTIONS:
    _bug = EXP if _name == "exp" else f"a rule: {_name}"
    _try(f"a.{_name}()", "a", (0.5,), _bug, _RULE.format(_name), required=_name == "relu",
         graded=_name == "relu", subject=_name, named=True, demanded=True)  # fmt: skip
_try("a.relu()", "a", (-2,), "a rule: relu", _RULE.format("relu"), subject="relu", named=True,
     demanded=True)  # fmt: skip

_WITH_A_NUMBER = ("a + 2", "2 + a", "a * 2", "2 * a", "a - 2", "2 - a", "a / 2", "2 / a")
for _text in _WITH_A_NUMBER:
    _within(f"({_text}) * c", "a c", (4, 7), f"{_text.strip('a2 ')} with a number", _text, "a * b",
            subject=WITH_NUMBERS)  # fmt: skip
_within("(-a) * c", "a c", (2, 7), "unary -", "-a", "a * b")
_within("(a - b) * c", "a b c", (2, 3, 7), "-", "a - b", "(a + b) * c", "(a * b) * c")
_within("(a / b) * c", "a b c", (2, 4, 7), "/", "a / b", "(a * b) * c", graded=True)
_within("(a ** 3) * c", "a c", (2, 7), "**", "a ** 3", "a * b")
for _name in FUNCTIONS:
    _within(f"a.{_name}() * c", "a c", (0.5, 7), _name, f"a.{_name}()", "a * b")

_try("(-a).relu()", "a", (3,), "a rule: relu", _RULE.format("relu"), "-a", "a.relu()",
     graded=True, subject="relu")  # fmt: skip

NUMBERS.subject = "** of two nodes"
_try("2 ** a", "a", (3,), NUMBER, "the rule of an exponent: d(2^a)/da = 2^a log 2")
_try("a ** b", "a b", (2, 3), "a rule: ** of two nodes",
     "the rule of a power in its base and in its exponent", "a ** 3")  # fmt: skip
_within("(2 ** a) * c", "a c", (3, 7), "an exponent", "2 ** a", "a * b", subject="** of two nodes")
_within("(a ** b) * c", "a b c", (2, 3, 7), "** of two nodes", "a ** b", "a * b")
NUMBERS.subject = "**"
_try("a ** -1", "a", (4,), "a rule: **", _POWER, "a ** 3")
_try("a ** 0.5", "a", (4,), "a rule: **", _POWER, "a ** 3")

_overwrites("-")
_overwrites("/")
for _text in _WITH_A_NUMBER:
    _try(f"a * ({_text})", "a", (4,), OVERWRITES, SEND,
         _text, "a * b", f"({_text}) * c", "a * b + a * c", subject=WITH_NUMBERS)  # fmt: skip
_try("a * -a", "a", (3,), OVERWRITES, SEND, "-a", "a * b", "(-a) * c", "a * b + a * c",
     subject="unary -")  # fmt: skip
_try("a * 2 ** a", "a", (3,), OVERWRITES, SEND,
     "2 ** a", "a * b", "(2 ** a) * c", "a * b + a * c", subject="** of two nodes")  # fmt: skip
_try("a * (b * a ** b)", "a b", (2, 3), OVERWRITES, SEND,
     "a ** b", "a * b", "(a ** b) * c", "a * b + a * c", subject="** of two nodes")  # fmt: skip
_try("a * a ** 3", "a", (2,), OVERWRITES, SEND,
     "a ** 3", "a * b", "(a ** 3) * c", "a * b + a * c", graded=True)  # fmt: skip
for _name in FUNCTIONS:
    _try(f"a * a.{_name}()", "a", (0.5,), OVERWRITES, SEND,
         f"a.{_name}()", "a * b", f"a.{_name}() * c", "a * b + a * c", subject=_name)  # fmt: skip
_try("(a - b).relu() * a + (b - a).relu() * c", "a b c", (3, 2, 5), TOGETHER, SHARED_BY_TWO,
     "(a - b) * c", "a.relu() * c", "a * b + a * c", "u = a * b, u + u * c",
     "a * (a - b)", "a * (b - a)", "a * a.relu()", "(-a).relu()", graded=True,
     subject=SHARED)  # fmt: skip
_try("a - a", "a", (3,), ONE_SHARE, "the rule of - when both operands are one node",
     "a - b", "a + a", "a * (a - b)", "a * (b - a)", subject="-")  # fmt: skip

_SIGNS = "the rule of ** for a base below 0: exp(n log a) has no value there"
for _text, _at, _need in [
    ("a ** 2", -3, "a ** 3"), ("a ** 3", -2, "a ** 3"), ("a ** -1", -4, "a ** -1")
]:  # fmt: skip
    _try(_text, "a", (_at,), NEGATIVE, _SIGNS, _need, corner=True)
for _text, _at, _need in [
    ("a * 0.5", 2, "a * 2"), ("a ** -1", 2, "a ** -1"), ("a / 2", 7, "a / 2")
]:  # fmt: skip
    _try(_text, "a", (_at,), WHOLE, _INTEGERS, _need, corner=True, whole=True, subject=OF_WHOLE)
_try("a.tanh()", "a", (400,), OVERFLOW,
     "tanh: exp(2a) overflows where tanh is 1; use math.tanh", corner=True,
     subject="tanh")  # fmt: skip
_try("a.sigmoid()", "a", (-800,), OVERFLOW,
     "sigmoid: exp(-a) overflows where the result is 0", corner=True,
     subject="sigmoid")  # fmt: skip
_try("a ** 0 * b", "a b", (0, 5), ZERO_POWER,
     "the rule of **: with n = 0 the slope is 0, and 0 · 0⁻¹ must not be asked for",
     "a ** 3", "c * (a * b)", corner=True)  # fmt: skip
