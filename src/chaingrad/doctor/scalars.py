"""What the doctor tries: expressions from small to large, each with the bug that it shows."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from chaingrad.functional import grad

ENDLESS = "no end in time"
Reading = tuple[str, Any, float]  # what was read, the number that came, the number that is right
Trial = Callable[[Any], Iterator[Reading]]

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


@dataclass(frozen=True)
class Probe:
    """One trial of an engine.

    Attributes:
        text: the expression and where it is evaluated.
        bug: what it has that fails here, if nothing in ``needs`` failed.
        look: what to look at.
        trial: takes an `Adapter` and yields what was read beside what is right.
        needs: texts of smaller probes; if one of them fails, it is the reason why this does.
        instead: the bug, by what came, where that tells another one.
        only_remark: whether failing is a choice that others have made, too.
        right: says what is right, for a probe that came to no number.
    """

    text: str
    bug: str
    look: str
    trial: Trial
    needs: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)
    only_remark: bool = False
    right: Callable[[], str] = lambda: "an answer"


def _expression(f: Callable[..., Any], names: str, at: tuple[float, ...]) -> Trial:
    def trial(engine: Any) -> Iterator[Reading]:
        leaves = [engine.leaf(value) for value in at]
        with engine.forward():
            y = f(*leaves)
        yield "the value", engine.value(y), f(*at)
        engine.backward(y)
        right = _gradients(f, at)
        for name, leaf, g in zip(names.split(), leaves, right, strict=True):
            yield f"dy/d{name}", engine.gradient(leaf), g
        for name, leaf, value in zip(names.split(), leaves, at, strict=True):
            yield f"{name} after the pass", engine.value(leaf), value

    return trial


def _gradients(f: Callable[..., Any], at: tuple[float, ...]) -> tuple[float, ...]:
    """By this package's own engine, which tests hold to central differences."""
    return tuple(float(g) for g in grad(f, argnums=range(len(at)))(*at))


def _slopes(f: Callable[..., Any], names: str, at: tuple[float, ...]) -> str:
    pairs = zip(names.split(), _gradients(f, at), strict=True)
    return ", ".join(f"dy/d{name} = {g:.6g}" for name, g in pairs)


PROBES: list[Probe] = []


def _try(
    text: str, names: str, at: tuple[float, ...], f: Callable[..., Any], bug: str, look: str,
    *needs: str,
) -> None:  # fmt: skip
    at = tuple(map(float, at))
    where = ", ".join(f"{name} = {value:g}" for name, value in zip(names.split(), at, strict=True))
    trial = _expression(f, names, at)
    right = partial(_slopes, f, names, at)
    instead = {"0": UNSORTED} if bug == FORGETS else {}
    PROBES.append(
        Probe(f"{text} at {where}", bug, look, trial, _known(needs), instead, right=right)
    )


def _known(needs: tuple[str, ...]) -> tuple[str, ...]:
    """The full texts of the probes of these expressions, which have to be there already."""
    found = []
    for need in needs:
        (text,) = (p.text for p in PROBES if p.text.startswith(need + " at "))
        found.append(text)
    return tuple(found)


# --- each rule by itself, then within other operations ------------------------------------------

_RULE = "the rule of {0}: its value, and the local gradient of each operand"
_WITHIN = "the rule of {0}: its local gradient has to be multiplied by the gradient of the result"


def _call(name: str) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        if not isinstance(x, float):
            return getattr(x, name)()
        return _OF_FLOATS[name](x)

    return f


_OF_FLOATS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "log": math.log,
    "tanh": math.tanh,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x)),
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
}

_try("a + b", "a b", (3, 5), lambda a, b: a + b, "a rule: +", _RULE.format("+"))
_try("a * b", "a b", (3, 5), lambda a, b: a * b, "a rule: *", _RULE.format("*"))
_try("a - b", "a b", (3, 5), lambda a, b: a - b, "a rule: -", _RULE.format("-"), "a + b")
_try("a / b", "a b", (3, 5), lambda a, b: a / b, "a rule: /", _RULE.format("/"), "a * b")
_try("-a", "a", (3,), lambda a: -a, "a rule: unary -", _RULE.format("unary -"))
_try("a ** 3", "a", (2,), lambda a: a**3, "a rule: **", _RULE.format("**"))
for _name in _OF_FLOATS:
    _bug = EXP if _name == "exp" else f"a rule: {_name}"
    _try(f"a.{_name}()", "a", (0.5,), _call(_name), _bug, _RULE.format(_name))
_try("a.relu()", "a", (-2,), _call("relu"), "a rule: relu", _RULE.format("relu"))

_try("(a + b) * c", "a b c", (2, 3, 7), lambda a, b, c: (a + b) * c,
     FORGETS, _WITHIN.format("+"), "a + b", "a * b")  # fmt: skip
_try("(a * b) * c", "a b c", (2, 3, 7), lambda a, b, c: (a * b) * c,
     FORGETS, _WITHIN.format("*"), "a * b")  # fmt: skip
_try("c * (a * b)", "a b c", (2, 3, 0), lambda a, b, c: c * (a * b),
     "a gradient of 0 taken for none",
     "tests such as `if self.grad` and `self.grad or 1.0`: 0 is a gradient, too",
     "(a * b) * c")  # fmt: skip
_try("(a - b) * c", "a b c", (2, 3, 7), lambda a, b, c: (a - b) * c,
     FORGETS, _WITHIN.format("-"), "a - b", "(a + b) * c", "(a * b) * c")  # fmt: skip
_try("(a / b) * c", "a b c", (2, 4, 7), lambda a, b, c: (a / b) * c,
     FORGETS, _WITHIN.format("/"), "a / b", "(a * b) * c")  # fmt: skip
_try("(a ** 3) * c", "a c", (2, 7), lambda a, c: a**3 * c,
     FORGETS, _WITHIN.format("**"), "a ** 3", "a * b")  # fmt: skip
for _name in _OF_FLOATS:
    _alone = f"a.{_name}() at a = 0.5"
    _f = _call(_name)
    _try(f"a.{_name}() * c", "a c", (0.5, 7), lambda a, c, f=_f: f(a) * c,
         FORGETS, _WITHIN.format(_name), "a * b")  # fmt: skip
    PROBES[-1] = replace(PROBES[-1], needs=(_alone, *PROBES[-1].needs))

# --- numbers beside nodes -----------------------------------------------------------------------

_PLAIN = "the operator for a plain number on this side: the number is a constant"
for _text, _f, _need in [
    ("a + 2", lambda a: a + 2, "a + b"),
    ("2 + a", lambda a: 2 + a, "a + b"),
    ("a * 2", lambda a: a * 2, "a * b"),
    ("2 * a", lambda a: 2 * a, "a * b"),
    ("a - 2", lambda a: a - 2, "a - b"),
    ("2 - a", lambda a: 2 - a, "a - b"),
    ("a / 2", lambda a: a / 2, "a / b"),
    ("2 / a", lambda a: 2 / a, "a / b"),
    ("np.float64(2) * a", lambda a: np.float64(2) * a, "a * b"),
]:
    _try(_text, "a", (4,), _f, "a number beside a node", _PLAIN, _need)
_try("2 ** a", "a", (3,), lambda a: 2**a, "a number beside a node",
     "the rule of an exponent: d(2^a)/da = 2^a log 2")  # fmt: skip
_try("a ** b", "a b", (2, 3), lambda a, b: a**b, "a rule: ** of two nodes",
     "the rule of a power in its base and in its exponent", "a ** 3")  # fmt: skip
_try("a ** -1", "a", (4,), lambda a: a**-1, "a rule: **",
     "the rule of **: n a^(n - 1) for every n", "a ** 3")  # fmt: skip
_try("a ** 0.5", "a", (4,), lambda a: a**0.5, "a rule: **",
     "the rule of **: n a^(n - 1) for every n", "a ** 3")  # fmt: skip
_try("a ** 0 * b", "a b", (0, 5), lambda a, b: a**0 * b, ZERO_POWER,
     "the rule of **: with n = 0 the slope is 0, and 0 · 0⁻¹ must not be asked for",
     "a ** 3", "c * (a * b)")  # fmt: skip
_try("sum([a, b])", "a b", (3, 5), lambda a, b: sum([a, b]), "a number beside a node",
     "__radd__: sum() starts with the number 0", "a + b", "(a + b) * c")  # fmt: skip
_try("a.tanh()", "a", (400,), _call("tanh"), "overflow",
     "tanh: exp(2a) overflows where tanh is 1; use math.tanh")  # fmt: skip
_try("a.sigmoid()", "a", (-800,), _call("sigmoid"), "overflow",
     "sigmoid: exp(-a) overflows where the result is 0")  # fmt: skip

# --- values used more than once -----------------------------------------------------------------

_SEND = "where a node sends to its parents: parent.grad += share, not ="
_try("a * b + a * c", "a b c", (2, 3, 5), lambda a, b, c: a * b + a * c,
     OVERWRITES, _SEND, "a + b", "a * b", "(a + b) * c")  # fmt: skip
# The product sends first; what the other operand does with its turn is what is tried.
_try("a * -a", "a", (3,), lambda a: a * -a, OVERWRITES, _SEND,
     "-a", "a * b", "a * b + a * c")  # fmt: skip
_try("a * (b - a)", "a b", (3, 5), lambda a, b: a * (b - a), OVERWRITES, _SEND,
     "a - b", "a * b", "(a - b) * c", "a * b + a * c")  # fmt: skip
_try("a * (a / b)", "a b", (3, 5), lambda a, b: a * (a / b), OVERWRITES, _SEND,
     "a / b", "a * b", "(a / b) * c", "a * b + a * c")  # fmt: skip
_try("a * a ** 3", "a", (2,), lambda a: a * a**3, OVERWRITES, _SEND,
     "a ** 3", "a * b", "(a ** 3) * c", "a * b + a * c")  # fmt: skip
for _name in _OF_FLOATS:
    _f = _call(_name)
    _try(f"a * a.{_name}()", "a", (0.5,), lambda a, f=_f: a * f(a), OVERWRITES, _SEND,
         "a * b", f"a.{_name}() * c", "a * b + a * c")  # fmt: skip
    PROBES[-1] = replace(PROBES[-1], needs=(f"a.{_name}() at a = 0.5", *PROBES[-1].needs))
_try("a * a", "a", (3,), lambda a: a * a, ONE_SHARE,
     "what holds the operands or their shares: a set or a dictionary has room for one of two",
     "a * b", "a * b + a * c")  # fmt: skip
_try("a + a", "a", (3,), lambda a: a + a, ONE_SHARE,
     "what holds the operands or their shares: a set or a dictionary has room for one of two",
     "a + b", "a * b + a * c")  # fmt: skip
_try("a - a", "a", (3,), lambda a: a - a, ONE_SHARE,
     "the rule of - when both operands are one node",
     "a - b", "a + a", "a * b + a * c")  # fmt: skip

_ORDER = "the order of the backward pass: a node sends once, after all that use it have sent to it"
_BASE = ("a + b", "a * b", "(a + b) * c", "(a * b) * c", "a * b + a * c")


def _diamond(a: Any, b: Any, c: Any) -> Any:
    u = a * b
    return u + u * c


def _squared(a: Any, b: Any) -> Any:
    u = a * b
    return u * u


def _mirrored(a: Any, b: Any, c: Any) -> Any:
    u = a * b
    return u * c + u


def _doubled(a: Any) -> Any:
    for _ in range(40):
        a = a + a
    return a


def _in_place(a: Any, b: Any) -> Any:
    y = a
    y += b
    return y * a


def _dead_end(a: Any, b: Any) -> Any:
    u = a * b
    u * u
    return u + b


_try("u = a * b, u * u", "a b", (2, 3), _squared, UNSORTED,
     "how often a node is visited: once, also where both operands are this node",
     "(a + b) * c", "(a * b) * c", "a * a")  # fmt: skip
_try("u = a * b, u + u * c", "a b c", (2, 3, 5), _diamond, UNSORTED, _ORDER, *_BASE)
_try("u = a * b, u * c + u", "a b c", (2, 3, 5), _mirrored, UNSORTED, _ORDER,
     "u = a * b, u + u * c", *_BASE)  # fmt: skip
_try("a = a + a, 40 times", "a", (1,), _doubled, UNSORTED,
     "how often a node is visited: 2⁴⁰ paths lead through 40 nodes, and each is to send once",
     "a + a", "u = a * b, u * u", "u = a * b, u + u * c", "u = a * b, u * c + u")  # fmt: skip
_try("a * b + c * d", "a b c d", (2, 2, 2, 2), lambda a, b, c, d: a * b + c * d, EQUAL,
     "how visited nodes are known: by identity, not by value (__eq__ and __hash__)",
     "a + b", "a * b", "(a + b) * c")  # fmt: skip
_try("y = a, y += b, y * a", "a b", (2, 3), _in_place, "+= changes the operand",
     "__iadd__: leave it out, and Python makes a new node with __add__",
     "(a + b) * c", "a * b + a * c")  # fmt: skip
_try("u = a * b, u * u unused, u + b", "a b", (2, 3), _dead_end, "what was not used takes part",
     "what the pass visits: only what the result was computed from",
     "a + b", "a * b", "a * b + a * c")  # fmt: skip

# --- whole numbers, passes, loops, depth --------------------------------------------------------


def _whole(engine: Any) -> Iterator[Reading]:
    a = engine.leaf(2)
    with engine.forward():
        y = a * 0.5
    engine.backward(y)
    yield "dy/da", engine.gradient(a), 0.5


def _leaf_alone(engine: Any) -> Iterator[Reading]:
    a = engine.leaf(3.0)
    engine.backward(a)
    yield "dy/da", engine.gradient(a), 1.0


def _untouched(engine: Any) -> Iterator[Reading]:
    a, b = engine.leaf(3.0), engine.leaf(5.0)
    engine.backward(a * a)
    yield "dy/db", engine.gradient(b), 0.0


def _second_pass(engine: Any) -> Iterator[Reading]:
    a, b, c = (engine.leaf(x) for x in (2.0, 3.0, 7.0))
    y = (a * b) * c
    for which in ("first", "second"):
        for leaf in (a, b, c):
            engine.clear(leaf)
        engine.backward(y)
        yield f"dy/da of the {which} pass", engine.gradient(a), 21.0


def _goes_on(engine: Any) -> Iterator[Reading]:
    a, b, c = (engine.leaf(x) for x in (2.0, 3.0, 7.0))
    u = a * b
    engine.backward(u)
    y = u * c
    for leaf in (a, b, c):
        engine.clear(leaf)
    engine.backward(y)
    yield "dy/da", engine.gradient(a), 21.0


def _adds_up(engine: Any) -> Iterator[Reading]:
    a, b, c = (engine.leaf(x) for x in (2.0, 3.0, 7.0))
    engine.backward(a * b)
    engine.backward(a * c)
    yield "d(y + z)/da", engine.gradient(a), 10.0


def _loop(engine: Any) -> Iterator[Reading]:
    w = engine.leaf(1.0)
    for step in range(1, 4):
        engine.clear(w)
        e = w * 3.0 + -1.0
        engine.backward(e * e)
        yield f"dy/dw of graph {step}", engine.gradient(w), 12.0


_DEPTH = 5_000  # beyond Python's limit, that of notebooks too


def _deep(engine: Any) -> Iterator[Reading]:
    a = y = engine.leaf(1.0)
    for _ in range(_DEPTH):
        y = y + 1.0
    engine.backward(y)
    yield "dy/da", engine.gradient(a), 1.0


def _changed(engine: Any) -> Iterator[Reading]:
    a, b = engine.leaf(2.0), engine.leaf(3.0)
    u = a * b
    y = u * u
    u.data = 1.0
    try:
        engine.backward(y)
    except Exception:  # it has noticed
        return
    yield "dy/da", engine.gradient(a), 36.0


PROBES += [
    Probe("a * 0.5 at the whole number a = 2", "whole numbers",
          "where gradients and data are made: an int must not make them whole",
          _whole, _known(("a * 2",))),
    Probe("y = a, a leaf", "a pass that starts at a leaf",
          "the seed: the gradient of the root is 1, also where it is a leaf", _leaf_alone),
    Probe("y = a * a, and b takes no part", "what was not used takes part",
          "the gradient before any pass: 0 (or None)", _untouched, _known(("a * a",))),
    Probe("y = (a * b) * c, backward twice, leaves cleared between", STALE,
          "the start of a pass: interior nodes begin at 0, and the root at 1",
          _second_pass, _known(("(a * b) * c",))),
    Probe("u = a * b, backward from u, then from u * c", STALE,
          "the start of a pass: interior nodes begin at 0, and the root at 1",
          _goes_on,
          ("y = (a * b) * c, backward twice, leaves cleared between", *_known(("(a * b) * c",)))),
    Probe("y = a * b, z = a * c, backward from both", "gradients of two losses do not add up",
          "what a pass sets to 0: leaves accumulate, so that batches can be split",
          _adds_up, _known(("a * b", "a * b + a * c")), only_remark=True),
    Probe("(3w - 1)² at w = 1, three graphs in a row", "the second graph is not like the first",
          "what outlives a graph: lists of nodes, counters, caches",
          _loop, _known(("a + 2", "a * 2", "u = a * b, u * u", "(a * b) * c", "(a + b) * c"))),
    Probe(f"{_DEPTH:,} additions in a row", RECURSION,
          "the sort and the pass: a list as the stack, no function that calls itself, and a set "
          "(no list) of the visited", _deep, _known(("a + b", "a + 2")), {ENDLESS: SLOW}),
    Probe("u = a * b, y = u * u, then u.data = 1", CHANGED,
          "nothing counts the writes to data: an error would be better than a wrong number",
          _changed, _known(("a * b", "u = a * b, u * u")), only_remark=True),
]  # fmt: skip
