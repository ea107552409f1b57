"""Networks of one node for each number, so that every weight can be seen in the graph."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from chaingrad._arguments import as_node
from chaingrad.nn.module import Module, Parameter, Rng, positive
from chaingrad.node import Node

_KNOWN: dict[str | None, Callable[[Node], Node]] = {
    "tanh": Node.tanh,
    "relu": Node.relu,
    "sigmoid": Node.sigmoid,
    None: Node.__pos__,
}


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
        bound = 1 / math.sqrt(positive("n_in", n_in))
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
        neurons = range(positive("n_out", n_out))
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
