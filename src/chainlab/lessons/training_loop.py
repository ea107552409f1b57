"""The cards of *The training loop*: five calls in any order, and what PyTorch then does."""

import html
import math
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import permutations
from typing import Any, NamedTuple

from chainview import Figure

HERE = files(__package__)
CALLS = {
    "z": "optimizer.zero_grad()",
    "f": "loss = loss_fn(model(x), y)",
    "b": "loss.backward()",
    "c": "clip_grad_norm_(params, 1.0)",
    "s": "optimizer.step()",
}
RIGHT = "zfbcs"
PASSES, WILD = 30, 12  # batches, and the one with a wrong label
WIDE, HIGH, LEFT, TOP, RIGHT_SIDE, BELOW = 420, 262, 44, 10, 8, 38  # pixels
LEAST, MOST = 0.002, 20.0  # of the losses that are shown


class Outcome(NamedTuple):
    """What a sequence of calls did.

    Attributes:
        losses: before the first pass and after each one, as far as it ran.
        read: how many batches old each gradient was in the sum that the last step read.
        shortened: whether that sum had been clipped as a whole.
        error: the first line of the error that ended it, and the pass.
    """

    losses: tuple[float, ...]
    read: tuple[int, ...] = ()
    shortened: bool = False
    error: str = ""


@cache
def perform(calls: str) -> Outcome:
    """Let PyTorch perform calls in this order, once for each batch.

    A small network learns a straight line from batches of eight points. One point of batch 12 has
    a wrong label, of 20 where the others are between -1 and 2.
    """
    import torch

    random = torch.Generator().manual_seed(0)
    inputs = torch.rand(PASSES, 8, 1, generator=random, dtype=torch.float64) * 2 - 1
    targets = 1.5 * inputs + 0.5
    targets[WILD - 1, 0] = 20
    where = torch.linspace(-1, 1, 41, dtype=torch.float64)[:, None]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        first, last = torch.nn.Linear(1, 8), torch.nn.Linear(8, 1)
    model = torch.nn.Sequential(first, torch.nn.Tanh(), last).double()
    params = list(model.parameters())
    optimizer = torch.optim.SGD(params, 0.1)
    names: dict[str, Any] = {
        "loss_fn": torch.nn.functional.mse_loss, "model": model, "optimizer": optimizer,
        "clip_grad_norm_": torch.nn.utils.clip_grad_norm_, "params": params,
    }  # fmt: skip

    def measured() -> float:
        with torch.no_grad():
            return float(torch.nn.functional.mse_loss(model(where), 1.5 * where + 0.5))

    there: list[int] = []  # of which batches gradients are in .grad
    losses, shortened = [measured()], False
    read: tuple[int, ...] = ()
    was_shortened = False
    for batch, (x, y) in enumerate(zip(inputs, targets, strict=True)):
        names |= {"x": x, "y": y}
        for call in calls:
            try:
                exec(CALLS[call], names)
            except (NameError, RuntimeError) as error:
                line = f"{type(error).__name__}: {str(error).splitlines()[0]}"
                return Outcome(tuple(losses), error=f"Pass {batch + 1}: {line}")
            if call == "z":
                there = []
            elif call == "b":
                there, shortened = [*there, batch], False
            elif call == "c":
                shortened = bool(there)
            elif call == "s":
                read = tuple(batch - b for b in there)
                was_shortened = shortened
        losses.append(measured())
    return Outcome(tuple(losses), read, was_shortened)


def told(calls: str) -> str:
    """Say in a sentence or two what an order does.

    >>> told("zfsb")
    'The gradient is thrown away before step can read it, so nothing is learned, without an error.'
    """
    done = perform(calls)
    if "NameError" in done.error:
        return "At the first backward there is no loss yet."
    if done.error:
        return "Step changes weights that backward still has to read, and PyTorch notices."
    if "s" not in calls:
        return "Without step no weight changes."
    if "b" not in calls:
        return "Without backward there is no gradient, and step skips a weight that has none."
    if not done.read:
        return (
            "The gradient is thrown away before step can read it, so nothing is learned, "
            "without an error."
        )
    if len(done.read) > 1:
        late = "Nothing empties .grad, so step follows the sum of all gradients so far"
        return f"{late}, shortened." if done.shortened else f"{late}."
    if done.read[0]:
        first = "Step uses the last batch’s gradient: one batch late, but otherwise right."
    elif done.shortened:
        return "Right: step follows this batch’s gradient, shortened if it was too long."
    else:
        first = "Step follows this batch’s gradient."
    if done.shortened:
        return first
    why = "Nothing shortens it" if "c" not in calls else "Clipping misses it"
    highest = max(done.losses[WILD:])
    return f"{first} {why}, so the wrong label in batch {WILD} drives the loss up to {highest:.2f}."


def sequences() -> Iterator[str]:
    """Yield all orders of all five calls, and of those that one may leave out the others of."""
    for n in range(len(CALLS) + 1):
        yield from map("".join, permutations(CALLS, n))


def orders() -> Figure:
    """Show the five calls as cards to be rearranged, and the losses that each order gives."""
    curves: dict[str, int] = {}
    sentences: dict[str, int] = {}
    found = {}
    for calls in sequences():
        done = perform(calls)
        curve = curves.setdefault(_path(done.losses), len(curves))
        says = f"{told(calls)}\n{done.error}\n{_ending(done)}"
        found[calls] = [curve, sentences.setdefault(says, len(sentences))]
    right = perform(RIGHT)
    cards = "".join(
        f'<li><span class="cg-grip" aria-hidden="true">⠿</span><code>{html.escape(text)}</code>'
        '<span class="cg-bar" hidden><button type="button">↑</button>'
        '<button type="button">↓</button><button type="button">✕</button></span></li>'
        for text in CALLS.values()
    )
    inside = (
        f'<div class="cg-both"><div class="cg-left"><p>for x, y in batches:</p>'
        f'<ol class="cg-cards">{cards}</ol><div class="cg-bar" hidden>'
        '<button type="button" class="cg-again">Start again</button></div></div>'
        f'{_plot(right)}</div><div class="cg-words" role="status"><p>{html.escape(told(RIGHT))}</p>'
        f'<code></code><p class="cg-end">{html.escape(_ending(right))}</p></div>'
    )
    data = {
        "right": RIGHT, "calls": CALLS, "curves": [*curves],
        "says": [says.split("\n") for says in sentences], "found": found,
    }  # fmt: skip
    alt = (
        f"The five calls of a training loop, in the right order: {', '.join(CALLS.values())}. "
        f"{_ending(right)} Beside them, the loss after each of {PASSES} batches."
    )
    title = "The five calls of a training loop, and the loss that their order gives"
    script, sheets = HERE / "training_loop.bundle.js", [HERE / "training_loop.css"]
    return Figure(alt, data, inside, "loop", sheets, script, _title=title)


def _ending(done: Outcome) -> str:
    if done.error:
        return ""
    return f"The loss goes from {done.losses[0]:.3f} to {done.losses[-1]:.3f}."


def _at(batch: int, loss: float) -> tuple[float, float]:
    """Return where a loss is drawn."""
    share = math.log(min(MOST, max(LEAST, loss)) / LEAST) / math.log(MOST / LEAST)
    width, height = WIDE - LEFT - RIGHT_SIDE, HIGH - TOP - BELOW
    return LEFT + width * batch / PASSES, TOP + height * (1 - share)


def _path(losses: tuple[float, ...]) -> str:
    points = (f"{x:.0f} {y:.0f}" for x, y in (_at(i, loss) for i, loss in enumerate(losses)))
    return "M" + "L".join(points)


def _plot(right: Outcome) -> str:
    """Draw the axes, and the losses of the right order."""
    ticks = "".join(
        f'<path class="cg-grid" d="M{LEFT} {_at(0, y)[1]:.0f}H{WIDE - RIGHT_SIDE}"/>'
        f'<text class="cg-left-of" x="{LEFT - 6}" y="{_at(0, y)[1] + 4:.0f}">{y:g}</text>'
        for y in (0.01, 0.1, 1, 10)
    ) + "".join(
        f'<text x="{_at(x, 1)[0]:.0f}" y="{HIGH - BELOW + 16}">{x}</text>' for x in (0, 12, 20, 30)
    )
    x, bottom = _at(WILD, 1)[0], HIGH - BELOW
    return (
        f'<svg viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="The loss after each batch">'
        f'{ticks}<path class="cg-wild" d="M{x:.0f} {TOP}V{bottom}"/>'
        f'<path class="cg-frame" d="M{LEFT} {TOP}V{bottom}H{WIDE - RIGHT_SIDE}"/>'
        f'<text x="{(WIDE + LEFT) / 2:.0f}" y="{HIGH - 4}">batches seen</text>'
        f'<text class="cg-loss" x="{LEFT + 6}" y="{TOP + 12}">loss</text>'
        f'<path class="cg-right" d="{_path(right.losses)}"/>'
        f'<path class="cg-yours" d="{_path(right.losses)}"/></svg>'
    )
