"""The film of *A transformer that learns to sort*: what it looks at, and how well it sorts.

The film carries the net's parameters as they were at each stop, in a byte each, and its script runs
the same net on digits that a reader types: what it answers is computed, and may be wrong.
"""

import base64
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from chaingrad.nn import Module
from chainlab.lessons.sorter import HEADS, Transformer, answers, examples, loss_of, train
from chainview import Figure
from chainview.piece import TRANSPORT

HERE = files(__package__)
EVERY = 20  # steps between two stops of the film
TYPED = (3, 0, 1, 5, 9, 8)  # what stands in the field to begin with
SHOWN = (1, 1)  # the layer and the head whose map is shown first, counted from 0
CELL, LEFT, TOP, GAP = 30, 12, 56, 12  # px, in the map
WIDTH, HEIGHT, BASE, START = 340, 250, 216, 44  # px, of the loss and its axes
DECADES = (1, 0.1, 0.01)
Stop = dict[str, Any]  # what was measured there, and the parameters


class Recording:
    """A training run, watched: each twentieth step it shows what the net looks at.

    Args:
        net: what is trained; its parameters now are the film's first stop.
    """

    def __init__(self, net: Module) -> None:
        self.net, self.steps, self.stops = net, 0, [stop(net)]
        self._place: Any = None
        self._show(film_of(self.stops, is_film=False))

    def add(self) -> None:
        """Note that a step has been taken; at each twentieth one show how far the net is."""
        self.steps += 1
        if self.steps % EVERY == 0:
            self.stops.append(stop(self.net))
            self._show(film_of(self.stops, is_film=False))

    def show(self) -> None:
        """Put the film in the place of the last picture."""
        self._show(film_of(self.stops))

    def _show(self, figure: Figure) -> None:
        from IPython.display import display

        if self._place:
            self._place.update(figure)
        else:
            self._place = display(figure, display_id=True)


@cache
def film() -> Figure:
    """Show how the page's net learns to sort, and let a reader try it at any step."""
    net = Transformer(np.random.default_rng(0))
    record = [stop(net)]
    record += [stop(net) for step, _ in enumerate(train(net), 1) if step % EVERY == 0]
    return film_of(record)


def stop(net: Module) -> Stop:
    """Measure a net on sequences that training doesn't draw, and copy its parameters."""
    rng = np.random.default_rng(7)
    line, answer = examples(rng, 100)
    loss = float(loss_of(net, line, answer).data)
    right = int((answers(net, line[:, :6]) == answer).all(1).sum())
    held = {name: p.data.copy() for name, p in net.named_parameters()}
    typed = np.array([TYPED])
    said = answers(net, typed)[0]
    net(np.hstack([typed, said[None, :-1]]))
    layer, head = SHOWN
    rows = net.blocks[layer].attention.map[0, head, 5:]  # type: ignore[attr-defined]
    return {"loss": loss, "right": right, "held": held, "said": said, "map": rows}


def packed(held: dict[str, Any]) -> tuple[str, list[float]]:
    """Return all parameters in a byte each, and of each array what a 1 stands for."""
    scales = {name: float(np.abs(array).max() / 127) or 1.0 for name, array in held.items()}
    whole = [np.rint(array / scales[name]).astype(np.int8).ravel() for name, array in held.items()]
    text = base64.b64encode(np.concatenate(whole).tobytes()).decode()
    return text, [float(f"{scale:.6g}") for scale in scales.values()]


def film_of(stops: Sequence[Stop], is_film: bool = True) -> Figure:
    """Show a run by its stops: as a film, or as it is at the last of them."""
    last, steps = stops[-1], EVERY * (len(stops) - 1)
    digits, said = ("".join(map(str, each)) for each in (TYPED, last["said"]))
    is_right = list(last["said"]) == sorted(TYPED)
    words = (
        f"Step {steps} of {steps}. The net sorts {digits} as {said}, which is "
        f"{'right' if is_right else 'wrong'}, and {last['right']} of 100 new sequences. "
        f"Loss {last['loss']:.3f}."
    )
    inside = (
        f'<div class="cg-ask" hidden></div><div class="cg-panels">{_map(last)}{_loss(stops)}</div>'
        f'<p class="cg-words">{words}</p><div class="cg-live"></div>'
    )
    sheets, script = [TRANSPORT, HERE / "sorting_transformer.css"], None
    data: dict[str, Any] = {}
    if is_film:
        packs = [packed(each["held"]) for each in stops]
        data = {
            "shapes": [[name, *array.shape] for name, array in last["held"].items()],
            "packs": packs,
            "every": EVERY,
            "heads": HEADS,
            "shown": SHOWN,
            "typed": digits,
            "losses": [round(each["loss"], 4) for each in stops],
            "right": [each["right"] for each in stops],
            "tops": [round(_top(each["loss"]), 1) for each in stops],
            "ends": [START, WIDTH - 8],
        }
        script = HERE / "sorting_transformer.bundle.js"
    title = "A small transformer learns to sort six digits"
    return Figure(f"{title}. {words}", data, inside, "sorter", sheets, script, _title=title)


def _text(x: float, y: float, text: Any, name: str, anchor: str = "middle") -> str:
    return f'<text class="{name}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{text}</text>'


def _square(name: str, x: int, y: int, part: float = 1.0) -> str:
    size = CELL - 2 if name == "frame" else CELL - 8
    place = f'x="{x}" y="{y}" width="{size}" height="{size}"'
    return f'<rect class="cg-{name}" {place} fill-opacity="{part:.2f}"/>'


def _map(last: Stop) -> str:
    """Draw a row for each answer, and in it how much the net looks at each digit before it."""
    xs = [LEFT + CELL * j + GAP * (j > 5) for j in range(11)]
    parts = [
        _text(xs[0], 14, "what you typed", "cg-head", "start"),
        _text(xs[6], 14, "its answers so far", "cg-head", "start"),
    ]
    line = [*TYPED, *last["said"][:-1]]
    ordered = sorted(TYPED)
    parts += [_text(x + CELL / 2, 44, d, "cg-digit") for x, d in zip(xs, line, strict=True)]
    for i, row in enumerate(last["map"]):
        y = TOP + CELL * i
        for j, (x, part) in enumerate(zip(xs, row, strict=True)):
            if j > 5 + i:
                continue
            there = " cg-there" * (j < 6 and line[j] == ordered[i])
            frame, fill = _square("frame", x + 1, y + 1), _square("fill", x + 4, y + 4, part)
            parts.append(f'<g class="cg-cell{there}">{frame}{fill}</g>')
        parts.append(_text(xs[-1] + CELL + 14, y + 21, "→", "cg-arrow"))
        wrong = " cg-wrong" * int(last["said"][i] != ordered[i])
        parts.append(_text(xs[-1] + CELL + 36, y + 21, last["said"][i], f"cg-said{wrong}"))
    width, height = xs[-1] + CELL + 56, TOP + 6 * CELL + 6
    return (
        f'<svg class="cg-map" role="img" aria-label="What the net looks at for each answer" '
        f'viewBox="0 0 {width} {height}">{"".join(parts)}</svg>'
    )


def _top(loss: float) -> float:
    low, high = np.log10(0.004), np.log10(5)
    at = (np.clip(np.log10(loss), low, high) - low) / (high - low)
    return float(BASE - (BASE - 24) * at)


def _loss(stops: Sequence[Stop]) -> str:
    end = WIDTH - 8
    xs = np.linspace(START, end, max(len(stops), 2))[: len(stops)]
    tops = [_top(each["loss"]) for each in stops]
    parts = [_text(START, 14, "loss on new sequences", "cg-head", "start")]
    for value in DECADES:
        y = _top(value)
        parts.append(f'<path class="cg-grid" d="M{START} {y:.1f}H{end}"/>')
        parts.append(_text(START - 6, y + 4, f"{value:g}", "cg-tick", "end"))
    last = EVERY * (len(stops) - 1)
    parts += [_text(START, BASE + 18, 0, "cg-tick"), _text(end, BASE + 18, last, "cg-tick", "end")]
    parts.append(_text((START + end) / 2, BASE + 18, "step", "cg-tick"))
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(xs, tops, strict=True))
    parts.append(f'<path class="cg-axis" d="M{START} 24V{BASE}H{end}"/>')
    parts.append(f'<path class="cg-line" d="M{line}"/>')
    parts.append(
        f'<g class="cg-mark" transform="translate({xs[-1]:.1f})"><path d="M0 24V{BASE}"/>'
        f'<circle r="6" cy="{tops[-1]:.1f}"/></g>'
    )
    return (
        f'<svg class="cg-loss" role="img" aria-label="The loss over the steps" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(parts)}</svg>'
    )
