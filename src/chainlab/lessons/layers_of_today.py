"""What *Today's layers* draws: an embedding, a filter and a query, and who uses each input."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import numpy as np

from chainview import Figure

HERE = files(__package__)
WIDE, HIGH, BOX = 380, 254, 32  # of a picture, and how high a box is, in pixels
ROOM = 4  # between two boxes
SMALL = "₀₁₂₃₄₅"

WORDS, TOKENS = ("a", "dog", "cat", "sees"), (1, 3, 1)
TABLE = np.array([[0.5, 0.0], [0.2, 0.8], [-0.6, 0.1], [1.0, -0.4]])
D_H = np.array([[1.0, 0.5], [0.2, -0.3], [0.4, 0.1]])
PIXELS, FILTER = np.array([1.0, 3.0, 2.0, 5.0, 4.0]), np.array([2.0, -1.0])
D_Y = np.array([0.1, 0.3, -0.2, 0.4])
QUERY, KEYS, VALUES, D_O = 1.0, np.array([2.0, 1.0, 0.0]), np.array([1.0, -1.0, 4.0]), 2.0


@dataclass(frozen=True)
class Use:
    """One use of an input: by which result, the gradient that arrives there, and the factor."""

    user: str
    arrives: Any
    factor: Any = None


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A layer at work.

    Attributes:
        title: what the reader presses for it.
        columns: the boxes, by their names, with what they hold.
        uses: of each input that can be picked.
        arrives: what has arrived at the boxes, by their names.
        start: the input to begin with.
    """

    title: str
    columns: Sequence[dict[str, Any]]
    uses: dict[str, list[Use]]
    start: str
    arrives: dict[str, Any] = field(default_factory=dict)


def embedding() -> Scene:
    """Return three words and the table that they're read from."""
    places = [f"{WORDS[token]}, {i + 1}" for i, token in enumerate(TOKENS)]
    arrived = dict(zip(places, D_H, strict=True))
    uses = {
        word: [Use(place, arrived[place]) for place, token in zip(places, TOKENS, strict=True)
               if token == row]
        for row, word in enumerate(WORDS)
    }  # fmt: skip
    rows = dict(zip(WORDS, TABLE, strict=True))
    read = dict(zip(places, TABLE[list(TOKENS)], strict=True))
    return Scene(title="Embedding", columns=[rows, read], uses=uses, start="dog", arrives=arrived)


def convolution() -> Scene:
    """Return five pixels and a filter of two weights."""
    x, w = ([f"{name}{SMALL[i + 1]}" for i in range(n)] for name, n in (("x", 5), ("w", 2)))
    y = [f"y{SMALL[i + 1]}" for i in range(len(D_Y))]
    uses: dict[str, list[Use]] = {name: [] for name in (*w, *x)}
    for i, result in enumerate(y):
        for k in range(2):
            uses[w[k]].append(Use(result, D_Y[i], PIXELS[i + k]))
            uses[x[i + k]].append(Use(result, D_Y[i], FILTER[k]))
    left = dict(zip(w + x, [*FILTER, *PIXELS], strict=True))
    right = dict(zip(y, FILTER[0] * PIXELS[:-1] + FILTER[1] * PIXELS[1:], strict=True))
    arrived = dict(zip(y, D_Y, strict=True))
    return Scene(title="Convolution", columns=[left, right], uses=uses, start=w[0], arrives=arrived)


def attention() -> Scene:
    """Return three words and one query, with keys and values of length 1."""
    scores = QUERY * KEYS
    p = np.exp(scores) / np.exp(scores).sum()
    d_p = D_O * VALUES
    d_s = p * (d_p - p @ d_p)
    k, s, w, v = ([f"{name}{SMALL[i + 1]}" for i in range(3)] for name in "kspv")
    uses = {"q": [Use(s[i], d_s[i], KEYS[i]) for i in range(3)]}
    for i in range(3):
        uses[k[i]] = [Use(s[i], d_s[i], QUERY)]
        uses[s[i]] = [Use(w[j], d_p[j], p[j] * ((i == j) - p[i])) for j in range(3)]
        uses[w[i]] = [Use("o", D_O, VALUES[i])]
        uses[v[i]] = [Use("o", D_O, p[i])]
    columns = [{"q": QUERY, **dict(zip(k, KEYS, strict=True))}, dict(zip(s, scores, strict=True)),
               dict(zip(w + v, [*p, *VALUES], strict=True)), {"o": p @ VALUES}]  # fmt: skip
    arrived = {"o": D_O, **dict(zip(w, d_p, strict=True)), **dict(zip(s, d_s, strict=True))}
    return Scene(title="Attention", columns=columns, uses=uses, start="q", arrives=arrived)


def _one(x: Any) -> str:
    """Write a number, or a vector of them."""
    if np.ndim(x):
        return f"({', '.join(map(_one, x))})"
    return f"{round(float(x), 3) + 0.0:.4g}".replace("-", "−")


def _share(use: Use) -> Any:
    return use.arrives if use.factor is None else use.arrives * use.factor


def told(scene: Scene, name: str) -> str:
    """Say how the gradient of an input is added up.

    >>> told(convolution(), "x₂")
    'x₂ is used 2 times: 0.1 · (−1) + 0.3 · 2 = 0.5.'
    >>> told(embedding(), "cat")
    'cat is used 0 times, so its gradient is 0.'
    """
    uses = scene.uses[name]
    times = f"{name} is used {'once' if len(uses) == 1 else f'{len(uses)} times'}"
    if not uses:
        return f"{times}, so its gradient is 0."
    terms = [
        _one(use.arrives) + ("" if use.factor is None else f" · {_factor(use.factor)}")
        for use in uses
    ]
    return f"{times}: {' + '.join(terms)} = {_one(sum(map(_share, uses)))}.".replace("+ −", "− ")


def _factor(x: float) -> str:
    return f"({_one(x)})" if x < 0 else _one(x)


def uses() -> Figure:
    """Show who uses each input of three layers, and what each user sends back.

    >>> print(uses())
    <Figure: Three layers, and who uses each of their inputs: dog is used 2 times: ... (1.4, 0.6).>
    """
    scenes = (embedding(), convolution(), attention())
    picks = "".join(
        f'<button type="button" aria-pressed="{str(not i).lower()}">{scene.title}</button>'
        for i, scene in enumerate(scenes)
    )
    group = f'<div class="cg-bar" role="group" aria-label="Layer" hidden>{picks}</div>'
    pictures = "".join(
        f'<div class="cg-scene{" cg-off" * (i > 0)}">{"".join(_picture(scene))}'
        f'<p class="cg-words" role="status">{told(scene, scene.start)}</p></div>'
        for i, scene in enumerate(scenes)
    )
    data = [{name: told(scene, name) for name in scene.uses} for scene in scenes]
    title = "Three layers, and who uses each of their inputs"
    inside = f'{group}<div class="cg-scenes">{pictures}</div>'
    script, sheets = HERE / "layers_of_today.bundle.js", [HERE / "layers_of_today.css"]
    alt = f"{title}: {told(scenes[0], scenes[0].start)}"
    return Figure(alt, data, inside, "uses", sheets, script, _title=title)


def _picture(scene: Scene) -> Iterator[str]:
    """Draw boxes in columns, and each use as a line with its share."""
    count = len(scene.columns)
    width = 112 if count == 2 else 62
    places: dict[str, tuple[float, float]] = {}
    for c, column in enumerate(scene.columns):
        top = (HIGH - len(column) * (BOX + ROOM) + ROOM) / 2
        left = 1 + c * (WIDE - 2 - width) / (count - 1)
        places |= {name: (left, top + i * (BOX + ROOM)) for i, name in enumerate(column)}
    yield (
        f'<svg viewBox="0 0 {WIDE} {HIGH}" role="group" '
        f'aria-label="{scene.title}: inputs, and lines to the results that use them">'
    )
    shares = []
    for name, its in scene.uses.items():
        for use in its:
            (x, y), (to, down) = places[name], places[use.user]
            x, y, down = x + width, y + BOX / 2, down + BOX / 2
            on = " cg-on" * (name == scene.start)
            yield (
                f'<path class="cg-use{on}" data-from="{name}" '
                f'd="M{x:.1f} {y:.1f}L{to:.1f} {down:.1f}"/>'
            )
            at = 0.72 if len(its) > 1 and count == 2 else 0.5  # where lines are apart
            shares.append(
                f'<text class="cg-share{on}" data-from="{name}" x="{x + at * (to - x):.1f}" '
                f'y="{y + at * (down - y) + 4:.1f}">{_one(_share(use))}</text>'
            )
    for c, column in enumerate(scene.columns):
        for name, value in column.items():
            x, y = places[name]
            picked = name in scene.uses
            users = " ".join(n for n, its in scene.uses.items() if any(u.user == name for u in its))
            on = " cg-picked" * (name == scene.start) + " cg-lit" * (
                scene.start in users.split(" ")
            )
            holds = html.escape(name if np.ndim(value) and c else f"{name}  {_one(value)}")
            arrived = name in scene.arrives and _one(scene.arrives[name])
            line = (
                f'<text class="cg-bar-of" x="{width / 2}" y="28">{arrived}</text>'
                if arrived
                else ""
            )
            yield (
                f'<g class="cg-{"result" if users else "input"}{on}" '
                f'data-name="{name}" data-uses="{users}"{" data-pick" * picked} '
                f'transform="translate({x:.1f} {y:.1f})">'
                f'<rect class="cg-box" width="{width}" height="{BOX}" rx="6"/>'
                f'<text x="{width / 2}" y="{15 if line else 21}">{holds}</text>{line}</g>'
            )
    yield from shares
    yield "</svg>"
