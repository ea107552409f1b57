"""One run of a function in JAX, equation by equation, and its backward pass by JAX's own rules."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from chaingrad.draw import jaxpr
from chaingrad.draw.words import FEW
from chaingrad.frameworks.watched import (
    Call,
    Compared,
    Value,
    Watched,
    compared,
    summary,
)
from chaingrad.graph import toposort
from chaingrad.step.watch import Event, Message, Written

UNROLLED = 50  # steps of a scan


def watch(
    f: Callable[..., Any], inputs: Sequence[Any], argnums: int | Sequence[int], most: int
) -> Watched:
    """Trace ``f``, run its equations, and pull a gradient back through each of them."""
    chosen = {argnums} if isinstance(argnums, int) else set(argnums)
    for number in chosen:
        if not 0 <= number < len(inputs):
            raise ValueError(f"watch_jax: argnums has {number}, of {len(inputs)} arguments")
    closed = jax.make_jaxpr(f)(*inputs)
    _check(closed.out_avals)
    record = jaxpr.read_jaxpr(closed, jaxpr.CALLS, UNROLLED)
    run = _Run(record.outputs[0], _Numbers(most))
    given = [
        (x, i in chosen) for i, argument in enumerate(inputs) for x in jax.tree.leaves(argument)
    ]
    places = [node for node in record.nodes if node.kind == "input"]
    run.forward(dict(zip(places, given, strict=True)))
    seen = run.result(run.backward())
    labels = [
        node.label or "" for node, (_, is_chosen) in zip(places, given, strict=True) if is_chosen
    ]
    is_low = any("16" in str(getattr(value.data, "dtype", "")) for value in seen.values)
    return replace(seen, again=_Again(f, inputs, chosen, labels, is_low))


@dataclass(frozen=True)
class _Again:
    """Runs the function again in double precision, for its gradient and for differences."""

    f: Callable[..., Any]
    inputs: Sequence[Any]
    chosen: Set[int]
    labels: Sequence[str]
    is_low: bool

    def __call__(self, samples: int) -> Compared | str:
        if self.is_low:
            return "some of its operations are in a lower precision"
        try:
            with jax.enable_x64(True):
                return self._compared(samples)
        except Exception as error:  # of the reader's function, which may not take doubles
            return f"in double precision the function fails, with {type(error).__name__}: {error}"

    def _compared(self, samples: int) -> Compared:
        inputs = jax.tree.map(_double, list(self.inputs))
        numbers = sorted(self.chosen)
        grads = jax.grad(lambda *chosen: self._loss(inputs, numbers, chosen), range(len(numbers)))
        parts = [inputs[number] for number in numbers]
        found, shape = jax.tree.flatten(list(grads(*parts)))
        flat = jax.tree.leaves(parts)

        def loss(number: int, entry: tuple[int, ...], by: float) -> float:
            moved = [*flat]
            moved[number] = moved[number].at[entry].add(by)
            return float(self._loss(inputs, numbers, jax.tree.unflatten(shape, moved)))

        named = list(zip(self.labels, map(np.asarray, found), strict=True))
        return compared(named, samples, loss)

    def _loss(self, inputs: Sequence[Any], numbers: Sequence[int], chosen: Sequence[Any]) -> Any:
        given = list(inputs)
        for number, argument in zip(numbers, chosen, strict=True):
            given[number] = argument
        return self.f(*given)


def _double(x: Any) -> Any:
    x = jnp.asarray(x)
    return x.astype(jnp.float64) if jnp.issubdtype(x.dtype, jnp.floating) else x


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
class _Entry:
    value: Any


class _Numbers:
    """Arrays, until they are more than ``most`` bytes; from then on summaries, of all."""

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._entries: list[_Entry] = []
        self.is_full = False

    def enter(self, array: Any) -> _Entry:
        """Note an array."""
        if jnp.issubdtype(jnp.result_type(array), jax.dtypes.prng_key):
            array = jax.random.key_data(array)
        entry = _Entry(np.asarray(array))
        self._bytes += entry.value.nbytes
        self._entries.append(entry)
        if self.is_full or self._bytes > self._most:
            self.is_full = True
            for held in self._entries:
                if held.value.size > FEW:
                    held.value = summary(held.value)
            self._entries = []
        return entry


class _Run:
    """The values of all that the output needs, and what is sent back."""

    def __init__(self, output: jaxpr.Use, numbers: _Numbers) -> None:
        self._output = output
        self._order = toposort(output[0], lambda node: node.parents)[::-1]
        self._numbers = numbers
        self._results: dict[jaxpr.Value, Sequence[Any]] = {}
        self._values: dict[jaxpr.Value, Value] = {}
        self._grads: dict[tuple[jaxpr.Value, int], Any] = {}
        self._entries: dict[tuple[jaxpr.Value, int], _Entry] = {}
        self._pulls: dict[jaxpr.Value, _Pull] = {}
        self._pulled: set[jaxpr.Value] = set()
        self.events: list[Event] = []

    def forward(self, given: dict[jaxpr.Value, tuple[Any, bool]]) -> None:
        """Compute each equation from those before it."""
        calls = _Calls()
        for node in self._order:
            if node in given:
                results: Sequence[Any] = [_array(given[node][0])]
                needed = given[node][1] and _is_real(results[0])
            else:
                results, needed = self._computed(node)
            self._results[node] = results
            self._values[node] = self._value(node, results[0], needed, calls.of(node))

    def _operands(self, node: jaxpr.Value) -> list[Any]:
        return [self._results[value][i] for value, i in node.operands]

    def _computed(self, node: jaxpr.Value) -> tuple[Sequence[Any], bool]:
        """The results of an equation, and whether a gradient goes back through it."""
        assert node.compute is not None
        wanted = [p for p, use in enumerate(node.operands) if self._is_needed(use)]
        operands = self._operands(node)
        if not wanted or node.op in ("stop_gradient", "while"):
            results = [_array(x) for x in node.compute(*operands)]
            return results, node.op == "while" and bool(wanted) and any(map(_is_real, results))

        def compute(*some: Any) -> list[Any]:
            all_of_them = list(operands)
            for position, x in zip(wanted, some, strict=True):
                all_of_them[position] = x
            assert node.compute is not None
            return list(node.compute(*all_of_them))

        results, pull = jax.vjp(compute, *(operands[position] for position in wanted))
        if not any(map(_is_real, results)):
            return results, False
        self._pulls[node] = _Pull(wanted, pull)
        return results, True

    def _value(self, node: jaxpr.Value, result: Any, needed: bool, call: Call) -> Value:
        label = "loss" if node is self._output[0] else node.label or ""
        return Value(
            node.op,
            label,
            tuple(self._values[parent] for parent in node.parents),
            self._numbers.enter(result),
            requires_grad=needed,
            is_input=node.kind == "input",
            call=call,
            note="one function, with a rule of its own" if "custom_" in node.op else "",
        )

    def _is_needed(self, use: jaxpr.Use) -> bool:
        node, i = use
        return self._values[node].requires_grad and _is_real(self._results[node][i])

    # --- backward -------------------------------------------------------------------------------

    def backward(self) -> list[Event]:
        """Send shares back, from the last equation to the first."""
        if not self._is_needed(self._output):
            raise ValueError(
                "watch_jax: the loss does not depend on what argnums names by anything that has a "
                "gradient: look for stop_gradient and for whole numbers"
            )
        seed = jnp.ones_like(self._results[self._output[0]][self._output[1]])
        self._grads[self._output] = seed
        self._entries[self._output] = self._numbers.enter(seed)
        self.events.append(Written(self._values[self._output[0]], self._entries[self._output]))
        for node in reversed(self._order):
            if node.operands and self._values[node].requires_grad:
                self._pull(node)
        for (node, _), entry in reversed(self._entries.items()):
            self._values[node].grad = entry
        kept = _Kept()
        for node in self._order:
            pull = self._pulls.get(node) if node in self._pulled else None
            self._values[node].kept = kept.by(node, self._operands(node), self._results[node], pull)
        return self.events

    def _pull(self, node: jaxpr.Value) -> None:
        reached = [(node, i) in self._grads for i in range(len(self._results[node]))]
        if not any(reached):
            return
        if node.op == "while":
            raise ValueError(
                "watch_jax: JAX has no backward pass through a while loop whose length is not "
                "known; write it as a scan, or as a fori_loop with fixed bounds"
            )
        pull = self._pulls[node]
        self._pulled.add(node)
        shares = pull.back([self._cotangent(node, i) for i in range(len(reached))])
        above = self._entries[node, reached.index(True)]
        for position, share in zip(pull.wanted, shares, strict=True):
            self._send(node, position, above, share)

    def _cotangent(self, node: jaxpr.Value, i: int) -> Any:
        result = self._results[node][i]
        if not _is_real(result):
            return np.zeros(jnp.shape(result), jax.dtypes.float0)
        return self._grads.get((node, i), jnp.zeros_like(result))

    def _send(self, node: jaxpr.Value, position: int, above: _Entry, share: Any) -> None:
        use = node.operands[position]
        known = self._entries.get(use)
        total = share if known is None else self._grads[use] + share
        entry = self._numbers.enter(share)
        now = entry if known is None else self._numbers.enter(total)
        child, parent = self._values[node], self._values[use[0]]
        self.events.append(Message(child, parent, position, above, None, entry, known, now))
        self._grads[use], self._entries[use] = total, now

    def result(self, events: Sequence[Event]) -> Watched:
        """All that was seen, with arrays in place of entries."""
        for value in self._values.values():
            value.data = value.data.value
            value.grad = value.grad.value if value.grad is not None else None
        return Watched(
            "JAX",
            self._values[self._output[0]],
            list(self._values.values()),
            [_told(event) for event in events],
            complete=not self._numbers.is_full,
        )


def _told(event: Event) -> Event:
    names = (
        ("value", "known") if isinstance(event, Written) else ("above", "share", "known", "total")
    )
    numbers = {name: getattr(event, name) for name in names}
    return replace(event, **{name: x.value for name, x in numbers.items() if isinstance(x, _Entry)})


@dataclass(frozen=True)
class _Pull:
    """What takes gradients back through an equation, to those of its operands that want one."""

    wanted: Sequence[int]
    back: Callable[..., Any]


class _Kept:
    """The bytes that pullbacks hold, each array once, at the first equation that does.

    Arguments and constants count for nothing, as they exist anyway; nor does what a checkpoint
    computes, of which what it is given is kept.
    """

    def __init__(self) -> None:
        self._counted: dict[int, Any] = {}  # and held, so that no identity is used again

    def by(
        self, node: jaxpr.Value, given: Sequence[Any], results: Sequence[Any], pull: _Pull | None
    ) -> int:
        """What an equation keeps that nothing before it does."""
        if not node.operands:
            self._counted.update({id(x): x for x in results})
        held = [] if pull is None else jax.tree.leaves(pull.back)
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
    """An array that stays itself where JAX keeps it."""
    return jnp.asarray(x) if isinstance(x, np.ndarray) else x


def _is_real(x: Any) -> bool:
    return bool(jnp.issubdtype(jnp.result_type(x), jnp.inexact))


class _Calls:
    """Calls of functions and named scopes, from those of each equation, in order."""

    def __init__(self) -> None:
        self._known: dict[tuple[jaxpr.Scope, ...], Call] = {(): Call()}

    def of(self, node: jaxpr.Value) -> Call:
        """The call in which an equation stands."""
        return self._call(node.scopes)

    def _call(self, scopes: tuple[jaxpr.Scope, ...]) -> Call:
        if scopes not in self._known:
            outer = self._call(scopes[:-1])
            name, _ = scopes[-1]
            path = f"{outer.path}.{name}" if outer.path else name
            same = [call for call in self._known.values() if call.path == path]
            call = Call(path, name, outer, len(same) + 1)
            for other in [*same, call]:
                other.turns = len(same) + 1
            self._known[scopes] = call
        return self._known[scopes]
