"""Run every row, print the table and write ``results.json``; ``--quick`` for a short look."""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

# One thread for everyone; read when the libraries are first imported.
for name in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
os.environ["NPROC"] = "1"  # XLA's; its flags about threads no longer hold it to one

from tqdm import tqdm  # noqa: E402 (after the threads are set)

from benchmarks.measure import interleaved, processor, ratio  # noqa: E402
from benchmarks.memory import peaks  # noqa: E402
from benchmarks.scaling import WIDTHS, scaling, widths  # noqa: E402
from benchmarks.steps import array_steps, scalar_mlps  # noqa: E402
from benchmarks.works import our_own, works  # noqa: E402
from tools import kernels  # noqa: E402

RESULTS = Path(__file__).parent / "results.json"
PACKAGES = ("numpy", "torch", "jax", "autograd", "mygrad", "micrograd")
SCALAR = [  # sizes, bounds of both passes with the collector on and off, rounds
    ([16, 16, 1], (0.75, None), 30),
    ([64, 64, 1], (0.55, None), 12),
    ([200, 200, 1], (0.20, None), 5),
]
SMALL, MIDDLE, LARGE = (20, 64, 10, 32), (784, 256, 10, 256), (784, 1024, 10, 512)  # d, h, q, n
ARRAYS: list[tuple[Any, dict[str, float], int]] = [  # bounds by peer, rounds
    (
        SMALL,
        {"pytorch": 0.40, "autograd": 0.15, "mygrad": 0.25, "unguarded": 0.36, "numpy": 2.2},
        30,
    ),
    (MIDDLE, {"autograd": 0.70, "unguarded": 0.85, "numpy": 1.05}, 20),
    (LARGE, {"autograd": 0.80, "unguarded": 0.85, "numpy": 1.05}, 12),
]
ALLOCATOR = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")  # whether freed pages stay
PRODUCTS = {"pytorch": "pytorch_products", "jax": "jax_products"}  # of their own library
OURS = ("chaingrad", "program", "source", *PRODUCTS.values())

PROGRAMS: dict[Any, list[tuple[str, str, str, float]]] = {  # what is called, which, peer, bound
    SMALL: [
        ("pasted source", "source", "numpy", 1.0),
        ("program", "program", "numpy", 1.15),
        ("program", "program", "pytorch", 0.25),
        ("program", "program", "jax", 0.65),
    ],
}


def compared(
    work: str, peer: str, ours: list[float], theirs: list[float], bound: float | None, **more: Any
) -> dict[str, Any]:
    """Return a row of the table: our figures divided by theirs, round by round."""
    first, median, third = ratio(ours, theirs)
    figures = {"ratio": median, "quartiles": [first, third], "bound": bound}
    return {"work": work, "peer": peer, **figures, **more}


def row(
    work: str,
    peer: str,
    times: dict[str, list[float]],
    bound: float | None,
    ours: str = "chaingrad",
    theirs: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    mine, other = times[ours], times[theirs or peer]
    seconds = {"seconds": statistics.median(mine), "peer_seconds": statistics.median(other)}
    return compared(work, peer, mine, other, bound, **seconds, **more)


def over_products(
    work: str, peer: str, times: dict[str, list[float]], is_bounded: bool
) -> dict[str, Any]:
    """Compare how much each engine adds to the bare products of the matrix library it calls."""
    pairs = {"ours": ("chaingrad", "products"), "theirs": (peer, PRODUCTS[peer])}
    over = {
        name: [a / b for a, b in zip(times[engine], times[bare], strict=True)]
        for name, (engine, bare) in pairs.items()
    }
    bound = 1.0 if is_bounded and peer == "pytorch" else None
    medians = {name: statistics.median(found) for name, found in over.items()}
    return compared(work, peer, over["ours"], over["theirs"], bound, over=medians)


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    yield from scalar_rows(quick)
    yield from array_rows(quick)
    for work, bound, contenders in works():
        yield row(work, "pytorch", interleaved(contenders, 5 if quick else 20), bound)
    for work, beside, limit, contenders in our_own():
        yield row(work, beside, interleaved(contenders, 5 if quick else 20), limit)


def scalar_rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Yield rows beside micrograd, whose graphs need the cyclic collector: with it on and off."""
    for sizes, bounds, rounds in SCALAR[: 2 if quick else None]:
        both, alone = scalar_mlps(16, sizes)
        for collector, bound in zip((True, False), bounds, strict=True):
            more = {"collector": "on" if collector else "off"}
            for name, pair, limit in (("both passes", both, bound), ("backward", alone, None)):
                times = interleaved(pair, 5 if quick else rounds, collector=collector)
                work = f"MLP(16, {sizes}), {name}"
                yield row(work, "micrograd", times, limit, **more)
                yield row(work, "45 lines", times, None, **more)


def array_rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the step as everyone writes it, and the step with each library's own dot product."""
    for size, bounds, rounds in ARRAYS:
        for fused in (False, True):
            times = interleaved(array_steps(size, fused), 5 if quick else rounds)
            name = f"{'fused ' if fused else ''}step {size}"
            for peer in times:
                if peer not in OURS:
                    yield row(name, peer, times, None if fused else bounds.get(peer))
            for peer, products in [] if fused else PRODUCTS.items():
                yield row(f"bare products of {name}", peer, times, None, "products", products)
                yield over_products(f"{name}, over bare products", peer, times, size != SMALL)
            for what, ours, peer, limit in [] if fused else PROGRAMS.get(size, []):
                yield row(f"{what}, {name}", peer, times, limit, ours)


def machine() -> dict[str, Any]:
    """Describe the machine and the software that the figures were made with."""
    git = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(git, capture_output=True, text=True, cwd=RESULTS.parent, check=False)
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "kernels": kernels.found(),
        "allocator": {name: os.environ[name] for name in ALLOCATOR if name in os.environ},
        "versions": {package: version(package) for package in ("chaingrad", *PACKAGES)},
        "commit": commit.stdout.strip() or "unknown",
    }


def told(row: dict[str, Any]) -> str:
    """Return the name of the work, with a note if the cyclic collector was off."""
    return str(row["work"]) + (", gc off" if row.get("collector") == "off" else "")


def show(results: list[dict[str, Any]]) -> bool:
    """Print the table; return True if every bound holds."""
    print(f"\n{'work':44} {'peer':15} {'ours/peer':>9} {'quartiles':>15} {'bound':>6}")
    for r in results:
        low, high = r["quartiles"]
        bound = f"{r['bound']:6.2f}" if r["bound"] else "      "
        verdict = "" if not r["bound"] else "ok" if r["ratio"] <= r["bound"] else "MISSED"
        print(
            f"{told(r):44} {r['peer']:15} {r['ratio']:9.3f} {low:7.3f}–{high:.3f}  {bound} "
            f"{verdict}"
        )
    return all(not r["bound"] or r["ratio"] <= r["bound"] for r in results)


def show_growth(graphs: dict[str, Any], products: dict[str, Any]) -> None:
    """Print how time and memory grow with the edges, and the step beside its products."""
    for name, measured in graphs.items():
        low, high = measured["edges"][0], measured["edges"][-1]
        print(f"\n{name}, {low:,} to {high:,} edges: slope of log–log fit, and at the largest")
        for phase, fit in measured["phases"].items():
            print(f"  {phase:9} {fit['slope']:.3f}, {fit['nanoseconds']:4.0f} ns an edge")
        memory = measured["memory"]
        print(f"  {'memory':9} {memory['slope']:.3f}, {memory['bytes_a_node']:4.0f} bytes a node")
    print("\nstep with n = d = h = q, over its bare matrix products:")
    for size, (_, median, _) in zip(products["sizes"], products["ratio"], strict=True):
        print(f"  {size:9} {median:.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute; writes nothing")
    quick = parser.parse_args().quick
    total = 8 * len(SCALAR[: 2 if quick else None]) + 24 * len(ARRAYS) + 20
    results = list(tqdm(rows(quick), total=total, unit="row"))
    memory = peaks()
    results.append(memory)
    growth = scaling(5 if quick else 6)
    results.append(growth["row"])
    products = widths(*((3, WIDTHS[:-2]) if quick else (9,)))
    met = show(results)
    show_growth(growth["graphs"], products)
    if not quick:
        content = {
            "machine": machine(),
            "rows": results,
            "scaling": growth,
            "widths": products,
        }
        RESULTS.write_text(json.dumps(content, indent=1) + "\n")
        print(f"\nwritten to {RESULTS.name}")
    return 0 if met or quick else 1


if __name__ == "__main__":
    sys.exit(main())
