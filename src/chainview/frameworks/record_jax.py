"""One run of a function in JAX, equation by equation, and its backward pass by JAX's own rules."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from chaingrad.graph import toposort
from chaingrad.messages import Message
from chainview.frameworks.custom_rules import CustomRule
from chainview.frameworks.run import (
    UNREAD,
    Missed,
    ModuleCall,
    WatchedNode,
    in_run_order,
    resolve_event,
    summary,
)
from chainview.frameworks.symptom import VIEWS, op_name
from chainview.frameworks.watched import Watched
from chainview.player.watch import Event, Written
from chainview.read import jaxpr
from chainview.read.lines import Line, owner_of
from chainview.read.words import FEW

UNROLLED = 50  # steps of a scan


def watch(
    f: Callable[..., Any], inputs: Sequence[Any], argnums: int | Sequence[int], most: int
) -> Watched:
    """Trace ``f``, run its equations, and pull a gradient back through each of them."""
    chosen = {argnums} if isinstance(argnums, int) else set(argnums)
    for number in chosen:
        if not 0 <= number < len(inputs):
            raise ValueError(f"watch_jax: argnums names argument {number}; there are {len(inputs)}")
    closed = jax.make_jaxpr(f)(*inputs)
    _check(closed.out_avals)
    record = jaxpr.read_jaxpr(closed, jaxpr.CALLS, UNROLLED)
    run = _PullbackRun(record, _ArrayStore(most))
    given = [
        (x, i in chosen) for i, argument in enumerate(inputs) for x in jax.tree.leaves(argument)
    ]
    places = [node for node in record.nodes if node.kind == "input"]
    run.forward(dict(zip(places, given, strict=True)))
    run.backward()
    return run.result()


def _check(outputs: Sequence[Any]) -> None:
    if len(outputs) != 1:
        raise TypeError(
            f"watch_jax: the function gives {len(outputs)} arrays; a backward pass starts from one "
            "number, so give the loss alone"
        )
    if outputs[0].shape or not jnp.issubdtype(outputs[0].dtype, jnp.floating):
        raise ValueError(
            f"watch_jax: the function gives {outputs[0].str_short()}; a backward pass starts from "
            "one floating-point number, so reduce it, with .mean() or .sum()"
        )


@dataclass(eq=False)
class _StoredArray:
    value: Any


class _ArrayStore:
    """Arrays, until they are more than ``most`` bytes; from then on summaries, of all."""

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._entries: list[_StoredArray] = []
        self.is_full = False

    def store(self, array: Any) -> _StoredArray:
        """Record an array."""
        if jnp.issubdtype(jnp.result_type(array), jax.dtypes.prng_key):
            array = jax.random.key_data(array)
        entry = _StoredArray(np.asarray(array))
        self._bytes += entry.value.nbytes
        self._entries.append(entry)
        if self.is_full or self._bytes > self._most:
            self.is_full = True
            for held in self._entries:
                if held.value.size > FEW:
                    held.value = summary(held.value)
            self._entries = []
        return entry


class _PullbackRun:
    """The values of all that the output needs, and what is sent back."""

    def __init__(self, record: jaxpr.Record, numbers: _ArrayStore) -> None:
        self._output = output = record.outputs[0]
        self._ran = {node: i for i, node in enumerate(record.nodes)}
        needed = toposort(output[0], lambda node: node.parents)[::-1]
        self._order = in_run_order(needed, lambda node: node.parents, self._ran.__getitem__)
        self._calls = _Calls(record.nodes)
        self._children: dict[jaxpr.JaxprNode, list[jaxpr.JaxprNode]] = defaultdict(list)
        for node in record.nodes:
            for parent in node.parents:
                self._children[parent].append(node)
        self._wanted: dict[jaxpr.JaxprNode, None] = {}
        self._numbers = numbers
        self._results: dict[jaxpr.JaxprNode, Sequence[Any]] = {}
        self._values: dict[jaxpr.JaxprNode, WatchedNode] = {}
        self._sums: dict[jaxpr.Use, tuple[Any, _StoredArray]] = {}  # of what was sent so far
        # The operands that want a gradient, and what takes it there.
        self._pulls: dict[jaxpr.JaxprNode, tuple[Sequence[int], Callable[..., Any]]] = {}
        self._pulled: dict[jaxpr.JaxprNode, None] = {}
        self.events: list[Event] = []

    def forward(self, given: dict[jaxpr.JaxprNode, tuple[Any, bool]]) -> None:
        """Compute each equation from the results before it."""
        self._wanted = {
            node: None for node, (x, is_chosen) in given.items() if is_chosen and _is_real(x)
        }
        for node in self._order:
            if node in given:
                results: Sequence[Any] = [_array(given[node][0])]
                needed = given[node][1] and _is_real(results[0])
            else:
                results, needed = self._computed(node)
            self._results[node] = results
            self._values[node] = self._value(node, results[0], needed)

    def _operands(self, node: jaxpr.JaxprNode) -> list[Any]:
        return [self._results[value][i] for value, i in node.operands]

    def _computed(self, node: jaxpr.JaxprNode) -> tuple[Sequence[Any], bool]:
        """Compute the results of an equation, and whether a gradient goes back through it."""
        run = node.compute
        assert run is not None
        wanted = [p for p, use in enumerate(node.operands) if self._is_needed(use)]
        operands = self._operands(node)
        if not wanted or node.op == "stop_gradient":
            return [_array(x) for x in run(*operands)], False

        def compute(*some: Any) -> list[Any]:
            given = dict(enumerate(operands)) | dict(zip(wanted, some, strict=True))
            return list(run(*given.values()))

        results, pull = jax.vjp(compute, *(operands[position] for position in wanted))
        if not any(map(_is_real, results)):
            return results, False
        self._pulls[node] = wanted, pull
        return results, True

    def _value(self, node: jaxpr.JaxprNode, result: Any, needed: bool) -> WatchedNode:
        label = "loss" if node is self._output[0] else node.label or ""
        ran = self._ran[node] if node.parents else 0
        for parent in (self._values[parent] for parent in node.parents):
            parent.ran, parent.line = parent.ran or ran, parent.line or node.line
        return WatchedNode(
            node.op,
            label,
            tuple(self._values[parent] for parent in node.parents),
            self._numbers.store(result),
            requires_grad=needed,
            is_parameter=node in self._wanted,
            is_input=node.kind == "input",
            call=self._calls.find(node.scopes),
            ran=ran,
            line=node.line,
            note=_note(node.op),
        )

    def _is_needed(self, use: jaxpr.Use) -> bool:
        node, i = use
        return self._values[node].requires_grad and _is_real(self._results[node][i])

    # --- backward -------------------------------------------------------------------------------

    def backward(self) -> None:
        """Send shares back, from the last equation to the first."""
        if not self._is_needed(self._output):
            cuts = [f"{x.name}: {x.why}{f' ({x.line})' if x.line else ''}" for x in self._missed()]
            raise ValueError(
                "watch_jax: no gradient leads from the loss to the arguments in argnums; "
                + "; ".join(cuts[:3])
            )
        seed = jnp.ones_like(self._results[self._output[0]][self._output[1]])
        entry = self._numbers.store(seed)
        self._sums[self._output] = seed, entry
        self.events.append(Written(self._values[self._output[0]], entry))
        for node in reversed(self._order):
            if node.operands and self._values[node].requires_grad:
                self._pull(node)
        for (node, _), (_, entry) in reversed(self._sums.items()):
            self._values[node].grad = entry
        kept = _SavedBytes()
        for node in self._order:
            back = self._pulls[node][1] if node in self._pulled else None
            self._values[node].kept = kept.of_equation(
                node, self._operands(node), self._results[node], back
            )

    def _pull(self, node: jaxpr.JaxprNode) -> None:
        uses = [(node, i) for i in range(len(self._results[node]))]
        first = next((self._sums[use] for use in uses if use in self._sums), None)
        if first is None:
            return
        wanted, back = self._pulls[node]
        self._pulled[node] = None
        shares = back([self._cotangent(*use) for use in uses])
        for position, share in zip(wanted, shares, strict=True):
            self._send(node, position, first[1], share)

    def _cotangent(self, node: jaxpr.JaxprNode, i: int) -> Any:
        result = self._results[node][i]
        if not _is_real(result):
            return np.zeros(jnp.shape(result), jax.dtypes.float0)
        return self._sums[node, i][0] if (node, i) in self._sums else jnp.zeros_like(result)

    def _send(self, node: jaxpr.JaxprNode, position: int, above: _StoredArray, share: Any) -> None:
        use = node.operands[position]
        before, known = self._sums.get(use, (None, None))
        total = share if known is None else before + share
        entry = self._numbers.store(share)
        now = entry if known is None else self._numbers.store(total)
        child, parent = self._values[node], self._values[use[0]]
        self.events.append(Message(child, parent, position, above, None, entry, known, now))
        self._sums[use] = total, now

    # --- arguments that no share reached --------------------------------------------------------

    def _missed(self) -> Iterator[Missed]:
        for node in self._wanted:
            if node not in self._values or self._values[node].grad is None:
                yield Missed(node.label or "an argument", *self._cut(node))

    def _cut(self, node: jaxpr.JaxprNode) -> tuple[str, str, Line | None]:
        """Say why no share reached an argument, and where."""
        if not self._children[node]:
            return UNREAD, "", None
        if node not in self._values:
            reached = toposort(node, self._children.__getitem__)
            last = max(reached, key=lambda each: self._ran.get(each, 0))
            why = f"nothing leads from {last.op}, which it went into, to the loss"
            return why, self._calls.find(last.scopes).name, last.line
        child = next(child for child in self._children[node] if child in self._values)
        value = self._values[child]
        if not value.requires_grad:
            return _why_cut(child, self._results[child]), value.call.name, child.line
        if value.grad is None:
            return self._cut(child)
        return "an operation on the way sent it no gradient", "", None

    def result(self) -> Watched:
        """Return everything that was seen, with arrays in place of entries."""
        for value in self._values.values():
            value.data, value.grad = _number(value.data), _number(value.grad)
        return Watched(
            "JAX",
            self._values[self._output[0]],
            list(self._values.values()),
            [resolve_event(event, _number) for event in self.events],
            list(self._missed()),
            complete=not self._numbers.is_full,
            cuts=list(self._cuts()),
            rules={self._values[node]: rule for node, rule in self._rules()},
        )

    def _cuts(self) -> Iterator[tuple[str, str, Line | None]]:
        """Yield where somebody stopped a gradient, and not of a maximum that softmax subtracts."""
        for node in self._order:
            if node.op != "stop_gradient" or not self._is_needed(node.operands[0]):
                continue
            if not _is_maximum(self._values[node].parents[0]):
                yield _why_cut(node, ()), self._values[node].call.name, node.line

    def _rules(self) -> Iterator[tuple[jaxpr.JaxprNode, CustomRule]]:
        """Yield the functions with a rule that isn't JAX's own."""
        for node in self._pulled:
            if "custom_" in node.op and owner_of(node.rule_file) != "engine":
                places, _ = self._pulls[node]
                yield node, _custom_rule(node, places, self._operands(node))


def _is_maximum(value: WatchedNode) -> bool:
    """Return whether a value is a maximum, or zeros where that isn't finite."""
    if op_name(value) == "selectn" or op_name(value) in VIEWS:
        return any(map(_is_maximum, value.parents))
    return op_name(value) in ("reducemax", "max")


def _custom_rule(
    node: jaxpr.JaxprNode, places: Sequence[int], operands: Sequence[Any]
) -> CustomRule:
    """Return a rule on the arrays that it was given."""
    given = [np.asarray(operands[i]) for i in places]

    def compute(*some: Any) -> list[Any]:
        own = dict(enumerate(operands)) | dict(zip(places, some, strict=True))
        return [y for y in node.compute(*own.values()) if _is_real(y)]  # type: ignore[misc]

    def call(inputs: Sequence[Any], cotangents: Sequence[Any] | None) -> Any:
        if any(jnp.asarray(x).dtype != x.dtype for x in inputs):
            raise ValueError("the run was in double precision, which is off now (jax_enable_x64)")
        if cotangents is None:
            return list(map(np.asarray, compute(*inputs))), ()
        results, pull = jax.vjp(compute, *map(jnp.asarray, inputs))
        grads = pull([jnp.asarray(c, y.dtype) for c, y in zip(cotangents, results, strict=True)])
        return list(map(np.asarray, results)), list(map(np.asarray, grads))

    points = [given] if {x.dtype.str[1:] for x in given} <= {"f4", "f8"} else []
    return CustomRule(node.op.partition(" ")[0], lambda: points, call)


def _why_cut(node: jaxpr.JaxprNode, results: Sequence[Any]) -> str:
    if node.op == "stop_gradient":
        return "behind stop_gradient"
    if not any(map(_is_real, results)):
        name = "a conversion" if node.op == "convert_element_type" else node.op
        return f"{name} makes whole numbers or truth values"
    return f"{node.op} has no gradient"


def _note(op: str) -> str:
    return "one function, with a rule of its own" if "custom_" in op else ""


def _number(x: Any) -> Any:
    return x.value if isinstance(x, _StoredArray) else x


class _SavedBytes:
    """The bytes that pullbacks hold, each array once, at the first equation that does.

    Arguments and constants don't count, because they exist anyway. Of a checkpoint we count what
    it is given, because it keeps that, and not what it computes.
    """

    def __init__(self) -> None:
        self._counted: dict[int, Any] = {}  # kept alive, so that no id is reused

    def of_equation(
        self, node: jaxpr.JaxprNode, given: Sequence[Any], results: Sequence[Any], back: Any
    ) -> int:
        """Count the bytes that an equation keeps and nothing before it does."""
        if not node.operands:
            self._counted.update({id(x): x for x in results})
        held = jax.tree.leaves(back)
        if node.is_recomputed and held:
            uses = zip(given, node.operands, strict=True)
            held = [x for x, (value, _) in uses if not value.is_recomputed]
        return sum(map(self._new, held))

    def _new(self, array: Any) -> int:
        if id(array) in self._counted:
            return 0
        self._counted[id(array)] = array
        return int(array.nbytes)


def _array(x: Any) -> Any:
    """Return an array that remains the same object where JAX keeps it."""
    return jnp.asarray(x) if isinstance(x, np.ndarray) else x


def _is_real(x: Any) -> bool:
    return bool(jnp.issubdtype(jnp.result_type(x), jnp.inexact))


class _Calls:
    """Calls of functions and named scopes, in the order in which their equations were written."""

    def __init__(self, nodes: Sequence[jaxpr.JaxprNode]) -> None:
        self._known: dict[tuple[jaxpr.Scope, ...], ModuleCall] = {(): ModuleCall()}
        for node in nodes:
            self.find(node.scopes)

    def find(self, scopes: tuple[jaxpr.Scope, ...]) -> ModuleCall:
        """Return the call that contains an equation with these scopes."""
        if scopes not in self._known:
            outer = self.find(scopes[:-1])
            name, _ = scopes[-1]
            path = f"{outer.path}.{name}" if outer.path else name
            same = [call for call in self._known.values() if call.path == path]
            call = ModuleCall(path, name, outer, len(same) + 1)
            for other in [*same, call]:
                other.turns = len(same) + 1
            self._known[scopes] = call
        return self._known[scopes]
