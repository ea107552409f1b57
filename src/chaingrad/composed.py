"""An older name for the functions of one node in `chaingrad.operations`."""

from chaingrad.operations import (
    clip,
    expand_dims,
    flatten,
    logsigmoid,
    norm,
    prod,
    softplus,
    sort,
    squeeze,
    var,
)

__all__ = [
    "clip",
    "expand_dims",
    "flatten",
    "logsigmoid",
    "norm",
    "prod",
    "softplus",
    "sort",
    "squeeze",
    "var",
]
