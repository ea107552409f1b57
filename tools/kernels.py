"""Which kernels of this processor the numeric libraries use, by their own account.

As a script it prints them as JSON. A library chooses its kernels when it is loaded, so that a
process with other settings has to be asked of its own.
"""

import json
import os
import platform
import re
import subprocess
import sys

# The variables that choose the kernels of a processor of 2008, and what the libraries then report.
# (MKL ignores MKL_ENABLE_INSTRUCTIONS on processors that Intel didn't make.)
OLD = {
    "OPENBLAS_CORETYPE": "Prescott",
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2",
}
SAID = {
    "OpenBLAS": r"Prescott|Katmai",  # one set of kernels under two names
    "NumPy": r"baseline",
    "PyTorch": r"DEFAULT",
    "MKL": r"CNR:COMPATIBLE",
    "oneDNN": r"Intel SSE4\.1",
    "XLA": r"sse4\.2",
}
VERBOSE = """
import torch
torch.ones(2, 2) @ torch.ones(2, 2)
torch.ones(1, 1, 1, 1).to_mkldnn()
"""


def features() -> tuple[list[str], list[str]]:
    """Return the features beyond NumPy's baseline: those found in this process, and the others."""
    import numpy as np

    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    return simd.get("found", []), simd.get("not found", [])


def old() -> dict[str, str]:
    """Return the environment that gives a new process the kernels of an old processor."""
    name = "NPY_DISABLE_CPU_FEATURES"
    return OLD | {name: " ".join([*os.environ.get(name, "").split(), *features()[0]])}


def can_be_old() -> bool:
    return platform.machine() in ("x86_64", "AMD64")


def of_xla() -> str:
    """Return the newest instructions that XLA compiles for."""
    import jax

    compiled = jax.jit(lambda x: x + 1).lower(1.0).compile()
    program = compiled.runtime_executable().serialize()  # type: ignore[union-attr]
    used = re.findall(rb"\+(avx[\w.]*)", program) or re.findall(rb"\+(sse[\d.]+)", program)
    return max(used, default=b"unknown").decode()


def of_mkl_and_onednn() -> tuple[str, str]:
    """Return what MKL and oneDNN report while PyTorch calls them."""
    shown = subprocess.run(
        [sys.executable, "-c", VERBOSE],
        env=os.environ | {"MKL_VERBOSE": "1", "ONEDNN_VERBOSE": "1"},
        capture_output=True,
        text=True,
    ).stdout
    mkl = re.search(r"CNR:\S+", shown)
    onednn = re.search(r"cpu,isa:(.+)", shown)
    return mkl[0] if mkl else "not used", onednn[1] if onednn else "not used"


def found() -> dict[str, str]:
    """Return the kernels that this process has, by library."""
    import torch
    from threadpoolctl import threadpool_info

    blas = [pool["architecture"] for pool in threadpool_info() if "openblas" in pool["prefix"]]
    mkl, onednn = of_mkl_and_onednn()
    return {
        "OpenBLAS": ", ".join(sorted(set(blas))) or "not used",
        "NumPy": ", ".join(features()[0]) or "baseline",
        "PyTorch": torch.backends.cpu.get_cpu_capability(),
        "MKL": mkl,
        "oneDNN": onednn,
        "XLA": of_xla(),
    }


def of_process(environment: dict[str, str]) -> dict[str, str]:
    """Return the kernels of a new process that has this environment in addition to ours."""
    command = [sys.executable, __file__]
    return dict(json.loads(subprocess.check_output(command, env=os.environ | environment)))


def not_old(kernels: dict[str, str]) -> dict[str, str]:
    """Return the kernels that an old processor would not use."""
    return {
        library: kernel
        for library, kernel in kernels.items()
        if not re.fullmatch(SAID[library], kernel)
    }


if __name__ == "__main__":
    print(json.dumps(found()))
