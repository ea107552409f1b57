"""An older name for the functions of several nodes in `chaingrad.operations`."""

from chaingrad.operations import concatenate, einsum, logaddexp, maximum, minimum, stack, where

__all__ = ["concatenate", "einsum", "logaddexp", "maximum", "minimum", "stack", "where"]
