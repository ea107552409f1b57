"""A function with a backward of its own, written as two functions with names.

A rule of `chaingrad.rules` says more: it enters the table of rules, which drawings, accounts and
pickled graphs look it up in. This is for a function that you need once.
"""

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from typing import Any, NoReturn

from chaingrad.rules import RULES, JointRule, Traced


class CustomRule(JointRule):
    """What `custom_vjp` makes of a function; call it as you'd call the function."""

    def defvjp(self, backward: Callable[..., Any]) -> Callable[..., Any]:
        """Take ``backward(g, out, *inputs, **options)`` for the backward of this function.

        It returns the gradient of the loss with respect to each input, as a tuple if there are
        several, from ``g``, that with respect to the result ``out``. A share may have the shape to
        which its input was broadcast. If ``backward`` is written with operators and functions that
        take nodes, it can be differentiated again.
        """
        self.pull_all = partial(_pull, self.name, backward)
        return backward

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        if self.pull_all is _missing and any(isinstance(x, Traced) for x in inputs):
            raise TypeError(f"{self.name} has no backward yet: write one below @{self.name}.defvjp")
        return super().__call__(*inputs, **options)

    def __deepcopy__(self, memo: Any) -> "CustomRule":
        return self  # as a function is copied

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self.name} has a custom VJP and cannot be pickled, nor can a graph that uses it; "
            "pickle the parameters, or make it a rule with chaingrad.rules.rule"
        )


def custom_vjp(f: Callable[..., Any]) -> CustomRule:
    """Make a function of arrays differentiable by a backward that you write.

    Numbers and arrays go through ``f`` as before; if there's a node among the inputs, the result is
    a node, too. Keywords are options without a gradient, and ``backward`` receives them as well.

    Args:
        f: computes the result, with NumPy's functions if `~chaingrad.program` is to write it down;
            it never sees a node. Its name is the operation's name.

    Raises:
        ValueError: a rule of the engine has that name.
        TypeError: from a call with nodes, if no backward has been given; from the backward pass,
            if there isn't one share for each input.

    >>> import numpy as np
    >>> from chaingrad import Node
    >>> @custom_vjp
    ... def power(a, b):
    ...     return a**b
    >>> @power.defvjp
    ... def backward(g, out, a, b):
    ...     return g * b * a ** (b - 1), g * out * np.log(a)
    >>> a, b = Node(3.0), Node(2.0)
    >>> power(a, b).backward()
    >>> a.grad, round(b.grad, 4)
    (6.0, 9.8875)
    """
    name = getattr(f, "__name__", type(f).__name__)
    if name in RULES:
        raise ValueError(f"there is a rule named {name!r} already; give the function another name")
    made = CustomRule(name, f, _missing)
    update_wrapper(made, f)
    return made


def _missing(*args: Any, **options: Any) -> NoReturn:
    raise AssertionError("a call without a backward is refused")


def _pull(
    name: str,
    backward: Callable[..., Any],
    g: Any,
    out: Any,
    inputs: Sequence[Any],
    needed: Sequence[bool],
    **options: Any,
) -> list[Any]:
    shares = backward(g, out, *inputs, **options)
    shares = shares if isinstance(shares, tuple) else (shares,)
    if len(shares) != len(inputs):
        raise TypeError(
            f"the backward of {name} must return {len(inputs)} shares, one for each input; it "
            f"returned {len(shares)}"
        )
    return [share if takes else None for share, takes in zip(shares, needed, strict=True)]
