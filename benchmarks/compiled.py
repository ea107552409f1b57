"""Both passes of a chain of element-wise operations under torch.compile; writes ``compiled.json``.

The page on profiling shows them. This needs a C++ compiler, which building the book may not.
"""

import datetime
import json
import math
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import Contender, interleaved, processor
from chaingrad.account import saved_bytes

RESULTS = Path(__file__).parent / "compiled.json"
SIZES = ((512, 512), (4096, 1024))  # 1 MiB and 16 MiB
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


def main(rounds: int = 15) -> None:
    torch.set_num_threads(1)
    rows = measure(torch.compile(by_hand), rounds)
    about = {
        "processor": processor(),
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
    }
    RESULTS.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n")
    for row in rows:
        ms = 1e3 * row["seconds"]
        print(f"{row['size']!s:14} {row['chain']:9} {ms:7.2f} ms, {row['saved']:g} saved")


if __name__ == "__main__":
    main()
