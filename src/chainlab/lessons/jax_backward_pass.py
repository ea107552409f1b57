"""What *The backward pass in JAX* draws: a function's three programs, to step through."""

from collections.abc import Callable, Mapping
from importlib.resources import files
from math import cos, sin

from chainview import Figure
from chainview.piece import TRANSPORT

HERE = files(__package__)
X, Y = 0.7, 2.0
STEP = 0.1  # of the slider
# What jax.grad(wave, argnums=(0, 1)) gives in float32 at x = 0, 0.1, … and y = 2. Recorded, so that
# the figure can be drawn where JAX isn't installed; a test holds it to JAX.
RECORDED = (
    (3, 0), (2.99, 0.0998), (2.9601, 0.1987), (2.9107, 0.2955), (2.8421, 0.3894),
    (2.7552, 0.4794), (2.6507, 0.5646), (2.5297, 0.6442), (2.3934, 0.7174), (2.2432, 0.7833),
    (2.0806, 0.8415), (1.9072, 0.8912), (1.7247, 0.932), (1.535, 0.9636), (1.3399, 0.9854),
    (1.1415, 0.9975), (0.9416, 0.9996), (0.7423, 0.9917), (0.5456, 0.9738), (0.3534, 0.9463),
    (0.1677, 0.9093), (-0.0097, 0.8632), (-0.177, 0.8085), (-0.3326, 0.7457), (-0.4748, 0.6755),
    (-0.6023, 0.5985), (-0.7138, 0.5155), (-0.8081, 0.4274), (-0.8844, 0.335), (-0.9419, 0.2392),
    (-0.98, 0.1411),
)  # fmt: skip
# The programs: title, what goes in, lines (name, operation, operands, what is said of it), what
# comes out. An operand "c" or "s" of the second and third is a number by then.
PROGRAMS = (
    ("Trace", "x y", (
        ("s", "sin", "x", "JAX writes down that a sine was taken, before it knows any number."),
        ("p", "mul", "y s", "A product."),
        ("r", "add", "p x", "A sum. The variable <i>x</i> is used a second time."),
    ), "r"),
    ("Linearise", "dx dy", (
        ("ds", "mul", "dx c", "The sine’s forward rule: its change is the change of <i>x</i> "
         "times cos <i>x</i>, which is computed at once."),
        ("dq", "mul", "dy s", "The product’s rule, first half: the change of <i>y</i> times what "
         "it was multiplied by."),
        ("dw", "mul", "2 ds", "The product’s rule, second half: the change of <i>s</i> times "
         "<i>y</i>."),
        ("dp", "add", "dw dq", "The two halves are added up."),
        ("dr", "add", "dp dx", "The sum’s rule. This program has the slope for one input, the one "
         "that you let change."),
    ), "dr"),
    ("Transpose", "r̄", (
        ("s̄", "mul", "2 r̄", "Two sums ended the second program. Read backward, each hands the same "
         "number to both of its operands. Then comes the last product."),
        ("ȳ", "mul", "r̄ s", "The product before it, with the number that was kept for it."),
        ("x̄₁", "mul", "s̄ c", "The first product is the last to be read."),
        ("x̄", "add", "r̄ x̄₁", "In the second program, <i>dx</i> is used twice. Here its two shares "
         "are added up, and both slopes are there."),
    ), "x̄ ȳ"),
)  # fmt: skip
MIRRORS = {"ds": "x̄₁", "dq": "ȳ", "dw": "s̄"}  # the same product, read the other way


def values(x: float, changes: str) -> dict[str, float]:
    """Return all values of the three programs at x.

    Args:
        x: the first argument; the second is 2.
        changes: the input that the linearised program changes by 1, ``"x"`` or ``"y"``.
    """
    v = {"x": x, "y": Y, "2": Y, "c": cos(x), "dx": float(changes == "x"), "r̄": 1.0}
    v["dy"] = 1 - v["dx"]
    compute: dict[str, Callable[..., float]] = {
        "sin": sin,
        "mul": lambda a, b: a * b,
        "add": lambda a, b: a + b,
    }
    for _, _, lines, _ in PROGRAMS:
        for name, operation, operands, _ in lines:
            v[name] = compute[operation](*(v[operand] for operand in operands.split()))
    return v


def three_programs() -> Figure:
    """Show the programs into which JAX turns ``y * sin(x) + x``, to step through at any x.

    >>> print(three_programs())  # doctest: +ELLIPSIS
    <Figure: The three programs that JAX makes of y · sin(x) + x, ... x̄ 2.530...>
    """
    v = values(X, "x")
    programs = "".join(
        f'<div class="cg-program"><p>{number}. {title}</p>'
        f'<div class="cg-in">in {_named(inputs, v)}</div>'
        + "".join(
            _line(number, name, operation, operands, v) for name, operation, operands, _ in lines
        )
        + f'<div class="cg-out">out {_named(results, v)}</div></div>'
        for number, (title, inputs, lines, results) in enumerate(PROGRAMS, 1)
    )
    told = [words for _, _, lines, _ in PROGRAMS for *_, words in lines]
    last = len(told) - 1
    words = "".join(f"<div{' hidden' * (k != last)}>{text}</div>" for k, text in enumerate(told))
    picks = "".join(
        f'<button type="button" aria-pressed="{pressed}">{text}</button>'
        for text, pressed in (("dx = 1, dy = 0", "true"), ("dx = 0, dy = 1", "false"))
    )
    theirs = ", ".join(f"<b>{_written(g, 4)}</b>" for g in RECORDED[round(X / STEP)])
    inside = (
        '<p class="cg-head"><b>wave(x, y) = y · sin(x) + x</b></p>'
        '<div class="cg-controls" hidden><label>x <input type="range" min="0" max="3" '
        f'step="{STEP}" value="{X}" autocomplete="off"></label>'
        f'<div class="cg-bar" role="group" aria-label="What changes">{picks}</div></div>'
        f'<div class="cg-programs">{programs}</div><div class="cg-told">{words}</div>'
        f'<div class="cg-jax"><code>jax.grad(wave, (0, 1))</code> at <i>x</i> = '
        f"{_value('x', v, 1)}, <i>y</i> = 2 gives <span>{theirs}</span>. The third program has "
        f"{_value('x̄', v, 4)}, {_value('ȳ', v, 4)}.</div>"
    )
    lines = [line for _, _, lines, _ in PROGRAMS for *line, _ in lines]
    data = {"lines": lines, "recorded": RECORDED, "mirrors": MIRRORS, "step": STEP}
    title = "The three programs that JAX makes of y · sin(x) + x, to step through at any x"
    shown = "; ".join(
        f"{program}: {', '.join(f'{name} {_written(v[name])}' for name, *_ in lines)}"
        for program, _, lines, _ in PROGRAMS
    )
    sheets, script = (
        [TRANSPORT, HERE / "jax_backward_pass.css"],
        HERE / "jax_backward_pass.bundle.js",
    )
    return Figure(f"{title}. {shown}.", data, inside, "three", sheets, script, _title=title)


def _line(number: int, name: str, operation: str, operands: str, v: Mapping[str, float]) -> str:
    words = [
        f'<span class="l">{_value(o, v)}</span>' if o in "cs2" and number > 1 else f"<i>{o}</i>"
        for o in operands.split()
    ]
    written = f"sin {words[0]}" if len(words) == 1 else f" {'·+'[operation == 'add']} ".join(words)
    kind = "cg-line g" if number == 3 else "cg-line"
    return (
        f'<div class="{kind}" data-line="{name}"><span><i>{name}</i> = {written}</span>'
        f'<span class="cg-value">{_value(name, v)}</span></div>'
    )


def _named(names: str, v: Mapping[str, float]) -> str:
    return ", ".join(f"<i>{name}</i> = {_value(name, v)}" for name in names.split())


def _value(name: str, v: Mapping[str, float], digits: int = 3) -> str:
    digits = 0 if name in ("2", "y", "r̄", "dx", "dy") else 1 if name == "x" else digits
    return f'<b data-v="{name}" data-d="{digits}">{_written(v[name], digits)}</b>'


def _written(x: float, digits: int = 3) -> str:
    return f"{round(x, digits) + 0.0:.{digits}f}".replace("-", "−")
