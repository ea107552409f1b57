"""Neural networks: modules that hold parameters, on scalars and on arrays.

The names are PyTorch's. `Neuron`, `Layer` and `MLP` compute with one node for each number, so that
every weight can be seen in the graph; `Linear` and the others compute with one node for each array,
one example a row. The course's pages write embeddings, normalizations and attention themselves.

Initial weights are drawn from ``rng``: a NumPy Generator, a seed for one, or None for different
weights on each run. Pass one Generator to all parts of a model: parts that are given the same seed
start with the same numbers.
"""

from typing import TYPE_CHECKING

from chaingrad import _elsewhere
from chaingrad.nn.dense import Dropout, Linear, ReLU, Sequential, Sigmoid, Tanh
from chaingrad.nn.module import Module, Parameter, Rng
from chaingrad.nn.scalars import MLP, Layer, Neuron
from chaingrad.node import Node

if not TYPE_CHECKING:
    __getattr__ = _elsewhere.make_getattr(__name__, _elsewhere.NN, Node)

__all__ = [
    "MLP",
    "Dropout",
    "Layer",
    "Linear",
    "Module",
    "Neuron",
    "Parameter",
    "ReLU",
    "Rng",
    "Sequential",
    "Sigmoid",
    "Tanh",
]
