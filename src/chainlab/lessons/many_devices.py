"""What *Many devices* draws: a layer's three products, cut along an axis for several devices."""

from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

from chainlab.lessons.placement import COLUMNS, PARTIAL, ROWS, WHOLE
from chainview import Figure

HERE = files(__package__)
AXES = {"n": "examples", "d": "inputs", "h": "units"}
SIZES = {"n": 128, "d": 512, "h": 256}  # at first
EXAMPLES, DEVICES = (64, 128, 256, 512), (1, 2, 4, 8)
ENTRY = 4  # bytes of a float32
UNITS = ((1e6, "MB"), (1e3, "kB"), (1, "bytes"))
# A product's two factors and its result, each with the axes of its rows and columns.
PRODUCTS = (
    (("X", "nd"), ("Wᵀ", "dh"), ("Z", "nh")),
    (("Z̄ᵀ", "hn"), ("X", "nd"), ("W̄", "hd")),
    (("Z̄", "nh"), ("W", "hd"), ("X̄", "nd")),
)
HEADS = "forward", "back, for the weights", "back, for the layer before"


class Cut(NamedTuple):
    """The states of a product's arrays, and the bytes that each device sends for its result."""

    states: tuple[str, str, str]
    sent: float


def cut_along(axis: str, devices: int, n: int = SIZES["n"]) -> list[Cut]:
    """Return what becomes of the three products of a layer that is cut along an axis.

    >>> [cut.states[-1] for cut in cut_along("h", 2)]
    ['columns', 'rows', 'partial']
    >>> cut_along("h", 2)[-1].sent == 4 * 128 * 512
    True
    """
    sizes = SIZES | {"n": n}
    cuts = []
    for a, b, out in PRODUCTS:
        summed = a[1][1]
        states = _state(a[1], axis), _state(b[1], axis), _state(out[1], axis)
        sent = 0.0
        if axis == summed and devices > 1:
            states = *states[:2], PARTIAL
            sent = 2 * (devices - 1) / devices * ENTRY * sizes[out[1][0]] * sizes[out[1][1]]
        if devices == 1:
            states = WHOLE, WHOLE, WHOLE
        cuts.append(Cut(states, sent))
    return cuts


def _state(axes: str, axis: str) -> str:
    return {axes[0]: ROWS, axes[1]: COLUMNS}.get(axis, WHOLE)


def written(number: float) -> str:
    """Write a number of bytes with three digits.

    >>> written(262_144), written(1_835_008), written(0)
    ('262 kB', '1.84 MB', '0 bytes')
    """
    rounded = float(f"{number:.3g}")
    for unit, name in UNITS:
        if rounded >= unit:
            digits = f"{rounded / unit:#.3g}".rstrip(".")
            return f"{digits} {name}"
    return "0 bytes"


def told(name: str, cut: Cut) -> str:
    """Say what a device has of a product's result, and which message follows."""
    state = cut.states[-1]
    if state == PARTIAL:
        return f"{name} is partial: all-reduce, {written(cut.sent)} sent by each"
    if state == WHOLE:
        return f"{name} is whole: no message"
    return f"{name} is cut by {state}: no message"


def cuts() -> Figure:
    """Show a layer's three products to scale, and let readers cut them for several devices.

    >>> print(cuts())  # doctest: +ELLIPSIS
    <Figure: The three matrix products of a dense layer, ... W̄ is partial: all-reduce, 524 kB ...
    """
    axis, devices = "n", 2
    found = cut_along(axis, devices)
    words = [told(product[-1][0], cut) for product, cut in zip(PRODUCTS, found, strict=True)]
    title = "The three matrix products of a dense layer, cut along the examples for two devices"
    choices = "".join(
        f'<label><input type="radio" name="cut" value="{key}"'
        f'{" checked" if key == axis else ""} autocomplete="off"> {name} <i>{key}</i></label>'
        for key, name in AXES.items()
    )
    sliders = "".join((
        _slider("devices", "devices", DEVICES, devices),
        _slider("n", "examples <i>n</i>", EXAMPLES, SIZES["n"]),
    ))  # fmt: skip
    rows = "".join(
        "".join(_row(*row, devices)) for row in zip(HEADS, PRODUCTS, found, words, strict=True)
    )
    inside = (
        f'<div class="cg-controls" hidden><fieldset><legend>Cut along the</legend>{choices}'
        f'</fieldset>{sliders}</div><div class="cg-rows" role="status">{rows}</div>'
    )
    data = {"products": PRODUCTS, "sizes": SIZES, "devices": DEVICES, "examples": EXAMPLES}
    script, sheets = HERE / "many_devices.bundle.js", [HERE / "many_devices.css"]
    text = f"{title}. {'. '.join(words)}."
    return Figure(text, data, inside, "cuts", sheets, script, _title=title)


def _slider(name: str, text: str, values: tuple[int, ...], value: int) -> str:
    return (
        f'<label><span>{text} <b>{value}</b></span><input type="range" name="{name}" min="0" '
        f'max="{len(values) - 1}" value="{values.index(value)}" aria-valuetext="{value}" '
        'autocomplete="off"></label>'
    )


def _row(
    head: str, product: tuple[tuple[str, str], ...], cut: Cut, words: str, devices: int
) -> Iterator[str]:
    yield f'<div class="cg-row"><p class="cg-head">{head}</p><div class="cg-product">'
    for (name, axes), state, sign in zip(product, cut.states, ("×", "=", ""), strict=True):
        rows, columns = (SIZES[axis] for axis in axes)
        adjoint = " cg-adjoint" if "̄" in name else ""
        parts = devices if state in (ROWS, COLUMNS) else 1
        yield (
            f'<span class="cg-array{adjoint}" data-state="{state}" style="--r:{rows};--c:{columns}"'
            f'><span class="cg-box" aria-hidden="true">{"<i></i>" * parts}</span>'
            f"<b>{name}</b></span>"
        )
        yield f'<span class="cg-sign">{sign}</span>' if sign else ""
    yield f'</div><p class="cg-told">{words}</p></div>'
