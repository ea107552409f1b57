"""Rematerialization: compute part of a graph again in the backward pass instead of keeping it.

A checkpoint is one node of the graph, however much was computed in it :cite:`chen2016`. Its forward
pass records nothing and so keeps nothing but the result; its VJP runs the function again, recorded,
and pulls the gradient back through the graph that this makes, which is then dropped.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from chaingrad import modes, rules
from chaingrad._shares import zeros
from chaingrad.backward import adjoints
from chaingrad.graph import toposort
from chaingrad.node import Node
from chaingrad.prices import Price
from chaingrad.rules import JointRule, Rule, Traced, is_symbol


def checkpoint(f: Callable[..., Node], *args: Any, **kwargs: Any) -> Node:
    """Compute ``f(*args, **kwargs)`` and keep only the result, not the values on the way to it.

    The backward pass calls ``f`` once more to have them again: memory for time. Gradients reach
    every node that ``f`` reads, whether it is an argument, a parameter of a module, or taken from
    an enclosing scope. The nodes made within ``f`` are dropped, so they show no gradient.

    Within `~chaingrad.modes.no_grad` this is ``f`` itself. Under ``create_graph`` the gradient is
    right and the values are kept after all, being part of its graph.

    Args:
        f: gives a node. Called twice, it must give the same numbers twice: so no fresh random
            numbers, nothing kept from one call for the next, and no change of what it reads
            before the backward pass. Derivatives that it takes are nodes, as within a function that
            is being differentiated.
        args, kwargs: what ``f`` is called with, both times.

    Raises:
        TypeError: ``f`` does not give a node.
        ValueError: (from the backward pass) the second call gave something else than the first.

    >>> x = Node(0.5)
    >>> y = checkpoint(lambda x: (x.sin() + x).exp(), x)
    >>> y.op, y.parents == (x,)
    ('checkpoint', True)
    >>> y.backward()
    >>> plain = Node(0.5)
    >>> (plain.sin() + plain).exp().backward()
    >>> x.grad == plain.grad
    True
    """
    if modes.paused():
        return f(*args, **kwargs)
    name = getattr(f, "__qualname__", repr(f))
    segment = _Segment(partial(f, *args, **kwargs), name)
    out = segment.first_run()
    if out.requires_grad or not segment.outer:
        return out  # an unchanged node from outside, or a constant
    price = Price(segment.count_flops)
    rule = _Recomputed("checkpoint", lambda *inputs: out.data, segment.pull, price=price)
    return segment.outer[0].apply(rule, segment.outer, {})


class _Recomputed(JointRule):
    """The rule of one checkpoint, which stands in no table."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a checkpoint cannot be pickled: it needs its function for the backward pass; pickle "
            "the parameters, or the graph made without checkpoint"
        )


class _Segment:
    """The part of a computation that is run again, and the nodes outside it that it reads."""

    def __init__(self, run: Callable[[], Node], name: str) -> None:
        self.run = run
        self.name = name
        self.outer: list[Node] = []

    def first_run(self) -> Node:
        """Run without recording; note the nodes read. Nothing made here requires a gradient."""
        reads = _Reads(modes.watch() or modes.Watch())
        with modes.watching(reads), modes.differentiating(), modes.no_grad():
            out = self._checked(self.run())
        self.outer = list(reads.nodes)
        return out

    def pull(self, g: Any, out: Any, inputs: Sequence[Any], needed: Sequence[bool]) -> list[Any]:
        """Run again, recorded, and take the gradient ``g`` of the result back to the inputs."""
        with modes.differentiating():
            again = self._checked(self.run())
        self._same(again.data, rules.value(out))
        keep = isinstance(g, Traced)
        inner = {node: Node(node.data, node.label) for node in self.outer}
        # Leaves replace the nodes outside, so that the pass through the segment ends there.
        for node in toposort(again, lambda node: () if node in inner else node.parents):
            if node not in inner:
                node.parents = tuple(inner.get(p, p) for p in node.parents)
        found: dict[Any, Any] = {}
        if again.requires_grad:
            root = inner.get(again, again) if keep else _without_value(inner.get(again, again))
            del again  # so that the pass, which releases the segment, frees its result too
            found = adjoints(root, g, list(inner.values()), keep, release=not keep)
        shares = [found.get(leaf, _zero(leaf, keep)) for leaf in inner.values()]
        if keep:  # second derivatives go on from the leaves to the nodes outside
            for leaf, node in zip(inner.values(), inputs, strict=True):
                leaf.rule, leaf.parents = rules.alias, (node,)
        return shares

    def count_flops(self, out: Any, *inputs: Any) -> int:
        """Count the operations of the function, which runs once more for it."""
        from chaingrad.account import flops

        with modes.watching(None), modes.differentiating():
            again = self._checked(self.run())
        outside = set(inputs)
        inner = toposort(again, lambda node: () if node in outside else node.parents)
        return sum(flops(node) for node in inner if node not in outside)

    def _checked(self, out: Any) -> Node:
        if isinstance(out, Node):
            return out
        raise TypeError(
            f"checkpoint: {self.name} must give a node; it gave {type(out).__name__}. Compute "
            "with nodes, not with their .data, and split a function that has several results"
        )

    def _same(self, again: Any, before: Any) -> None:
        if is_symbol(again):
            return
        if np.shape(again) == np.shape(before):
            if np.array_equal(again, before):  # the usual case; with equal_nan it copies both
                return
            loose = 16 * float(np.finfo(np.result_type(before)).eps) ** 0.5
            largest = np.max(np.abs(before), where=np.isfinite(before), initial=0.0)
            if np.allclose(again, before, loose, loose * largest, equal_nan=True):
                return  # sums in another order
        raise ValueError(
            f"checkpoint: {self.name} gave other numbers when the backward pass called it "
            "again, so its gradient would belong to another function. Draw random numbers, such "
            "as a dropout mask, outside; update parameters after backward, not before"
        )


class _Reads(modes.Watch):
    """Notes the operands that require a gradient, and shows all to the watch that was there."""

    def __init__(self, before: modes.Watch) -> None:
        self.before = before
        self.nodes: dict[Node, None] = {}
        self._made: set[Node] = set()  # by derivatives taken within, which record
        for name in ("unchanged", "lost", "backward"):
            setattr(self, name, getattr(before, name))

    def forward(self, rule: Rule, data: Any, inputs: Sequence[Any]) -> None:
        read = (node for node in inputs if node.requires_grad and node not in self._made)
        self.nodes.update(dict.fromkeys(read))
        self.before.forward(rule, data, inputs)

    def recorded(self, node: Any) -> None:
        self._made.add(node)
        self.before.recorded(node)


def _without_value(node: Node) -> Node:
    """Make an alias of ``node`` as the root of a pass; its data, if an array, take no memory."""
    with modes.watching(None), modes.recording():
        root: Node = rules.alias(node)
    if node.ndim:
        root.data = np.broadcast_to(np.zeros((), node.dtype), node.shape)
    return root


def _zero(leaf: Node, keep: bool) -> Any:
    zero = zeros(leaf.data)
    return Node(zero, requires_grad=False) if keep else zero
