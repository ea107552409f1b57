"""A part of a model: a function that holds parameters."""

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from chaingrad._floats import Data, as_data
from chaingrad.node import Node

Rng = np.random.Generator | int | None


class _IsParameter(type):
    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, Node) and thing.is_parameter


class Parameter(Node, metaclass=_IsParameter):
    """A leaf that an optimizer trains: `Module.parameters` finds it.

    A `~chaingrad.node.Node` with a mark, as in PyTorch, rather than of a class of its own: code
    that meets objects of one class only is what Python's interpreter runs fastest.

    >>> Parameter(0.5, label="w")
    Parameter(0.5, label='w')
    >>> isinstance(Parameter(0.5), Parameter), isinstance(Node(0.5), Parameter)
    (True, False)
    """

    __slots__ = ()

    def __new__(cls, data: Any, label: str | None = None) -> Node:  # type: ignore[misc]
        node = Node(data, label)
        node._is_parameter = True
        return node


class Module:
    """A part of a model: a function with parameters.

    A subclass keeps parameters and other modules in its attributes, or in lists, tuples and
    dictionaries there, and computes in ``forward``. Calling the module calls ``forward``.

    Attributes:
        training: True until `eval` is called; for modules such as `Dropout`, which behave
            differently while training.

    >>> class Line(Module):
    ...     def __init__(self):
    ...         self.slope, self.offset = Parameter(2.0), Parameter(1.0)
    ...
    ...     def forward(self, x):
    ...         return self.slope * x + self.offset
    >>> line = Line()
    >>> line(3.0).data
    7.0
    >>> [name for name, parameter in line.named_parameters()]
    ['slope', 'offset']
    """

    training: bool = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; subclasses define how."""
        raise NotImplementedError(f"{type(self).__name__} has no forward(); write one")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def __repr__(self) -> str:
        count = sum(parameter.size for parameter in self.parameters())
        return f"<{type(self).__name__} with {count:,} parameter{'' if count == 1 else 's'}>"

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Yield each parameter with its dotted name, in the order of definition.

        A parameter that is reached twice is yielded once, under its first name.
        """
        for name, thing in _parts(self):
            if isinstance(thing, Parameter):
                yield name, thing

    def parameters(self) -> Iterator[Parameter]:
        """Yield each parameter once, in the order of definition."""
        return (parameter for _, parameter in self.named_parameters())

    def modules(self) -> Iterator["Module"]:
        """Yield this module and every module in it, each once."""
        return (thing for _, thing in _parts(self) if isinstance(thing, Module))

    def zero_grad(self) -> None:
        """Set the gradient of every parameter to 0.0."""
        for parameter in self.parameters():
            parameter.grad = 0.0

    def train(self, mode: bool = True) -> "Module":
        """Set ``training`` here and in every module within; return the module."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> "Module":
        """Set ``training`` to False, for predictions; gradients are recorded as before."""
        return self.train(False)

    def state_dict(self) -> dict[str, Data]:
        """Copy the value of every parameter under its dotted name."""
        held = {name: parameter.data for name, parameter in self.named_parameters()}
        return {name: x if type(x) is float else np.array(x) for name, x in held.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Set the value of every parameter from a copy that `state_dict` made.

        Each keeps its dtype. If anything does not fit, nothing is loaded.

        Raises:
            KeyError: a name is missing, or there is one that no parameter has.
            ValueError: a value has the wrong shape.
            TypeError: a value is not numeric.
        """
        parameters = dict(self.named_parameters())
        held = {name: p.data for name, p in parameters.items()}
        _check_names(type(self).__name__, held, state)
        new = {name: _checked_value(name, data, state[name]) for name, data in held.items()}
        for name, parameter in parameters.items():
            parameter.data = new[name]


def _parts(root: Module) -> list[tuple[str, Any]]:
    """Find every module and parameter below ``root``, itself first, each once, with its name."""
    found: list[tuple[str, Any]] = []
    seen: set[int] = set()
    to_come: list[tuple[str, Any]] = [("", root)]
    while to_come:
        name, thing = to_come.pop()
        if isinstance(thing, Parameter):
            members: Iterable[tuple[Any, Any]] = ()
        elif isinstance(thing, Module | dict):
            members = (vars(thing) if isinstance(thing, Module) else thing).items()
        elif isinstance(thing, list | tuple):
            members = enumerate(thing)
        elif isinstance(thing, Node) and thing.requires_grad and not thing.parents:
            raise TypeError(
                f"{type(root).__name__}: self.{name} is a Node, which no optimizer finds: make it "
                "a chaingrad.nn.Parameter to train it, or give it requires_grad=False"
            )
        else:
            continue
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, Parameter | Module):
            found.append((name, thing))
        within = [(f"{name}.{key}" if name else str(key), member) for key, member in members]
        to_come += reversed(within)
    return found


def _check_names(model: str, expected: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    missing = [name for name in expected if name not in given]
    unexpected = [name for name in given if name not in expected]
    found = [
        f"{what}: {', '.join(map(repr, names[:6]))}{' …' if len(names) > 6 else ''}"
        for what, names in [("missing", missing), ("unexpected", unexpected)]
        if names
    ]
    if found:
        raise KeyError(f"load_state_dict of {model}: {'; '.join(found)}")


def _checked_value(name: str, data: Data, value: Any) -> Data:
    """Return a copy of ``value`` that can take the place of ``data``."""
    value = as_data(value)
    if np.shape(value) != np.shape(data):
        raise ValueError(
            f"load_state_dict: {name!r} must have the shape {np.shape(data)}; got {np.shape(value)}"
        )
    return float(value) if type(data) is float else np.array(value, np.result_type(data))


def positive(name: str, size: int) -> int:
    """Return a size; raise an error with its name if it is no whole number, or below 1."""
    try:
        number = operator.index(size)
    except TypeError:
        raise TypeError(
            f"{name} must be a whole number; got {type(size).__name__} {size!r:.60}"
        ) from None
    if number < 1:
        raise ValueError(f"{name} must be 1 or more; got {size}")
    return size
