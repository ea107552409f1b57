"""A function and its gradient written down as the program that a person would write by hand.

`program` runs a function and its backward pass once, on values that note what is done with them
(``tracing.py``, ``tape.py``), leaves out what need not be computed (``identities.py``), puts the
rest into Python (``writer.py``) and formulas (``equations.py``), and compares what that gives with
what the nodes give (``checking.py``). There is no derivative here: the engine's rules run, forward
and back. Tangent :cite:`vanmerrienboer2017` writes gradients down, too, from the text of a
function, whose branches and loops stay; what is traced has one course.
"""

import functools
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from chaingrad import _tree, modes
from chaingrad.functional import value_and_grad
from chaingrad.node import Node
from chaingrad.program import arguments
from chaingrad.program.checking import compare
from chaingrad.program.equations import Equations
from chaingrad.program.source import Trace, write_source
from chaingrad.program.tape import Recorded
from chaingrad.program.tracing import Passes, tracing, without_randomness
from chaingrad.rules import TracingError, value

ndarray = np.ndarray
_Settling = Callable[[Any], Any]


def program(
    f: Callable[..., Any],
    argnums: int | Sequence[int] | None = 0,
) -> "Program":
    """Write ``f`` and its gradient down as a NumPy program, at the first call.

    The program is called like what `~chaingrad.functional.value_and_grad` gives; nothing of ``f``
    runs again but for arguments of other shapes or dtypes, for which another program is
    written.

    At that first call ``f`` runs twice: once on values that note what it does, and once on nodes,
    with copies of the arguments. If ``f`` compares or chooses (``where``, ``maximum``, ``x > 0``),
    it runs on nodes twice more, with other numbers for its floats, to look at other sides of the
    choices. If program and nodes give different results, the program is refused. So a print or a
    counter in ``f`` runs two or four times, and only then.

    - Every float and array among the arguments is an input, arrays of integers and booleans, too;
      and so is a list of floats, as an array. Plain integers, booleans, strings, None, and lists
      and tuples of these belong to the program: others have another.
    - Nodes that ``f`` finds elsewhere, such as parameters, are inputs, and read at each call.
    - Other arrays that it finds elsewhere are copied, and listed in ``trace.constants``, but for
      those of one repeated number, which are written out. Python's own values, a flag such as
      ``model.training`` among them, stay what they were.
    - A loop takes as many steps as at the first call, and each is written out.
    - A value has the name of the variable that holds it as ``f`` returns, or of its node's label.
    - ``where``, ``max``, ``sort`` and indices are operations, and follow their values; what decides
      by a value, as ``if x > 0`` or ``float(x)``, is refused, and so are random numbers. What
      decides by a type, as ``isinstance(x, np.ndarray)``, keeps something from call to call, or
      changes an argument in place, shows in the comparison, and is refused as well.

    No result shares memory with an argument, a constant or another result. Each is of the kind and
    dtype that the nodes give: a Python float for a float, an array for an array. Plain numbers are
    computed with ``math``, which raises where the engine gives inf or nan.

    Args:
        f: gives a scalar node; with ``argnums=None`` nodes, arrays and numbers, also in lists and
            tuples.
        argnums: the position of the argument to differentiate by, or several of them; None writes
            down ``f`` itself, which is called with constant nodes for floats and arrays of them.

    Raises:
        TypeError: (from the program) what ``f`` does cannot be written down, or nodes give other
            results: the message says what, and what to write instead.
        ValueError: (from the program) as `~chaingrad.functional.value_and_grad`; and where an
            argument has a value that is refused, such as a label out of range.

    >>> import chaingrad
    >>> step = chaingrad.program(lambda w, x: (w * x + 1.0).tanh())
    >>> step(0.5, -2.0)
    (0.0, -2.0)
    >>> print(step.source)
    import math
    <BLANKLINE>
    <BLANKLINE>
    def program(w, x):
        value = math.tanh(w * x + 1)
    <BLANKLINE>
        dw = (1 - value * value) * x
        return value, dw
    <BLANKLINE>
    """
    return Program(f, argnums)


class Program:
    """A function that is written down when it is called; `chaingrad.program` makes it."""

    def __init__(self, f: Callable[..., Any], argnums: int | Sequence[int] | None) -> None:
        self._plain = f if argnums is None else value_and_grad(f, argnums)
        self._f, self._argnums = f, argnums
        self._traces: dict[Any, _Written] = {}
        self._quick: dict[Any, _Written] = {}  # for arrays and floats alone
        self._last: Trace | None = None
        functools.update_wrapper(self, f)

    def __reduce__(self) -> Any:
        return Program, (self._f, self._argnums)  # what was written down is written anew

    def __call__(self, *args: Any) -> Any:
        forms = tuple([(x.shape, x.dtype) if type(x) is ndarray else type(x) for x in args])
        written = self._quick.get(forms)
        if written is None:
            given = self._given(args)
            written = self._written(given)
            if not written.takes_more and all(type(x) in (ndarray, float) for x in args):
                self._quick[forms] = written
            args = given
        self._last = written.trace
        return written(args)

    def trace(self, *args: Any) -> Trace:
        """Return the program for these arguments, with the nodes that each line is about."""
        return self._write(self._given(args), lines=True).trace

    @property
    def source(self) -> str:
        """The source of the program that was called last.

        Raises:
            ValueError: there has been no call.
        """
        return self._latest("source").source

    @property
    def equations(self) -> Equations:
        """The formulas of the program that was called last; raises as ``source``."""
        return self._latest("equations").equations

    def _latest(self, what: str) -> Trace:
        if self._last is None:
            raise ValueError(
                f"program: {what} depends on the shapes of the arguments, so it exists only after "
                "a call; call the program first, or use trace(*args)"
            )
        return self._last

    def _positions(self, count: int) -> list[int]:
        if self._argnums is None:
            return []
        several = self._argnums if isinstance(self._argnums, Sequence) else [self._argnums]
        return [i % count if -count <= i < count else i for i in several] if count else []

    def _given(self, args: Sequence[Any]) -> tuple[Any, ...]:
        by = self._positions(len(args))
        return tuple([arguments.plain(x, i in by) for i, x in enumerate(args)])

    def _written(self, args: tuple[Any, ...]) -> "_Written":
        key = tuple(map(arguments.form, args))
        written = self._traces.get(key)
        if written is None or not written.fits():
            written = self._traces[key] = self._write(args)
        return written

    def _write(self, args: tuple[Any, ...], lines: bool = False) -> "_Written":
        by = self._positions(len(args))
        with tracing() as met:
            given = [met.tape.input(x) if arguments.is_input(x) else copy(x) for x in args]
            passes = Passes()
            with without_randomness(self._f) as variables, modes.watching(passes):
                result = self._on_nodes(given)
            met.name(variables)
            positions = None if self._argnums is None else by
            trace = write_source(self._f, met, passes.adjoints, given, result, positions)
        if lines:
            met.settle()
        else:  # its nodes would keep their values alive
            trace = replace(trace, lines=())
        written = _Written(trace)
        name = getattr(self._f, "__name__", "f")
        heads = ("value", "gradient") if self._argnums is not None else ()
        try:
            nodes = compare(written, self._on_nodes, args, name, heads, met.tape.ops)
            written.settle(nodes, args)
        except TracingError as error:
            error.add_note(f"What was written down:\n{trace.source:.4000}")
            raise
        return written

    def _on_nodes(self, args: Sequence[Any]) -> Any:
        """Compute with nodes for these arguments: the reference, and what we write down."""
        return self._f(*map(_as_node, args)) if self._argnums is None else self._plain(*args)


class _Written:
    """A program, and what it takes beside its arguments."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self._run = trace, trace.run
        self._settled: _Settling | None = None
        self._nodes = tuple(trace.closure.values())
        self.takes_more = bool(self._nodes)  # which may have become another
        self._forms = [arguments.form(node.data) for node in self._nodes]
        self._constants = tuple(trace.constants.values())
        self._overflows = "np.exp(-" in trace.source
        self._beside = bool(self._nodes or self._constants)

    def fits(self) -> bool:
        """Return whether the nodes of the closure hold the same as before, up to their values."""
        return not self._nodes or self._forms == [arguments.form(x.data) for x in self._nodes]

    def settle(self, nodes: Any, args: Sequence[Any]) -> None:
        """Give results as the nodes gave them: in these containers, of these kinds and dtypes."""
        met = [*_tree.flat([*args, nodes]), *self._constants, *self._nodes]
        dtypes = {x.dtype for x in map(value, met) if isinstance(x, ndarray | np.generic)}
        of_numbers = not dtypes and "np." not in self.trace.source
        self._settled = _settling(nodes, of_numbers, all(dtype.isnative for dtype in dtypes))

    def __call__(self, args: Sequence[Any]) -> Any:
        if self._beside:
            args = (*args, *[node.data for node in self._nodes], *self._constants)
        if self._overflows:  # to infinity, below a 1: the slope is 0, which nodes find in silence
            with np.errstate(over="ignore"):
                result = self._run(*args)
        else:
            result = self._run(*args)
        return result if self._settled is None else self._settled(result)


def _settling(like: Any, of_numbers: bool, native: bool) -> _Settling | None:
    """Make what turns a result of a source into one like ``like``, or None if it is one already.

    Sources have only tuples and lists, and give NumPy's numbers where nodes hold
    Python's or an array without axes. Only those ``of_numbers`` give Python's alone, and those
    whose arrays are ``native`` keep the order of bytes.
    """
    if isinstance(like, list | tuple):
        each = [_settling(x, of_numbers, native) for x in like]
        if not any(each) and type(like) in (list, tuple):
            return None
        if type(like) is tuple and each[0] and not any(each[1:]):  # the value, before gradients
            first = each[0]
            return lambda found: (first(found[0]), *found[1:])
        empty = arguments.mapped(like, lambda x: None)
        return lambda found: _tree.sequence_like(
            empty, [of(x) if of else x for of, x in zip(each, found, strict=True)]
        )
    x = value(like)
    if type(x) is float:
        return None if of_numbers else float
    if isinstance(x, np.generic):
        return type(x)
    if isinstance(x, ndarray) and not (x.shape and native):
        return functools.partial(np.asarray, dtype=x.dtype)
    return None


def _as_node(x: Any) -> Any:
    is_number = isinstance(x, Recorded | ndarray | np.generic | float)
    return Node(x, requires_grad=False) if is_number and _dtype(x).kind == "f" else x


def _dtype(x: Any) -> np.dtype[Any]:
    return np.dtype(float) if type(x) is float else x.dtype
