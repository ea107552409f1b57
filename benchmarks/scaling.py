"""Time and memory against the number of edges, over random graphs of scalars."""

import gc
import random
import time
import tracemalloc
from typing import Any

import numpy as np

from chaingrad import Node
from chaingrad.backward import children_first

BOUND = 2.0  # time per edge at the largest size over that at 10^3 edges


def build(edges: int) -> Node:
    """A random graph with two edges a node; values stay bounded."""
    draw = random.Random(edges)
    nodes = [Node(draw.uniform(-1, 1)) for _ in range(10)]
    for i in range(edges // 2):
        a, b = nodes[-1], nodes[draw.randrange(max(0, len(nodes) - 100), len(nodes))]
        nodes.append(a + b if i % 2 else a * 0.5 if i % 5 else a - b)
    return nodes[-1]


def times(edges: int) -> dict[str, float]:
    """Seconds of each phase, and bytes a node, with the cyclic collector off."""
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    root = build(edges)
    built = time.perf_counter()
    for node in children_first(root):
        node._adjoint = None
    ordered = time.perf_counter()
    root.backward()
    done = time.perf_counter()
    count = len(root.sorted_graph())
    before = time.perf_counter()
    del root, node
    freed = time.perf_counter()
    gc.enable()
    return {
        "build": built - start,
        "sort": ordered - built,
        "backward": done - ordered,
        "free": freed - before,
        "nodes": count,
    }


def scaling(largest: int) -> dict[str, Any]:
    """Slopes of the log–log fits from 10^2 to 10^``largest`` edges."""
    sizes = [10**k for k in range(2, largest + 1)]
    measured = {}
    for edges in sizes:
        runs = [times(edges) for _ in range(max(3, min(50, 10**5 // edges)))]
        measured[edges] = {phase: float(np.median([r[phase] for r in runs])) for phase in runs[0]}
    phases = {}
    for phase in ("build", "sort", "backward", "free"):
        seconds = [measured[edges][phase] for edges in sizes]
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        phases[phase] = {
            "slope": float(slope),
            "nanoseconds": seconds[-1] / sizes[-1] * 1e9,
            "seconds": seconds,
        }
    tracemalloc.start()
    root = build(10**4)
    bytes_a_node = tracemalloc.get_traced_memory()[0] / len(root.sorted_graph())
    tracemalloc.stop()
    per_edge = {edges: sum(measured[edges][p] for p in phases) / edges for edges in sizes}
    growth = per_edge[sizes[-1]] / per_edge[1000]
    return {
        "edges": sizes,
        "phases": phases,
        "bytes_a_node": bytes_a_node,
        "row": {
            "work": f"time an edge, 10^{largest} edges over 10^3",
            "peer": "chaingrad",
            "ratio": growth,
            "quartiles": [growth, growth],
            "bound": BOUND,
        },
    }
