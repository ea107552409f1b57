"""A small autograd engine: one node for scalars and arrays, and derivatives of any order."""

from chaingrad._program import program
from chaingrad.functional import (
    check_gradients,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
)
from chaingrad.modes import AnomalyError, detect_anomaly, no_grad
from chaingrad.node import Node
from chaingrad.operations import concatenate, einsum, logaddexp, maximum, minimum, stack, where
from chaingrad.remat import checkpoint

__version__ = "0.1.0"

__all__ = [
    "AnomalyError",
    "Node",
    "check_gradients",
    "checkpoint",
    "concatenate",
    "detect_anomaly",
    "einsum",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "logaddexp",
    "maximum",
    "minimum",
    "no_grad",
    "program",
    "stack",
    "value_and_grad",
    "vjp",
    "where",
]
