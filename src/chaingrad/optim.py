"""Optimizers, which turn gradients into steps, schedules of their rate, and clipping.

Each update is that of ``torch.optim``, value for value.

A step binds ``data`` to a new array and leaves the old one as it was, because others may hold it: a
recorded graph through ``W.T``, a copy kept to compare with. Nothing that an optimizer does is
recorded. Call ``backward`` before the step: it reads a parameter's value when it runs, so run
afterwards it would mix new values with old ones.

A gradient of 0.0 at an array means that no backward pass has reached it. Such a parameter is
skipped, as PyTorch skips one whose gradient is None: neither momentum nor weight decay moves it. At
a scalar 0.0 is a gradient like any other. A frozen parameter (``requires_grad`` is False) never
moves.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chaingrad import _elsewhere
from chaingrad._arguments import at_least_zero, parameter_list
from chaingrad.node import Node
from chaingrad.rules import float_dtype, value

if not TYPE_CHECKING:
    __getattr__ = _elsewhere.make_getattr(__name__, _elsewhere.OPTIM, Node)


class Optimizer:
    """What optimizers share: parameters, a learning rate, and the loop over both.

    Attributes:
        parameters: the list of nodes that `step` changes.
        lr: the learning rate; it may be changed between steps.
    """

    def __init__(self, parameters: Iterable[Node], lr: float, weight_decay: float) -> None:
        self.parameters = parameter_list(parameters)
        self.lr = at_least_zero("lr", lr)
        self.weight_decay = at_least_zero("weight_decay", weight_decay)

    def zero_grad(self) -> None:
        """Set the gradient of every parameter to 0.0."""
        for parameter in self.parameters:
            parameter.grad = 0.0

    def step(self) -> None:
        """Change every parameter that has a gradient, once."""
        for i, parameter in enumerate(self.parameters):
            gradient = _gradient(parameter)
            if gradient is not None:
                change = self._change(i, self._decayed(gradient, parameter.data))
                parameter.data = _match_data(parameter.data, parameter.data - change)

    def _decayed(self, gradient: Any, data: Any) -> Any:
        """Return the gradient of the loss with the penalty λ/2 ‖p‖²."""
        return gradient + self.weight_decay * data if self.weight_decay else gradient

    def _change(self, i: int, gradient: Any) -> Any:
        """Return what to subtract from parameter ``i``."""
        raise NotImplementedError


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum if asked for :cite:`sutskever2013`.

    With weight decay λ the gradient is g = ∇J(p) + λp. The velocity starts at 0; a step makes it
    v ← μv + g, and then p ← p - lr·v, or p ← p - lr·(g + μv) with Nesterov's variant. (In the
    source lr is a factor of g in v instead, which differs when lr is changed between steps.)

    Args:
        parameters: nodes; a generator is fine.
        lr: the learning rate.
        momentum: μ.
        weight_decay: λ.
        nesterov: whether to look ahead along the velocity.

    Raises:
        ValueError: there are no parameters or one of them twice, a number is negative, or
            ``nesterov`` comes without momentum; from ``step``, a gradient of the wrong shape.
        TypeError: a parameter is not a node, or is not a leaf.

    >>> w = Node(1.0)
    >>> optimizer = SGD([w], lr=0.1)
    >>> (w * 3.0).backward()
    >>> optimizer.step()
    >>> w.data
    0.7
    """

    def __init__(
        self,
        parameters: Iterable[Node],
        lr: float,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(parameters, lr, weight_decay)
        self.momentum = at_least_zero("momentum", momentum)
        self.nesterov = nesterov
        if nesterov and not momentum:
            raise ValueError("SGD: nesterov=True needs a momentum above 0")
        self._velocity: list[Any] = [0.0] * len(self.parameters)

    def _change(self, i: int, gradient: Any) -> Any:
        if self.momentum:
            velocity = self._velocity[i] = self.momentum * self._velocity[i] + gradient
            gradient = gradient + self.momentum * velocity if self.nesterov else velocity
        return float(self.lr) * gradient


class Adam(Optimizer):
    """Steps scaled by running averages of the gradient and its square :cite:`kingma2015`.

    m ← β₁m + (1 - β₁)g and v ← β₂v + (1 - β₂)g²; after t steps, m̂ = m/(1 - β₁ᵗ) and
    v̂ = v/(1 - β₂ᵗ), the step is p ← p - lr·m̂/(√v̂ + ε). Weight decay λ adds λp to g, so that it
    is scaled as well; `AdamW` lets it shrink the parameter by itself.

    Args:
        parameters: nodes; a generator is fine.
        lr: the learning rate.
        betas: (β₁, β₂), each from 0 and below 1.
        eps: ε.
        weight_decay: λ.

    Raises:
        ValueError, TypeError: as `SGD`, and for betas out of range.

    >>> w = Node(1.0)
    >>> optimizer = Adam([w], lr=0.1)
    >>> (w * 3.0).backward()
    >>> optimizer.step()
    >>> round(w.data, 6)
    0.9
    """

    def __init__(
        self,
        parameters: Iterable[Node],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, lr, weight_decay)
        is_pair = isinstance(betas, tuple | list) and len(betas) == 2
        if not is_pair or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"Adam: betas must be two numbers from 0 to below 1; got {betas!r}")
        self.betas = betas
        self.eps = at_least_zero("eps", eps)
        self._moments: list[tuple[Any, Any, int]] = [(0.0, 0.0, 0)] * len(self.parameters)

    def _change(self, i: int, gradient: Any) -> Any:
        beta1, beta2 = self.betas
        m, v, t = self._moments[i]
        m = beta1 * m + (1 - beta1) * gradient
        v = beta2 * v + (1 - beta2) * gradient * gradient
        self._moments[i] = m, v, t + 1
        unbiased_root = v**0.5 / math.sqrt(1 - beta2 ** (t + 1))
        return float(self.lr) / (1 - beta1 ** (t + 1)) * m / (unbiased_root + self.eps)


class AdamW(Adam):
    """`Adam` with weight decay apart from the gradient :cite:`loshchilov2019`.

    A step first takes p to p - lr·λp, and then makes Adam's step with g = ∇J(p).

    >>> w = Node(1.0)
    >>> optimizer = AdamW([w], lr=0.1, weight_decay=0.5)
    >>> (w * 3.0).backward()
    >>> optimizer.step()
    >>> round(w.data, 6)
    0.85
    """

    def __init__(
        self,
        parameters: Iterable[Node],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(parameters, lr, betas, eps, weight_decay)

    def _decayed(self, gradient: Any, data: Any) -> Any:
        return gradient

    def _change(self, i: int, gradient: Any) -> Any:
        decay = float(self.lr) * self.weight_decay * self.parameters[i].data
        return decay + super()._change(i, gradient)


# --- schedules ----------------------------------------------------------------------------------

Schedule = Callable[[int], float]


def constant(lr: float, warmup: int = 0) -> Schedule:
    """Return the schedule that keeps one rate, after a warm-up :cite:`goyal2017`.

    A schedule is a function from the number of a step, counted from 0, to its learning rate. Set
    the rate before the step, whichever the optimizer is.

    Args:
        lr: the rate.
        warmup: in how many steps the rate rises to ``lr``: (t + 1)/warmup of it at step t.

    Raises:
        ValueError: a number is negative.

    >>> optimizer, rate = SGD([Node(1.0)], lr=0.1), constant(0.1, warmup=4)
    >>> for t in range(3):
    ...     optimizer.lr = rate(t)
    ...     print(t, round(optimizer.lr, 3))
    0 0.025
    1 0.05
    2 0.075
    """
    at_least_zero("lr", lr)
    at_least_zero("warmup", warmup)
    return lambda t: lr * min(1.0, (t + 1) / warmup) if warmup else lr


def step_decay(lr: float, every: int, factor: float = 0.1) -> Schedule:
    """Return the schedule lr·factorᵏ, where k counts the whole stretches of ``every`` steps.

    It is PyTorch's ``StepLR``.

    Raises:
        ValueError: ``every`` is below 1, or another number is negative.

    >>> rate = step_decay(0.8, every=10, factor=0.5)
    >>> rate(0), rate(9), rate(10), rate(35)
    (0.8, 0.8, 0.4, 0.1)
    """
    at_least_zero("lr", lr)
    at_least_zero("factor", factor)
    if every < 1:
        raise ValueError(f"step_decay: every must be 1 step or more; got {every!r}")
    return lambda t: lr * factor ** (t // every)


def cosine(lr: float, steps: int, warmup: int = 0, least: float = 0.0) -> Schedule:
    """Return the schedule that falls along half a cosine, after a warm-up :cite:`loshchilov2017`.

    With s = (t - warmup)/(steps - warmup) it is least + (lr - least)·(1 + cos πs)/2, and ``least``
    from step ``steps`` on. Without warm-up, it is PyTorch's ``CosineAnnealingLR`` up to there.

    Args:
        lr: the highest rate.
        steps: how many steps there are.
        warmup: how many of them the rate rises in, as in `constant`.
        least: the rate at the end.

    Raises:
        ValueError: ``steps`` does not exceed ``warmup``, or a number is negative.

    >>> rate = cosine(0.1, steps=10, warmup=2)
    >>> [round(rate(t), 4) for t in (0, 1, 2, 6, 10, 11)]
    [0.05, 0.1, 0.1, 0.05, 0.0, 0.0]
    """
    at_least_zero("least", least)
    if not steps > warmup:
        raise ValueError(f"cosine: steps={steps!r} must be more than warmup={warmup!r}")
    rising = constant(lr, warmup)

    def rate(t: int) -> float:
        if t < warmup:
            return rising(t)
        s = min(1.0, (t - warmup) / (steps - warmup))
        return least + (lr - least) * (1 + math.cos(math.pi * s)) / 2

    return rate


# --- clipping -----------------------------------------------------------------------------------


def clip_grad_norm(parameters: Iterable[Node], max_norm: float) -> float:
    """Scale all gradients together so that their norm is at most ``max_norm`` :cite:`pascanu2013`.

    The norm is that of all gradients as one long vector. Where it exceeds ``max_norm``, each
    gradient is multiplied by max_norm/(norm + 10⁻⁶), as in PyTorch.

    Returns:
        The norm before clipping. If it is not finite, the gradients become 0 or nan.

    Raises:
        ValueError: there are no parameters, or ``max_norm`` is negative.
        TypeError: a parameter is not a node.

    >>> a, b = Node(0.0), Node(0.0)
    >>> (3 * a + 4 * b).backward()
    >>> clip_grad_norm([a, b], 1.0)
    5.0
    >>> round(a.grad, 6), round(b.grad, 6)
    (0.6, 0.8)
    """
    at_least_zero("max_norm", max_norm)
    reached = _reached(parameters)
    norm = math.hypot(*[_norm(gradient) for _, gradient in reached])
    factor = float(max_norm) / (norm + 1e-6)
    if not factor >= 1:
        for parameter, gradient in reached:
            parameter.grad = _match_data(parameter.data, gradient * factor)
    return norm


def clip_grad_value(parameters: Iterable[Node], clip_value: float) -> None:
    """Limit every entry of every gradient to between ``-clip_value`` and ``clip_value``.

    Raises:
        ValueError: there are no parameters, or ``clip_value`` is negative.
        TypeError: a parameter is not a node.

    >>> a = Node(np.zeros(3))
    >>> (a * np.array([-5.0, 0.5, 5.0])).sum().backward()
    >>> clip_grad_value([a], 1.0)
    >>> a.grad
    array([-1. ,  0.5,  1. ])
    """
    limit = at_least_zero("clip_value", clip_value)
    for parameter, gradient in _reached(parameters):
        parameter.grad = _match_data(parameter.data, np.clip(gradient, -limit, limit))


# --- parts --------------------------------------------------------------------------------------


def _gradient(parameter: Node) -> Any:
    """Return the gradient as a number or an array; None if no pass has run or none is wanted."""
    if not parameter.requires_grad:
        return None
    gradient, data = value(parameter.grad), parameter.data
    if type(gradient) is type(data) is float:
        return gradient
    if gradient is None or (type(gradient) is float and gradient == 0.0):
        return None
    if np.shape(gradient) != np.shape(data):
        raise ValueError(
            f"the gradient of parameter {parameter.label!r} must have the shape {np.shape(data)} "
            f"of its data; got {np.shape(gradient)}"
        )
    return gradient


def _reached(parameters: Iterable[Node]) -> Sequence[tuple[Node, Any]]:
    pairs = [(parameter, _gradient(parameter)) for parameter in parameter_list(parameters)]
    return [(parameter, gradient) for parameter, gradient in pairs if gradient is not None]


def _norm(gradient: Any) -> float:
    if type(gradient) is float:
        return abs(gradient)
    wide = np.result_type(gradient, np.float32)  # the squares of float16 overflow
    return float(np.linalg.norm(np.ravel(gradient).astype(wide, copy=False)))


def _match_data(data: Any, new: Any) -> Any:
    """Convert ``new`` to a float or an array, like ``data``; NumPy makes 0-d arrays scalars."""
    return float(new) if isinstance(data, float | int) else np.asarray(new, float_dtype(data))
