"""Compilers: a chain of element-wise operations, and the step; writes ``compiled.json``.

The page on profiling shows the chain, both passes of it under torch.compile. The step is that of
`benchmarks.steps`: our program beside torch.compile of the whole gradient, and beside the code by
hand under numba. This needs a C++ compiler and numba, which building the book may not.
"""

import datetime
import json
import math
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measure import Contender, interleaved, processor, ratio
from benchmarks.steps import DECAY, Size, array_steps, inputs
from chaingrad.account import saved_bytes

RESULTS = Path(__file__).parent / "compiled.json"
SIZES = ((512, 512), (4096, 1024))  # 1 MiB and 16 MiB
STEPS: tuple[Size, ...] = ((20, 64, 10, 32), (784, 256, 10, 256))
Chain = Callable[[torch.Tensor], torch.Tensor]


def by_hand(x: torch.Tensor) -> torch.Tensor:
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def fused(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x, approximate="tanh")


def both_passes(f: Chain, x: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(f(x).sum(), x)[0]


def measure(
    compiled: Chain, rounds: int, sizes: Iterable[tuple[int, int]] = SIZES
) -> list[dict[str, Any]]:
    """Measure the least processor seconds and the arrays saved, for each size and chain."""
    chains = {"by hand": by_hand, "compiled": compiled, "fused": fused}
    rows: list[dict[str, Any]] = []
    for size in sizes:
        x = torch.randn(size, requires_grad=True)
        slopes = [both_passes(f, x) for f in chains.values()]
        if not all(torch.allclose(slope, slopes[0], atol=1e-5) for slope in slopes):
            raise AssertionError(f"the gradients differ at {size}")
        runs = {name: partial(both_passes, f) for name, f in chains.items()}
        contenders = {name: Contender(run, x.requires_grad_) for name, run in runs.items()}
        times = interleaved(contenders, rounds)
        for name, f in chains.items():
            seconds, saved = min(times[name]), saved_bytes(f, x) / x.nbytes
            rows.append({"size": size, "chain": name, "seconds": seconds, "saved": saved})
    return rows


def compiled_gradient(size: Size) -> Callable[[Any], Any]:
    """Make the step with value and gradient in one function that torch.compile sees whole."""
    w1, w2, x, y = map(torch.tensor, inputs(size))

    def loss(w1: Any, w2: Any) -> Any:
        error = (x @ w1.T).relu() @ w2.T - y
        squares = (w1**2).sum() + (w2**2).sum()
        return (error**2).sum() / (2 * len(x)) + DECAY / 2 * squares

    step = torch.compile(torch.func.grad_and_value(loss, argnums=(0, 1)), fullgraph=True)
    return lambda _: step(w1, w2)[0]


def jitted_by_hand(size: Size) -> Callable[[Any], Any]:
    """Make the step by hand, compiled by numba."""
    import numba  # type: ignore[import-not-found, unused-ignore]

    w1, w2, x, y = inputs(size)
    decay = np.float32(DECAY)

    @numba.njit  # type: ignore[untyped-decorator, unused-ignore]
    def step(w1: Any, w2: Any, x: Any, y: Any) -> Any:
        n = np.float32(len(x))
        z = x @ w1.T
        h = np.maximum(z, np.float32(0))
        error = h @ w2.T - y
        squares = (w1**2).sum() + (w2**2).sum()
        loss = (error**2).sum() / (2 * n) + decay / 2 * squares
        d_o = error / n
        d_z = d_o @ w2 * (z > 0)
        return loss, d_z.T @ x + decay * w1, d_o.T @ h + decay * w2

    return lambda _: step(w1, w2, x, y)[1:]


def measure_step(size: Size, rounds: int) -> list[dict[str, Any]]:
    """Time the program of a step beside what compilers make of it, after comparing gradients."""
    known = array_steps(size)
    contenders = {name: known[name] for name in ("program", "numpy")}
    contenders["torch.compile"] = Contender(compiled_gradient(size))
    contenders["numba"] = Contender(jitted_by_hand(size))
    found: dict[str, Any] = {name: each.run(None) for name, each in contenders.items()}
    for gradients in found.values():
        for ours, theirs in zip(gradients, found["numpy"], strict=True):
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=2e-3, atol=2e-4)
    times = interleaved(contenders, rounds)
    return [
        {"size": size, "peer": peer, "ratio": ratio(times["program"], times[peer])}
        for peer in contenders
        if peer != "program"
    ]


def main(rounds: int = 15) -> None:
    torch.set_num_threads(1)
    rows = measure(torch.compile(by_hand), rounds)
    steps = [row for size in STEPS for row in measure_step(size, rounds)]
    about = {
        "processor": processor(),
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
    }
    content = about | {"rows": rows, "steps": steps}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n")
    for row in rows:
        ms = 1e3 * row["seconds"]
        print(f"{row['size']!s:14} {row['chain']:9} {ms:7.2f} ms, {row['saved']:g} saved")
    for row in steps:
        low, median, high = row["ratio"]
        print(
            f"program of step {row['size']} / {row['peer']:14} {median:.2f} ({low:.2f}–{high:.2f})"
        )


if __name__ == "__main__":
    main()
