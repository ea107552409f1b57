"""Time and memory against the number of edges, of random graphs and of MLPs, all on scalars."""

import gc
import random
import time
import tracemalloc
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from benchmarks.measure import interleaved, ratio
from benchmarks.steps import array_steps
from chaingrad import Node, nn
from chaingrad.backward import children_first

BOUND = 2.0  # time per edge at the largest size over that at 10^3 edges
PHASES = ("build", "sort", "backward", "free")
BATCH = 10**4  # edges a timing: small graphs are timed many at a time
WIDTHS = tuple(2**k for k in range(4, 11))

Build = Callable[[], Node]


def random_dag(edges: int) -> Build:
    """Make a random graph with two edges a node, each second node a mean; draw before building.

    Nodes with odd numbers are means of two earlier ones, so that values stay within ±1.
    """
    draw = random.Random(edges)
    starts = [draw.uniform(-1, 1) for _ in range(10)]
    others = [2 * draw.randrange(max(0, i - 45), i + 5) + 1 for i in range(edges // 4)]

    def build() -> Node:
        nodes = [Node(value) for value in starts]
        for other in others:
            nodes.append(nodes[-1] + nodes[other])
            nodes.append(nodes[-1] * 0.5)
        return nodes[-1]

    return build


def scalar_mlp(edges: int) -> Build:
    """Make the forward pass of an MLP with two equal hidden layers and about ``edges`` edges."""
    width = max(1, round(((9 + 8 * edges) ** 0.5 - 3) / 8))  # it has 8 width² + 6 width edges
    mlp = nn.MLP(width, [width, width, 1], rng=0)
    x = [Node(value, requires_grad=False) for value in np.linspace(-1, 1, width).tolist()]
    return lambda: mlp(x)


GRAPHS: dict[str, Callable[[int], Build]] = {"random DAG": random_dag, "scalar MLP": scalar_mlp}


def count_edges(root: Node) -> int:
    """Count the operands of all nodes that ``root`` depends on."""
    return sum(len(node.parents) for node in root.sorted_graph())


def times(build: Build, number: int) -> dict[str, float]:
    """Time each phase in seconds for one of ``number`` graphs, with the cyclic collector off."""
    gc.collect()
    gc.disable()
    clock = [time.process_time()]
    roots = [build() for _ in range(number)]
    clock.append(time.process_time())
    for root in roots:
        children_first(root)
    clock.append(time.process_time())
    again = time.process_time()
    for root in roots:
        root.backward()
    clock.append(time.process_time() - again + clock[-1])
    del root
    again = time.process_time()
    roots.clear()
    clock.append(time.process_time() - again + clock[-1])
    gc.enable()
    return {
        phase: (end - start) / number
        for phase, start, end in zip(PHASES, clock[:-1], clock[1:], strict=True)
    }


def memory(build: Build) -> int:
    """Measure the bytes that a graph and its gradients take, beyond the parameters and inputs."""
    build().backward()  # the gradients of parameters stay
    gc.collect()
    tracemalloc.start()
    root = build()
    root.backward()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del root
    return held


def slope(edges: Sequence[float], values: Sequence[float]) -> float:
    """Fit a power law and return its exponent: the slope of a line on log–log axes."""
    return float(np.polyfit(np.log(edges), np.log(values), 1)[0])


def measure(graph: Callable[[int], Build], largest: int, most: int = 20) -> dict[str, Any]:
    """Measure phases and memory of graphs from 10^2 to 10^``largest`` edges, and fit the slopes.

    Of several runs, ``most`` of small graphs, the least: other programs can slow one down, and
    nothing can speed it up.
    """
    edges, nodes, held = [], [], []
    seconds: dict[str, list[float]] = {phase: [] for phase in PHASES}
    for k in range(2, largest + 1):
        build = graph(10**k)
        root = build()
        edges.append(count_edges(root))
        nodes.append(len(root.sorted_graph()))
        del root
        held.append(memory(build))
        number = max(1, BATCH // 10**k)
        runs = [times(build, number) for _ in range(min(most, max(5, 10**6 // 10**k)))]
        for phase in PHASES:
            seconds[phase].append(min(run[phase] for run in runs))
    return {
        "edges": edges,
        "nodes": nodes,
        "phases": {
            phase: {
                "slope": slope(edges, taken),
                "nanoseconds": taken[-1] / edges[-1] * 1e9,
                "seconds": taken,
            }
            for phase, taken in seconds.items()
        },
        "memory": {
            "slope": slope(nodes, held),
            "bytes": held,
            "bytes_a_node": held[-1] / nodes[-1],
        },
    }


def growth(measured: dict[str, Any]) -> float:
    """Divide the time per edge of all phases at the largest size by the time at 10^3 edges."""
    seconds = np.sum([phase["seconds"] for phase in measured["phases"].values()], axis=0)
    per_edge = seconds / measured["edges"]
    return float(per_edge[-1] / per_edge[1])


def scaling(largest: int) -> dict[str, Any]:
    """Measure each kind of graph, and make the table's row for the worse one."""
    graphs = {name: measure(graph, largest) for name, graph in GRAPHS.items()}
    worst = max(growth(measured) for measured in graphs.values())
    return {
        "graphs": graphs,
        "row": {
            "work": f"time an edge, 10^{largest} edges over 10^3",
            "peer": "chaingrad",
            "ratio": worst,
            "quartiles": [worst, worst],
            "bound": BOUND,
        },
    }


def widths(rounds: int, sizes: Sequence[int] = WIDTHS) -> dict[str, Any]:
    """Measure the step with n = d = h = q beside its five bare matrix products, for each size."""
    found: dict[str, list[Any]] = {"seconds": [], "products_seconds": [], "ratio": []}
    for size in sizes:
        steps = array_steps((size,) * 4)
        pair = {name: steps[name] for name in ("chaingrad", "products")}
        taken = interleaved(pair, rounds)
        found["seconds"].append(median(taken["chaingrad"]))
        found["products_seconds"].append(median(taken["products"]))
        found["ratio"].append(ratio(taken["chaingrad"], taken["products"]))
    return {"sizes": list(sizes), **found}
