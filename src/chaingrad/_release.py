"""Nodes that a backward pass frees as it goes, and the error where one is differentiated again."""

import functools
from collections.abc import Sequence
from typing import Any

from chaingrad.rules import Rule


def release_node(node: Any, keep_data: bool) -> None:
    """Cut a node off from its parents, and drop what it holds unless that is wanted."""
    node.parents = ()
    node.rule = _released(node.rule.name)
    if not keep_data:
        node.data = None
        node.grad = 0.0


class _Released(Rule):
    """The rule of a node that was freed."""

    __slots__ = ()

    def pull(self, g: Any, out: Any, inputs: Sequence[Any], needed: Sequence[bool]) -> Any:
        raise ValueError(
            f"backward: a node {self.name} was freed by backward(release=True); compute it again, "
            "or leave release out of the earlier call"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _released, (self.name,)


@functools.cache
def _released(name: str) -> Rule:
    return _Released(name, lambda *inputs: None, ())


def is_released(node: Any) -> bool:
    """Return whether a node was freed."""
    return isinstance(node.rule, _Released)
