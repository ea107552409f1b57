"""Run a function once on recorded values, and see that nothing else decides what it does.

While a thread traces, the data of the nodes that it meets are recorded values too: those of
parameters and of other nodes made before, which a function finds in its closure, become inputs of
the program. `Node.data` is a property during that time; other threads see what they always see.
"""

import gc
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from chaingrad import modes
from chaingrad._wording import describe
from chaingrad.node import Node
from chaingrad.program.identities import simpler
from chaingrad.program.tape import Recorded, Tape, example
from chaingrad.rules import RULES, TracingError, is_symbol

ndarray = np.ndarray
_slot: Any = Node.__dict__["data"]
_lock = threading.Lock()
_running = 0


class _Here(threading.local):
    met: "Met | None" = None


_here = _Here()


class Met:
    """What a function meets while it is traced, its operations being written on ``tape``."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.closure: dict[Node, Recorded] = {}  # nodes made before, with inputs for their data
        self.made: dict[Node, None] = {}  # nodes made meanwhile
        self.grads: dict[Node, Any] = {}  # of those made before
        self.variables: dict[int, str] = {}  # of the function as it returns, by the node's id

    def data_of(self, node: Node) -> Any:
        held = _slot.__get__(node)
        if node in self.made or isinstance(held, Recorded):
            return held
        if node not in self.closure:
            if held is None:
                return held
            self.closure[node] = self.tape.input(held)
            self.grads[node] = node.grad
        return self.closure[node]

    def set(self, node: Node, data: Any) -> None:
        if node not in self.made:
            if hasattr(node, "label"):  # an older node: a new one gets its data first
                raise TracingError(
                    f"program: the function changes the data of {describe(node)}, which only its "
                    "first call would do: return the new data, and set them outside"
                )
            self.made[node] = None
        _slot.__set__(node, data)

    def name(self, variables: dict[str, Any]) -> None:
        """Give nodes without a label the names of the variables that hold them."""
        self.variables = {id(x): name for name, x in variables.items() if isinstance(x, Node)}

    def settle(self) -> None:
        """Give the nodes made during the trace plain values, as if nobody had traced them."""
        for node in self.made:
            node.data = example(node.data)
            rule = node.rule
            if rule and any(map(is_symbol, rule.options.values())):
                options = {key: example(option) for key, option in rule.options.items()}
                node.rule = RULES[rule.name].bind(options)

    def check_grads(self) -> None:
        """Restore the gradients of nodes from outside, and raise if the function changed one."""
        changed = [node for node, g in self.grads.items() if node.grad is not g]
        for node in changed:
            node.grad = self.grads[node]
        if changed:
            raise TracingError(
                f"program: the function sets the grad of {describe(changed[0])}, which only its "
                "first call would do: let program differentiate, by argnums"
            )


@contextmanager
def tracing(tape: Tape | None = None) -> Iterator[Met]:
    """Let this thread's nodes hold recorded values within the block."""
    met = Met(tape or Tape(simpler))
    before, _here.met = _here.met, met
    _count(1)
    try:
        with np.errstate(all="ignore"):
            yield met
    finally:
        _count(-1)
        _here.met = before
        met.check_grads()


@contextmanager
def comparing() -> Iterator[None]:
    """Let nodes hold plain values within the block, even in a trace."""
    before, _here.met = _here.met, None
    try:
        yield
    finally:
        _here.met = before


def _count(one: int) -> None:
    global _running
    with _lock:
        _running += one
        type.__setattr__(Node, "data", property(_get, _set) if _running else _slot)


def _get(node: Node) -> Any:
    return _here.met.data_of(node) if _here.met else _slot.__get__(node)


def _set(node: Node, data: Any) -> None:
    if _here.met:
        _here.met.set(node, data)
    else:
        _slot.__set__(node, data)


class Passes(modes.Watch):
    """Notes which recorded value is whose adjoint."""

    def __init__(self) -> None:
        self.adjoints: dict[Recorded, list[Node]] = {}

    def backward(self, node: Any, parent: Any, share: Any, g: Any) -> None:
        if isinstance(g, Recorded):
            self.adjoints.setdefault(g, []).append(node)


# --- randomness ---------------------------------------------------------------------------------


@contextmanager
def without_randomness(f: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """Refuse random draws within the block, since they would be the same at each call.

    It shows by a generator of `random` or NumPy, within reach of ``f``, that has moved, or by one
    that is made without a seed. Where other threads run, which may move NumPy's own, that one
    counts only if ``f`` speaks of ``random``.

    Yields:
        The variables of ``f`` as it returns, by name; none where a profiler is at work.
    """
    alone = [] if threading.active_count() > 1 else [np.random.mtrand._rand]
    states = [(source, _state(source)) for source in (*alone, *_generators(f))]
    code = getattr(f, "__code__", None)
    drawn: list[Any] = []
    variables: dict[str, Any] = {}

    def watch(frame: Any, event: str, function: Any) -> None:
        if event == "return" and frame.f_code is code:
            variables.update(frame.f_locals)
        if event == "c_call" and (
            getattr(function, "__name__", "") == "urandom"
            or isinstance(getattr(function, "__self__", None), random.Random)
        ):
            drawn.append(function)

    profiler = sys.getprofile()
    sys.setprofile(profiler or watch)
    try:
        yield variables
    finally:
        sys.setprofile(profiler)
    if drawn or any(_state(source) != state for source, state in states):
        raise TracingError(
            "program: the function draws random numbers, which would be the same at each call: "
            "draw them outside and pass them as an argument"
        )


def _generators(f: Callable[..., Any]) -> list[Any]:
    """List NumPy's generators that ``f`` refers to, itself or by what it refers to."""
    found: list[Any] = []
    seen: set[int] = set()
    stack: list[Any] = [f]
    while stack:
        x = stack.pop()
        if id(x) in seen or isinstance(x, type | ModuleType | str | ndarray | Node | Recorded):
            continue
        seen.add(id(x))
        if isinstance(x, np.random.Generator | np.random.RandomState):
            found.append(x)
        elif isinstance(x, FunctionType):
            names = list(_names(x.__code__))
            found += [np.random.mtrand._rand] * ("random" in names)
            stack += [x.__globals__.get(name) for name in names]
            stack += [x.__closure__, x.__defaults__, x.__kwdefaults__]
        else:  # a container, a cell, a method, an object that is called or has generators
            stack += gc.get_referents(x)
            stack.append(type(x).__dict__.get("__call__"))
    return found


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code reads, that of functions within it, too."""
    yield from code.co_names
    for within in code.co_consts:
        if isinstance(within, CodeType):
            yield from _names(within)


def _state(source: Any) -> str:
    if isinstance(source, np.random.Generator):
        return repr(source.bit_generator.state)
    return repr(source.get_state())
