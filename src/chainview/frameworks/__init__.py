"""The reader's own model: one run of PyTorch or JAX, forward and backward, as a graph.

`watch_torch` notes what PyTorch does, as it does it: the operations, and the shares of gradients
that they send to one another, in PyTorch's order. `watch_jax` walks a jaxpr forward and back, for
JAX sends no messages that could be noted: it is our walk, by JAX's rules. What comes is a graph of
nodes that `chainview.draw_graph`, `chainview.draw_gradient_flow` and
`chainview.play` take.

`diagnose` says in words what is wrong with a run.

Neither is imported before one of these is called. Tested with PyTorch 2.13 and JAX 0.10, and each
week with the newest. What is private of PyTorch is in ``private.py`` alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

from chainview.frameworks.diagnosis import Diagnosis, LayerSummary, diagnose
from chainview.frameworks.run import Missed, ModuleCall, Summary, WatchedNode
from chainview.frameworks.symptom import Symptom
from chainview.frameworks.watched import Watched

__all__ = [
    "Diagnosis",
    "LayerSummary",
    "Missed",
    "ModuleCall",
    "Summary",
    "Symptom",
    "Watched",
    "WatchedNode",
    "diagnose",
    "watch_jax",
    "watch_torch",
]

MOST = 256 * 1024 * 1024


def watch_torch(
    f: Callable[..., Any], *inputs: Any, model: Any = None, most: int = MOST
) -> Watched:
    """Run ``f(*inputs)`` and its backward pass in PyTorch once, and record everything that happens.

    The shares are those that PyTorch sent, in its order. They add up to the gradient to the last
    bit for each leaf, and for each tensor between that is neither changed in place nor a view of
    one that is. What PyTorch runs as one function is one box: a function of the reader's own, a
    change of a part of a tensor (``CopySlices``), an RNN on a GPU. A compiled module runs as it is
    written.

    Afterwards the tensors that were there before the run, their ``.grad``, the buffers of modules,
    and the generators of PyTorch, NumPy and ``random`` are as they were, also where ``f`` fails.
    This covers the modules of ``model``, the modules that ``f`` refers to, and the modules it
    calls. Anything else that ``f`` does, to modes or lists or files, happens once. A tensor is
    recorded as it is at the time of an operation, whatever changes it in place later.

    Args:
        f: a function of ``inputs`` that gives a loss, one number.
        inputs: tensors, or anything else that ``f`` takes.
        model: the module that is trained: its parameters are named, and missed where no gradient
            reaches them. Parameters of other modules, such as a target network, are not. By
            default all are.
        most: bytes of arrays to keep. Where there would be more, shapes, norms and largest entries
            are kept of all.

    Raises:
        TypeError: ``f`` is no function, or does not give a tensor.
        ValueError: the loss has more than one entry, or depends on nothing that requires a
            gradient; or an input was computed by operations that were not watched.
        RuntimeError: a parameter has a post-accumulate hook, which may change parameters while the
            pass runs; a module is lazy; ``f`` runs the backward pass itself, as a
            reentrant checkpoint does; or it uses ``torch.func.grad`` or another transform that
            differentiates.

    >>> import torch
    >>> w = torch.tensor(3.0, requires_grad=True)
    >>> watched = watch_torch(lambda x: (w * x).tanh() * w, torch.tensor(0.5))
    >>> for event in watched.events[1:]:
    ...     print(event.child.op, "->", event.parent.name, f"{event.share:.4f}")
    Mul -> Tanh 3.0000
    Mul -> w 0.9051
    Tanh -> Mul 0.5421
    Mul -> w 0.2711
    >>> w.grad is None
    True
    """
    from chainview.frameworks.record_torch import watch

    return watch(f, inputs, model, most)


def watch_jax(
    f: Callable[..., Any], *inputs: Any, argnums: int | Sequence[int] = 0, most: int = MOST
) -> Watched:
    """Trace ``f(*inputs)`` with JAX, and take its gradient equation by equation.

    JAX sends no messages: it transposes a whole program at once. Here each equation of the jaxpr is
    run, and then, from the last to the first, pulled back by ``jax.vjp`` of its primitive. The
    rules are JAX's, the order and the sums are ours. They agree with ``jax.grad`` up to rounding,
    because we may take a sum in another order.

    We look into the functions under ``jit`` and ``jax.checkpoint``, and unroll a ``scan`` of up to
    50 steps. Anything with a derivative of its own (``custom_vjp``, ``custom_jvp``), a longer
    ``scan``, a ``cond`` and a checkpoint with a policy are one box each. Names come from
    arguments, functions and ``jax.named_scope``. The function is traced once, and never compiled.

    The bytes that an equation keeps are the bytes of the arrays that its pullback holds, as
    ``jax.vjp`` returns it; each array counts at the first equation that holds it. A checkpoint
    keeps what it is given. An unrolled ``scan`` keeps what the same steps keep when they are
    written out (the ``scan`` also copies its carry, and no rows). A compiler that sees both passes
    may keep other arrays.

    Args:
        f: a function of ``inputs`` that gives a loss, one number.
        inputs: arrays, or what holds arrays, such as a dictionary of parameters.
        argnums: the position of the argument to differentiate, or several.
        most: bytes of arrays to keep. Where there would be more, shapes, norms and largest entries
            are kept of all.

    Raises:
        TypeError: ``f`` gives several arrays.
        ValueError: the loss has more than one entry, or depends on none of the arguments; or a
            gradient would have to go through a ``while_loop``.

    >>> import jax.numpy as jnp
    >>> watched = watch_jax(lambda w, x: jnp.tanh(w * x) * w, 3.0, 0.5)
    >>> for event in watched.events[1:]:
    ...     print(event.child.op, "->", event.parent.name, f"{event.share:.4f}")
    mul -> tanh 3.0000
    mul -> w 0.9051
    tanh -> mul 0.5421
    mul -> w 0.2711
    """
    from chainview.frameworks.record_jax import watch

    return watch(f, inputs, argnums, most)
