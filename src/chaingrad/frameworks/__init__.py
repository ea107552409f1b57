"""The reader's own model: one run of PyTorch or JAX, forward and backward, as a graph.

`watch_torch` notes what PyTorch does, as it does it: the operations, and the shares of gradients
that they send to one another, in PyTorch's order. What comes is a graph of nodes that
`chaingrad.draw.draw_graph`, `chaingrad.draw.draw_gradient_flow` and `chaingrad.step.play` take.

Neither PyTorch nor JAX is imported before one of these is called. What is private of the two, and
may change with their versions, is in `_private.py` alone.
"""

from collections.abc import Callable
from typing import Any

from chaingrad.frameworks.watched import Call, Missed, Summary, Value, Watched

__all__ = ["Call", "Missed", "Summary", "Value", "Watched", "watch_torch"]

MOST = 256 * 1024 * 1024


def watch_torch(
    f: Callable[..., Any], *inputs: Any, model: Any = None, most: int = MOST
) -> Watched:
    """Run ``f(*inputs)`` and its backward pass in PyTorch once, and note all that happens.

    The shares are those that PyTorch sent, in its order. They add up to the gradient to the last
    bit for each leaf, and for each tensor between that is neither changed in place nor a view of
    one that is. What PyTorch runs as one function is one box: a function of the reader's own, a
    reentrant checkpoint with the parameters that it reaches, a change of a part of a tensor
    (``CopySlices``), an RNN on a GPU. A compiled module runs as it is written.

    Afterwards the tensors that were there before the run, their ``.grad``, the buffers and modes of
    modules, and the generators of PyTorch, NumPy and ``random`` are as they were, also where ``f``
    fails. Modules are those of ``model``, those that ``f`` refers to, and those it calls. What else
    ``f`` does, to lists or files or counters, is done once. Tensors as they are at the time of an
    operation are noted, whatever is changed in place later.

    Args:
        f: a function of ``inputs`` that gives a loss, one number.
        inputs: tensors, or anything else that ``f`` takes.
        model: names its parameters, also those that ``f`` never reaches.
        most: bytes of arrays to keep. Where there would be more, shapes, norms and largest entries
            are kept of all.

    Raises:
        TypeError: ``f`` does not give a tensor.
        ValueError: the loss has more than one entry, or depends on nothing that requires a
            gradient; or an input was computed by operations that were not watched.
        RuntimeError: a parameter has a post-accumulate hook, which may change parameters while the
            pass runs; a module is lazy; or ``f`` uses ``torch.func.grad`` or another transform that
            differentiates.

    >>> import torch
    >>> w = torch.tensor(3.0, requires_grad=True)
    >>> watched = watch_torch(lambda x: (w * x).tanh() * w, torch.tensor(0.5))
    >>> for event in watched.events[1:]:
    ...     print(event.child.op, "->", event.parent.name, event.share)
    Mul -> Tanh 3.0
    Mul -> a leaf 0.90514827
    Tanh -> Mul 0.54211...
    Mul -> a leaf 0.27105...
    >>> w.grad is None
    True
    """
    from chaingrad.frameworks._torch import watch

    return watch(f, inputs, model, most)
