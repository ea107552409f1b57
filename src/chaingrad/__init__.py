"""A small autograd engine: one node for scalars and arrays, and derivatives of any order."""

from chaingrad.functional import check_gradients, grad, hessian, hvp, jvp, value_and_grad, vjp
from chaingrad.node import Node, no_grad
from chaingrad.ops import concatenate, maximum, minimum, stack, where

__all__ = [
    "Node",
    "check_gradients",
    "concatenate",
    "grad",
    "hessian",
    "hvp",
    "jvp",
    "maximum",
    "minimum",
    "no_grad",
    "stack",
    "value_and_grad",
    "vjp",
    "where",
]
