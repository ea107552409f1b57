"""A small autograd engine: one node for scalars and arrays, and derivatives of any order."""

import importlib
from typing import TYPE_CHECKING, Any

from chaingrad import _elsewhere, linalg  # noqa: F401 (NumPy's functions of nodes)
from chaingrad.custom import custom_vjp
from chaingrad.differences import check_gradients
from chaingrad.elementwise import erf, gelu, silu
from chaingrad.functional import (
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
from chaingrad.operations import (
    concatenate,
    einsum,
    logaddexp,
    logsumexp,
    maximum,
    minimum,
    stack,
    where,
)
from chaingrad.program import program
from chaingrad.remat import checkpoint

if TYPE_CHECKING:
    from chaingrad import account, checks, data, losses, nn, optim  # noqa: F401
else:

    def __getattr__(name: str) -> Any:
        """Import a module of the package when its name is first used: ``chaingrad.nn``."""
        if not name.startswith("_"):
            try:
                return importlib.import_module(f"{__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{name}":
                    raise
        return _elsewhere.make_getattr(__name__, _elsewhere.PACKAGE, Node)(name)


__version__ = "0.2.0"

__all__ = [
    "AnomalyError",
    "Node",
    "check_gradients",
    "checkpoint",
    "concatenate",
    "custom_vjp",
    "detect_anomaly",
    "einsum",
    "erf",
    "gelu",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "logaddexp",
    "logsumexp",
    "maximum",
    "minimum",
    "no_grad",
    "program",
    "silu",
    "stack",
    "value_and_grad",
    "vjp",
    "where",
]
