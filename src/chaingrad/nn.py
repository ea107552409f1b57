"""Neural networks: modules that hold parameters, on scalars and on arrays.

The names are PyTorch's. `Neuron`, `Layer` and `MLP` compute with one node for each number, so that
every weight can be seen in the graph; `Linear` and its companions compute with one node for each
array, one example a row.

Initial weights are drawn from ``rng``: a NumPy Generator, a seed for one, or None for different
weights on each run. Pass one Generator to all parts of a model: parts that are given the same seed
start with the same numbers.
"""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chaingrad import _elsewhere, rules
from chaingrad._arguments import as_node
from chaingrad.node import Data, Node, as_data

if not TYPE_CHECKING:
    __getattr__ = _elsewhere.make_getattr(__name__, _elsewhere.NN, Node)

Rng = np.random.Generator | int | None

_KNOWN: dict[str | None, Callable[[Node], Node]] = {
    "tanh": Node.tanh,
    "relu": Node.relu,
    "sigmoid": Node.sigmoid,
    None: Node.__pos__,
}


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
        """Copy the value of every parameter, under its dotted name."""
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
        _check_names(type(self).__name__, parameters, state)
        new = {name: _checked_value(name, parameters[name], state[name]) for name in parameters}
        for name, parameter in parameters.items():
            parameter.data = new[name]


# --- on scalars ---------------------------------------------------------------------------------


class Neuron(Module):
    """φ(b + w₀x₀ + w₁x₁ + …), with a node for each product and each sum.

    Weights and bias start uniform in ±1/√n_in, as in ``torch.nn.Linear``.

    Args:
        n_in: the number of inputs.
        activation: the name of φ: "tanh", "relu", "sigmoid", or None for the sum itself.
        rng: draws the initial weights; see the module.

    Attributes:
        weights: a list of ``n_in`` parameters.
        bias: a parameter.

    Raises:
        ValueError: the activation is unknown or ``n_in`` is below 1; in a call, the number of
            inputs is not ``n_in``.
        TypeError: in a call, an input is not a number or a node.

    >>> neuron = Neuron(2, rng=0)
    >>> neuron([1.0, -2.0]).op
    'tanh'
    """

    def __init__(self, n_in: int, activation: str | None = "tanh", *, rng: Rng = None) -> None:
        rng = np.random.default_rng(rng)
        bound = 1 / math.sqrt(_positive("n_in", n_in))
        *weights, bias = rng.uniform(-bound, bound, n_in + 1).tolist()
        self.weights = [Parameter(w, label=f"w{i}") for i, w in enumerate(weights)]
        self.bias = Parameter(bias, label="b")
        self.activation = activation
        self._activate = _activation(activation)

    def forward(self, inputs: Iterable[Any]) -> Node:
        """Compute the output for one example.

        Args:
            inputs: ``n_in`` numbers or nodes. A node may hold an array, with an entry for each of
                several examples; so will the output.
        """
        return self._respond(_inputs(self, inputs, len(self.weights)))

    def _respond(self, inputs: Sequence[Node]) -> Node:
        total: Node = self.bias
        for weight, x in zip(self.weights, inputs, strict=True):
            total = total + weight * x
        return self._activate(total)


class Layer(Module):
    """Neurons that share their inputs; a call gives a list with the output of each.

    Args:
        n_in: the number of inputs.
        n_out: the number of neurons.
        activation, rng: as in `Neuron`.

    Attributes:
        neurons: a list of `Neuron`.

    Raises:
        ValueError, TypeError: as `Neuron`.

    >>> len(Layer(3, 4, rng=0)([1.0, 2.0, 3.0]))
    4
    """

    def __init__(
        self, n_in: int, n_out: int, activation: str | None = "tanh", *, rng: Rng = None
    ) -> None:
        rng = np.random.default_rng(rng)
        neurons = range(_positive("n_out", n_out))
        self.neurons = [Neuron(n_in, activation, rng=rng) for _ in neurons]

    def forward(self, inputs: Iterable[Any]) -> list[Node]:
        """Compute the outputs for one example; ``inputs`` as in `Neuron.forward`."""
        nodes = _inputs(self, inputs, len(self.neurons[0].weights))
        return [neuron._respond(nodes) for neuron in self.neurons]


class MLP(Module):
    """A multilayer perceptron on scalars: layers, each fed with the outputs of the one before.

    Args:
        n_in: the number of inputs.
        sizes: the number of neurons of each layer, that of the output last.
        activation: of the hidden layers; see `Neuron`.
        output_activation: of the last layer; None leaves its sums as they are.
        rng: as in `Neuron`.

    Attributes:
        layers: a list of `Layer`.

    Raises:
        ValueError: ``sizes`` is empty, or as `Neuron`.
        TypeError: as `Neuron`.

    >>> model = MLP(2, [8, 1], rng=0)
    >>> model
    <MLP with 33 parameters>
    >>> model([0.5, -1.0]).shape
    ()
    """

    def __init__(
        self,
        n_in: int,
        sizes: Sequence[int],
        activation: str | None = "tanh",
        *,
        output_activation: str | None = None,
        rng: Rng = None,
    ) -> None:
        if not isinstance(sizes, Sequence | np.ndarray) or not len(sizes):
            raise ValueError(
                f"MLP: sizes must be a list that ends with the output layer, [n_out]; got {sizes!r}"
            )
        _activation(activation)
        rng = np.random.default_rng(rng)
        fan_in = [n_in, *sizes[:-1]]
        kinds = [activation] * (len(sizes) - 1) + [output_activation]
        self.layers = [
            Layer(n, m, kind, rng=rng) for n, m, kind in zip(fan_in, sizes, kinds, strict=True)
        ]

    def forward(self, inputs: Iterable[Any]) -> Any:
        """Compute the output for one example; ``inputs`` as in `Neuron.forward`.

        Returns:
            A node where the last layer has one neuron, otherwise a list of nodes.
        """
        outputs: Any = _inputs(self, inputs, len(self.layers[0].neurons[0].weights))
        for layer in self.layers:
            outputs = [neuron._respond(outputs) for neuron in layer.neurons]
        return outputs[0] if len(outputs) == 1 else outputs


# --- on arrays ----------------------------------------------------------------------------------


class Linear(Module):
    """The affine map x ↦ x Wᵀ + b of each row.

    Args:
        n_in: the entries of a row of the input.
        n_out: the entries of a row of the result.
        bias: whether to add b.
        rng: draws the initial weights; see the module.
        init: how they are drawn. "uniform": W and b uniform in ±1/√n_in, as ``torch.nn.Linear``
            does. "glorot": W uniform in ±√(6/(n_in + n_out)), b zero, which suits tanh
            :cite:`glorot2010`. "he": W normal with variance 2/n_in, b zero, which suits ReLU
            :cite:`he2015`.
        dtype: of the parameters; with float32 inputs, float32 keeps everything in float32.

    Attributes:
        weight: a parameter of shape (n_out, n_in).
        bias: a parameter of shape (n_out,), or None.

    Raises:
        ValueError: a size below 1 or an unknown ``init``; in a call, rows of another size.

    >>> layer = Linear(3, 2, rng=0)
    >>> layer(np.ones((5, 3))).shape
    (5, 2)
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        *,
        bias: bool = True,
        rng: Rng = None,
        init: str = "uniform",
        dtype: Any = np.float64,
    ) -> None:
        rng = np.random.default_rng(rng)
        _positive("n_in", n_in)
        _positive("n_out", n_out)
        weight, offset = _initial(init, n_in, n_out, rng)
        self.weight = Parameter(weight.astype(dtype), label="W")
        self.bias = Parameter(offset.astype(dtype), label="b") if bias else None

    def forward(self, x: Any) -> Node:
        """Map ``x`` of shape (..., n_in), a node or an array, to shape (..., n_out)."""
        n_out, n_in = self.weight.shape
        shape = np.shape(rules.value(x))
        if not shape or shape[-1] != n_in:
            raise ValueError(
                f"Linear({n_in}, {n_out}) expected an input of shape (..., {n_in}); got {shape}"
            )
        out: Node = x @ self.weight.T
        return out if self.bias is None else out + self.bias


class Tanh(Module):
    """The hyperbolic tangent of each entry."""

    def forward(self, x: Any) -> Node:
        """Map a node or an array of any shape."""
        return as_node(x).tanh()


class ReLU(Module):
    """The positive part max(0, x) of each entry."""

    def forward(self, x: Any) -> Node:
        """Map a node or an array of any shape."""
        return as_node(x).relu()


class Sigmoid(Module):
    """The logistic function 1/(1 + exp(-x)) of each entry."""

    def forward(self, x: Any) -> Node:
        """Map a node or an array of any shape."""
        return as_node(x).sigmoid()


class Dropout(Module):
    """While training, set each entry to 0 with probability p and divide the others by 1 - p.

    The division keeps the expected value, so that after `Module.eval` nothing needs to be done
    :cite:`srivastava2014`.

    Args:
        p: the probability, from 0 to 1.
        rng: draws which entries; see the module.

    Raises:
        ValueError: ``p`` is not a probability.

    >>> Dropout(0.5, rng=1)(np.ones(6)).data
    array([2., 2., 0., 2., 0., 0.])
    """

    def __init__(self, p: float = 0.5, *, rng: Rng = None) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"Dropout: p must be a probability, from 0 to 1; got {p!r}")
        self.p = float(p)
        self.rng = np.random.default_rng(rng)

    def forward(self, x: Any) -> Node:
        """Map a node or an array of any shape."""
        node = as_node(x)
        if not self.training or self.p == 0:
            return node
        kept = self.rng.random(node.shape) >= self.p
        scale = 1 / (1 - self.p) if self.p < 1 else 0.0
        return node * np.asarray(kept * scale, node.dtype)


class Sequential(Module):
    """Modules applied one after the other; their names are "0", "1", …, as in PyTorch.

    Raises:
        TypeError: one of them is not a module.

    >>> model = Sequential(Linear(2, 3, rng=0), Tanh(), Linear(3, 1, rng=1))
    >>> [name for name, parameter in model.named_parameters()]
    ['0.weight', '0.bias', '2.weight', '2.bias']
    """

    def __init__(self, *modules: Module) -> None:
        for i, module in enumerate(modules):
            if not isinstance(module, Module):
                raise TypeError(f"Sequential: part {i} must be a Module; got {module!r:.60}")
            setattr(self, str(i), module)

    def __iter__(self) -> Iterator[Module]:
        return (part for part in vars(self).values() if isinstance(part, Module))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, index: int) -> Module:
        return list(self)[index]

    def forward(self, x: Any) -> Any:
        """Feed ``x`` to the first module, its output to the second, and so on."""
        for module in self:
            x = module(x)
        return x


# --- parts --------------------------------------------------------------------------------------


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


def _checked_value(name: str, parameter: Parameter, value: Any) -> Data:
    """Return a copy of ``value`` that can be the data of ``parameter``."""
    value = as_data(value)
    if np.shape(value) != parameter.shape:
        raise ValueError(
            f"load_state_dict: {name!r} must have the shape {parameter.shape}; "
            f"got {np.shape(value)}"
        )
    return float(value) if type(parameter.data) is float else np.array(value, parameter.dtype)


def _positive(name: str, size: int) -> int:
    if operator.index(size) < 1:
        raise ValueError(f"{name} must be 1 or more; got {size}")
    return size


def _activation(name: str | None) -> Callable[[Node], Node]:
    try:
        return _KNOWN[name]
    except (KeyError, TypeError):
        known = ", ".join(map(repr, _KNOWN))
        raise ValueError(f"unknown activation {name!r:.60}; the known ones are {known}") from None


def _inputs(module: Module, inputs: Iterable[Any], expected: int) -> list[Node]:
    """Check the number of inputs, and make constants of numbers, once for all neurons."""
    who = f"{type(module).__name__} expected {expected} input{'s' if expected > 1 else ''}"
    if isinstance(inputs, np.ndarray) and inputs.ndim == 1:
        inputs = inputs.tolist()  # Python floats, whatever the dtype
    try:
        values = list(inputs)
    except TypeError:
        raise TypeError(f"{who} in a sequence; got {inputs!r:.60}") from None
    if len(values) != expected:
        raise ValueError(f"{who}; got {len(values)}")
    nodes = [as_node(x) for x in values]
    for given, node in zip(values, nodes, strict=True):
        if given is not node and node.ndim:
            raise TypeError(
                f"{who}, each a number or a node; got one of shape {node.shape}. Call the module "
                "once for each example, or pass a node for each feature"
            )
    return nodes


def _initial(init: str, n_in: int, n_out: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw the weights (n_out, n_in) and biases (n_out,) that `Linear` describes."""
    shape = (n_out, n_in)
    if init == "uniform":
        bound = 1 / math.sqrt(n_in)
        return rng.uniform(-bound, bound, shape), rng.uniform(-bound, bound, n_out)
    if init == "glorot":
        bound = math.sqrt(6 / (n_in + n_out))
        return rng.uniform(-bound, bound, shape), np.zeros(n_out)
    if init == "he":
        return rng.normal(0.0, math.sqrt(2 / n_in), shape), np.zeros(n_out)
    raise ValueError(f"unknown init {init!r}; the known ones are 'uniform', 'glorot', 'he'")
