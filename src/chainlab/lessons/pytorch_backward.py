"""What *What `backward` does in PyTorch* plays: calls of `backward` on the neuron, as recorded.

PyTorch runs when the figure is made. Hooks on every function note what it gets and sends, and
between two functions we look which saved tensors are still there.
"""

import html
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from chainlab.lessons.computational_graph import TARGET, B, W, X
from chainview import Figure
from chainview.piece import TRANSPORT

HERE = files(__package__)
WIDE, HIGH = 98, 60  # a box, in pixels
# Each function by the tensor that it belongs to: what it saves and under which name, its local
# gradient if that isn't 1, and where it stands in a wide and in a narrow picture.
BOXES: dict[str, tuple[str, str, str, tuple[int, int], tuple[int, int]]] = {
    "loss": ("error", "_saved_self", "2 · {}", (700, 62), (60, 4)),
    "error": ("", "", "", (583, 62), (60, 80)),
    "out": ("", "", "", (467, 62), (60, 156)),
    "h": ("h", "_saved_result", "(1 − {}²)", (350, 18), (200, 232)),
    "z": ("", "", "", (234, 106), (60, 308)),
    "p": ("x", "_saved_other", "{}", (117, 18), (60, 384)),
    "b": ("", "", "", (117, 106), (200, 384)),
    "w": ("", "", "", (1, 62), (60, 460)),
}


def neuron() -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the neuron's forward pass; return its tensors, and the functions it leaves behind."""
    import torch

    made = {"w": torch.tensor(W, requires_grad=True), "b": torch.tensor(B, requires_grad=True)}
    made["p"] = made["w"] * torch.tensor(X)
    made["z"] = made["p"] + made["b"]
    made["h"] = torch.tanh(made["z"])
    made["out"] = made["z"] + made["h"]
    made["error"] = made["out"] - torch.tensor(TARGET)
    made["loss"] = made["error"] ** 2
    functions: dict[str, Any] = {at: made[at].grad_fn for at in made if made[at].grad_fn}
    functions["w"] = functions["p"].next_functions[0][0]
    functions["b"] = functions["z"].next_functions[1][0]
    return made, functions


def calls(retain: bool) -> list[list[dict[str, Any]]]:
    """Call `backward` until it raises; return what happened, with an event for each function.

    Args:
        retain: whether the first call has `retain_graph=True`.
    """
    made, functions = neuron()
    names = {function: name for name, function in functions.items()}
    events: list[dict[str, Any]] = []

    def state() -> dict[str, Any]:
        grads = {name: made[name].grad for name in "wb"}
        return {
            "saved": {name: _saved(functions[name], box[1]) for name, box in BOXES.items()},
            "grads": {name: None if grad is None else grad.item() for name, grad in grads.items()},
        }

    def before(name: str, got: Any) -> None:
        events[-1] |= state()
        events.append({"at": name, "got": got[0].item(), "sent": {}})

    def after(name: str, sent: Any) -> None:
        users = (names.get(function) for function, _ in functions[name].next_functions)
        shares = zip(users, sent, strict=True)
        events[-1]["sent"] = {user: share.item() for user, share in shares if user}

    for name, function in functions.items():
        function.register_prehook(lambda got, name=name: before(name, got))
        if name not in "wb":
            function.register_hook(lambda sent, _, name=name: after(name, sent))
    found: list[list[dict[str, Any]]] = []
    while not (events and "error" in events[-1]):
        events = [{"at": "", "sent": {}}]
        try:
            made["loss"].backward(retain_graph=retain and not found)
        except RuntimeError as error:
            events[-1] |= {"at": "loss", "error": str(error)}
        events[-1] |= state()
        found.append(events)
    return found


def _saved(function: Any, name: str) -> float | None:
    """Return what a function has saved, or nothing if it's gone."""
    try:
        return float(getattr(function, name).detach()) if name else None
    except RuntimeError:
        return None


def frames(retain: bool) -> list[list[dict[str, Any]]]:
    """Return what each step of each call shows: the texts of the boxes, what's lit, and words."""
    _, functions = neuron()
    names = {at: function.name().rpartition("::")[2] for at, function in functions.items()}
    told = []
    for number, events in enumerate(calls(retain)):
        arrived: dict[str, list[float]] = {"loss": [1.0]}
        start, shown = events[0], []
        for event in events:
            for user, share in event["sent"].items():
                arrived.setdefault(user, []).append(share)
            boxes = {}
            for at, (what, *_) in BOXES.items():
                saved, keeps = event["saved"][at], f"saves {what}" if what else "saves nothing"
                if at in "wb":
                    grad = event["grads"][at]
                    keeps = f"{at}.grad {'None' if grad is None else f'{grad:.4g}'}"
                elif what:
                    keeps = "freed" if saved is None else f"{what} = {saved:.4g}"
                boxes[at] = [keeps, " + ".join(f"{share:.4g}" for share in arrived.get(at, ()))]
            words = _words(names, event, start["saved"], retain and not number)
            stops, at = "error" in event, event["at"]
            shown.append({"at": at, "sent": [*event["sent"]], "boxes": boxes, "stops": stops,
                          "words": words})  # fmt: skip
        told.append(shown)
    return told


def _words(names: dict[str, str], event: dict[str, Any], had: Any, retain: bool) -> str:
    """Say what a function has done."""
    if not (at := event["at"]):
        call = f"loss.backward({'retain_graph=True' * retain})"
        return f"<code>{call}</code> will give the loss's function the number 1, its seed."
    if "error" in event:
        return f"{names[at]} asks for its saved tensor. RuntimeError: {event['error']}"
    got = f'<b class="g">{event["got"]:.4g}</b>'
    if at in "wb":
        return f"{names[at]} adds {got} to <code>{at}.grad</code>."
    sent = [f'<b class="g">{share:.4g}</b>' for share in event["sent"].values()]
    if slope := BOXES[at][2]:
        slope = f'<b class="l">{slope.format(f"{had[at]:.4g}")}</b>'
        does = f"multiplies it by {slope}, and sends {sent[0]}"
    else:
        does = f"sends the same number {'to both operands' if len(sent) > 1 else 'on'}"
    freed = had[at] is not None and event["saved"][at] is None
    return (
        f"{names[at]} gets {got}, {does}.{f' What it had saved, {BOXES[at][0]}, is freed.' * freed}"
    )


def play() -> Figure:
    """Play `backward` on the neuron's graph: the messages, the leaves, what's freed, a second call.

    >>> print(play())  # doctest: +ELLIPSIS
    <Figure: The functions ... b.grad 2.976; w: w.grad 4.464.>
    """
    data = {"off": frames(False), "on": frames(True)}
    last = data["off"][0][-1]
    title = "The functions behind the neuron's loss, and what backward does at each of them"
    _, functions = neuron()
    pictures = "".join(
        f'<svg class="cg-{kind}" viewBox="0 0 {size}" role="img" aria-label="{title}">'
        f"{''.join(_picture(functions, last, narrow))}</svg>"
        for narrow, (kind, size) in enumerate((("wide", "800 184"), ("narrow", "320 524")))
    )
    inside = (
        '<div class="cg-controls" hidden><label><input type="checkbox"> '
        "<code>retain_graph=True</code> in the first call</label>"
        f'<button type="button">Call backward again</button></div>{pictures}'
        f'<div class="cg-words" role="status">{last["words"]}</div><div class="cg-live"></div>'
    )
    ends = "; ".join(f"{at}: {keeps}" for at, (keeps, _) in last["boxes"].items())
    alt = f"{title}. After the first call, {ends}."
    script, sheets = HERE / "pytorch_backward.bundle.js", [TRANSPORT, HERE / "pytorch_backward.css"]
    return Figure(alt, data, inside, "functions", sheets, script, _title=title)


def _picture(functions: Any, frame: dict[str, Any], narrow: int) -> Iterator[str]:
    """Draw the functions and their arrows, which lead from each to those of its operands."""
    places = {at: box[4] if narrow else box[3] for at, box in BOXES.items()}
    names = {function: at for at, function in functions.items()}
    middle, head = (WIDE / 2, "l-4 -7h8z") if narrow else (HIGH / 2, "l7 -4v8z")
    for at, function in functions.items():
        for user in (names.get(user) for user, _ in function.next_functions):
            if user:
                (x, y), (u, v) = places[at], places[user]
                start: tuple[float, float] = (x, y + middle)
                tip: tuple[float, float] = (u + WIDE, v + middle)
                if narrow:
                    start, tip = (x + middle, y + HIGH), (u + middle, v)
                ends = f"M{start[0]:g} {start[1]:g}L{tip[0]:g} {tip[1]:g}M{tip[0]:g} {tip[1]:g}"
                yield f'<path class="cg-edge" data-edge="{at}-{user}" d="{ends}{head}"/>'
    of = 'x="-8" y="34"' if narrow else f'x="{WIDE / 2:g}" y="-5"'
    for at, (left, top) in places.items():
        texts = [functions[at].name().rpartition("::")[2], *frame["boxes"][at]]
        kinds = ("cg-name", "cg-keeps", "cg-got")
        lines = "".join(
            f'<text class="{kind}" x="{WIDE / 2:g}" y="{17 + 18 * i}">{html.escape(text)}</text>'
            for i, (kind, text) in enumerate(zip(kinds, texts, strict=True))
        )
        yield (
            f'<g class="cg-at{" cg-leaf" * (at in "wb")}" data-at="{at}" '
            f'transform="translate({left} {top})"><rect width="{WIDE}" height="{HIGH}" rx="6"/>'
            f'{lines}<text class="cg-of" {of}>{at}</text></g>'
        )
