"""What *An autograd engine* opens with: the reader's 45 lines beside the graph, as they run.

The film is a recording. The neuron is computed with the engine of the page while Python reports
each line that it runs, and a stop is kept wherever a line makes a node, changes what the search
holds, or writes into a gradient.
"""

import html
import inspect
import sys
from functools import cache
from importlib.resources import files
from types import CodeType, FrameType
from typing import Any

from chainlab.lessons import engine
from chainlab.lessons.computational_graph import TARGET, B, W, X
from chainview import Figure
from chainview.piece import TRANSPORT
from chainview.player.names import brief

HERE = files(__package__)
LINES = inspect.getsource(engine).splitlines()
FIRST = LINES.index("class Node:") + 1
END = next(i for i, line in enumerate(LINES) if line.startswith("def slopes"))
PARTS = {"forward": "Record", "sorted_graph": "Sort", "backward": "Push"}
WIDE, HIGH, BOX = 300, 376, (88, 38)  # px
PLACES = {
    "w": (50, 22), "x": (150, 22), "b": (250, 22), "p": (100, 76), "z": (150, 130),
    "h": (92, 184), "target": (250, 238), "out": (150, 238), "error": (200, 294),
    "loss": (200, 350),
}  # fmt: skip
Stop = dict[str, Any]


class Recorder:
    """Python's reports of the lines of the engine, kept as stops."""

    def __init__(self) -> None:
        self.stops: list[Stop] = []
        self.names: dict[Any, str] = {}
        self.order: list[str] = []
        self.to_do: list[str] = []
        self.at: dict[FrameType, int] = {}  # the line that each call is in

    def report(self, frame: FrameType, event: str, value: Any) -> Any:
        """Follow a call of the engine; keep a stop when one of its lines is done."""
        code: CodeType = frame.f_code
        if code.co_filename != engine.__file__ or code.co_name == "<genexpr>":
            return None
        if event in ("line", "return"):
            if line := self.at.get(frame):
                self._done(line, code.co_name, frame.f_locals, value)
            self.at[frame] = frame.f_lineno
        return self.report

    def _done(self, line: int, function: str, names: dict[str, Any], value: Any) -> None:
        text = LINES[line - 1].strip()
        if text.startswith("return Node(") and function != "as_node" and value is not None:
            self._keep(line, "forward", [value])
        elif function == "sorted_graph":
            self._sorting(line, text, names)
        elif text == "node.grad = 0.0":
            if self.stops[-1]["line"] == line:
                self.stops[-1]["lit"].append(names["node"])
            else:
                self._keep(line, "backward", [names["node"]])
        elif text == "self.grad += 1.0":
            self._keep(line, "backward", [names["self"]])
        elif text.startswith("parent.grad +="):
            node, parent = names["node"], names["parent"]
            self._keep(line, "backward", [parent], node=node, local=names["local"])

    def _sorting(self, line: int, text: str, names: dict[str, Any]) -> None:
        self.to_do = [self.names[n] + "✓" * done for n, done in names.get("to_do", [])]
        self.order = [self.names[n] for n in names.get("order", [])]
        if text.startswith("return"):
            self.order.reverse()
            self._keep(line, "sorted_graph", [])
        elif text.startswith(("to_do.extend", "order.append")):
            self._keep(line, "sorted_graph", [names["node"]])
        elif text.startswith("elif") and names["node"] in names["visited"]:
            self._keep(line, "sorted_graph", [names["node"]], again=True)

    def _keep(self, line: int, part: str, lit: list[Any], **more: Any) -> None:
        grads = {node: node.grad for node in self.names}
        known = {"order": [*self.order], "to_do": [*self.to_do], "grads": grads}
        self.stops.append({"line": line, "part": part, "lit": [*lit], **known, **more})


@cache
def recorded() -> tuple[list[Stop], dict[str, engine.Node]]:
    """Run the neuron and its backward pass, and return each stop and the nodes by their names."""
    recorder, before = Recorder(), sys.gettrace()
    named = dict(zip(("w", "x", "b", "target"), map(engine.Node, (W, X, B, TARGET)), strict=True))
    w, x, b, target = named.values()
    sys.settrace(recorder.report)
    try:
        named["p"] = w * x
        named["z"] = named["p"] + b
        named["h"] = named["z"].tanh()
        named["out"] = named["z"] + named["h"]
        named["error"] = named["out"] - target
        named["loss"] = named["error"] ** 2
        recorder.names = {node: name for name, node in named.items()}
        named["loss"].backward()
    finally:
        sys.settrace(before)
    return recorder.stops, named


def told(stop: Stop, earlier: Stop | None, names: dict[Any, str]) -> str:
    """Say in HTML what the line of a stop has done."""
    node: Any = stop["lit"][0] if stop["lit"] else None
    text = LINES[stop["line"] - 1].strip()
    name = names.get(node, "")
    if stop["part"] == "forward":
        makers = " and ".join(
            f'{names[parent]} (slope <span class="l">{brief(local)}</span>)'
            for parent, local in zip(node.parents, node.local_grads, strict=True)
        )
        return f"<b>{name}</b> = {brief(node.data)} is made, and notes its parents: {makers}."
    if text.startswith("to_do.extend"):
        parents = ", then ".join(names[parent] for parent in node.parents)
        below = f"and puts its parents on top: {parents}" if parents else "and finds no parents"
        return f"The search meets <b>{name}</b>, notes {name}✓ for later, {below}."
    if text.startswith("order.append"):
        return f"{name}✓ comes off to_do: its parents are listed, so <b>{name}</b> is, too."
    if stop.get("again"):
        return f"<b>{name}</b> comes off to_do once more, but it has been visited: nothing to do."
    if not stop["lit"]:
        return "The list is read backward: now each node stands after all its children."
    if "node" not in stop:
        if text == "node.grad = 0.0":
            return "Each node that has parents starts the pass at 0."
        return "The loss changes as fast as itself: <b>loss.grad</b> becomes " + _blue(1.0) + "."
    assert earlier is not None
    child, held = stop["node"], earlier["grads"][node]
    share = f'{_blue(child.grad)} × <span class="l">{_factor(stop["local"])}</span>'
    return (
        f"{names[child]} pushes to <b>{name}</b>: {_blue(held)} + {share} = "
        f"{_blue(stop['grads'][node])}."
    )


def _factor(local: float) -> str:
    return f"({brief(local)})" if local < 0 else brief(local)


def _blue(number: float) -> str:
    return f'<span class="g">{brief(number)}</span>'


def run_lines() -> Figure:
    """Show the reader's engine at work: its lines, the neuron's graph, and each gradient.

    >>> print(run_lines())
    <Figure: The engine's lines beside the neuron's graph after the pass: loss 1, error 1.701, ...>
    """
    stops, named = recorded()
    names = {node: name for name, node in named.items()}
    film, made = [], 4
    for earlier, stop in zip([None, *stops], stops, strict=False):
        made += stop["part"] == "forward"
        film.append({
            "line": stop["line"], "part": PARTS[stop["part"]], "made": made,
            "lit": [names[node] for node in stop["lit"]],
            "from": names[stop["node"]] if "node" in stop else "",
            "says": told(stop, earlier, names), "order": stop["order"], "to_do": stop["to_do"],
            "grads": [brief(stop["grads"].get(node, 0.0)) for node in names],
        })  # fmt: skip
    lines = "".join(
        f'<span data-line="{i + 1}" style="--n:{len(LINES[i]) - len(LINES[i].lstrip())}">'
        f"{html.escape(LINES[i])}\n</span>"
        for i in range(FIRST - 1, END)
        if LINES[i].strip()
    )
    inside = (
        '<div class="cg-top"><div class="cg-parts cg-bar" role="group" aria-label="Part" hidden>'
        f'</div><p class="cg-words">{film[-1]["says"]}</p></div>'
        f'<div class="cg-both"><pre class="cg-code" tabindex="0" role="group" '
        f'aria-label="The engine">{lines}</pre>{_graph(named)}</div>'
        '<p class="cg-held"></p>'
    )
    *_, last = film
    grads = dict(zip(names.values(), last["grads"], strict=True))
    pushed = ", ".join(f"{name} {grads[name]}" for name in last["order"])
    title = "The engine's lines beside the neuron's graph"
    sheets, script = [TRANSPORT, HERE / "line_by_line.css"], HERE / "line_by_line.bundle.js"
    alt = f"{title} after the pass: {pushed}."
    return Figure(alt, film, inside, "lines", sheets, script, _title=title)


def _graph(named: dict[str, engine.Node]) -> str:
    """Draw the graph as it is after the pass, each node with its value and its gradient."""
    names = {node: name for name, node in named.items()}
    parts = []
    width, height = BOX
    for name, node in named.items():
        x, y = PLACES[name]
        for parent in node.parents:
            from_x, from_y = PLACES[names[parent]]
            bend = 6 if from_x < x else -6 if from_x > x else 0
            at = f'data-from="{names[parent]}" data-to="{name}"'
            end_x, end_y = x - 3 * bend, y - height / 2 - 7
            start = f"M{from_x + bend} {from_y + height / 2}"
            parts.append(f'<path class="cg-arrow" {at} d="{start}L{end_x} {end_y}"/>')
            parts.append(f'<path class="cg-head" {at} d="M{end_x - 4} {end_y}h8l-4 7z"/>')
    for name, node in named.items():
        x, y = PLACES[name]
        kind = "cg-node" if node.parents else "cg-leaf"
        parts.append(
            f'<g class="cg-box {kind}" data-node="{name}" '
            f'transform="translate({x - width / 2} {y - height / 2})">'
            f'<rect width="{width}" height="{height}" rx="{6 if node.parents else 0}"/>'
            f'<text x="{width / 2}" y="15"><tspan class="cg-name">{name}</tspan> '
            f"{brief(node.data)}</text>"
            f'<text class="cg-grad" x="{width / 2}" y="31">{brief(node.grad)}</text></g>'
        )
    return (
        f'<svg class="cg-graph" viewBox="0 0 {WIDE} {HIGH}" role="img" '
        f'aria-label="The graph of the neuron">'
        f"{''.join(parts)}</svg>"
    )
