"""A small autograd engine: one node for scalars and arrays, and derivatives of any order."""

from chaingrad.functional import check_gradients, grad, hessian, hvp, jvp, value_and_grad, vjp
from chaingrad.modes import AnomalyError, detect_anomaly, no_grad
from chaingrad.node import Node
from chaingrad.ops import concatenate, maximum, minimum, stack, where
from chaingrad.remat import checkpoint

__all__ = [
    "AnomalyError",
    "Node",
    "check_gradients",
    "checkpoint",
    "concatenate",
    "detect_anomaly",
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
