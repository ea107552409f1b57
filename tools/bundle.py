"""Check the scripts' types and bundle them: an entry and all that it imports become one file.

python tools/bundle.py

This takes npm, and a network from which npm gets esbuild and TypeScript. Bundles are committed, and
the manifest beside ``package.json`` says which sources they were made of, so that nobody else needs
either.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "tools" / "bundles"
MANIFEST = HOME / "manifest.json"
# The scripts that pages, figures and tests load: `page.js` becomes `page.bundle.js`.
ENTRIES = (
    "src/chainview/figures/lookup.js",
    "src/chainview/figures/nudge.js",
    "src/chainview/figures/order.js",
    "src/chainview/figures/replay.js",
    "src/chainview/player/players.js",
    "src/chainlab/drills/page/alone.js",
    "src/chainlab/drills/page/page.js",
    "src/chainlab/lessons/batch.js",
    "src/chainlab/lessons/bug_museum.js",
    "src/chainlab/lessons/chain_rule.js",
    "src/chainlab/lessons/exercises.js",
    "src/chainlab/lessons/jax_backward_pass.js",
    "src/chainlab/lessons/layers_of_today.js",
    "src/chainlab/lessons/line_by_line.js",
    "src/chainlab/lessons/many_devices.js",
    "src/chainlab/lessons/normalization.js",
    "src/chainlab/lessons/time_and_flops.js",
    "src/chainlab/lessons/pipelines.js",
    "src/chainlab/lessons/profiling.js",
    "src/chainlab/lessons/second_derivatives.js",
    "src/chainlab/lessons/pytorch_backward.js",
    "src/chainlab/lessons/race.js",
    "src/chainlab/lessons/rematerialization.js",
    "src/chainlab/lessons/valley.js",
    "src/chainlab/lessons/sorting_transformer.js",
    "src/chainlab/lessons/training_loop.js",
    "src/chainlab/workbench/written.js",
    "_ext/look/book.js",
    "_ext/predict/predict.js",
    "tests/logic.js",
)
# Names stay readable in a page's source; white space goes, because pages repeat the scripts.
OPTIONS = (
    "--bundle", "--format=iife", "--charset=utf8", "--minify-whitespace", "--line-limit=100",
    "--out-extension:.js=.bundle.js", '--banner:js="use strict";',
)  # fmt: skip
INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def bundled(entry: str) -> str:
    """Return the name of an entry's bundle."""
    return f"{entry.removesuffix('.js')}.bundle.js"


def made_with() -> dict[str, Any]:
    """Return what else, apart from the sources, determines the bundles."""
    package = json.loads((HOME / "package.json").read_text())
    return {"esbuild": package["devDependencies"]["esbuild"], "options": [*OPTIONS]}


def stale(root: Path = ROOT) -> list[str]:
    """Return the files that differ from what the manifest says about them."""
    manifest = json.loads(MANIFEST.read_text())
    changed = [] if manifest["made with"] == made_with() else ["esbuild or its options"]
    known = manifest["sources"] | manifest["bundles"]
    if manifest["bundles"].keys() != {*map(bundled, ENTRIES)}:
        changed.append("the list of entries")
    return changed + [
        name for name, was in known.items()
        if not (root / name).exists() or digest(root / name) != was
    ]  # fmt: skip


@contextmanager
def installed() -> Iterator[Path]:
    """Install esbuild and TypeScript for a while; yield the folder of their programs."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HOME / name, folder)
        subprocess.run(INSTALL, cwd=folder, capture_output=True, text=True, check=True)
        yield Path(folder, "node_modules", ".bin")


def check_types(programs: Path) -> str:
    """Return what TypeScript finds wrong in the scripts; "" if nothing."""
    command = [str(programs / "tsc"), "--project", str(HOME), "--pretty", "false"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout


def build(programs: Path, target: Path) -> dict[str, Any]:
    """Write the bundles into a folder, each in its place; return their manifest."""
    with tempfile.TemporaryDirectory() as folder:
        program, about = programs / "esbuild", Path(folder, "about.json")
        places = (f"--outdir={target}", f"--outbase={ROOT}", f"--metafile={about}")
        command = [str(program), *ENTRIES, *OPTIONS, *places, "--log-level=warning"]
        subprocess.run(command, cwd=ROOT, check=True)
        sources = sorted(json.loads(about.read_text())["inputs"])
    return {
        "made with": made_with(),
        "bundles": {name: digest(target / name) for name in map(bundled, ENTRIES)},
        "sources": {name: digest(ROOT / name) for name in sources},
    }


def main() -> None:
    if shutil.which("npm") is None:
        sys.exit(
            "npm is not on PATH: install Node.js, which brings it. Only this command needs it."
        )
    try:
        with installed() as programs:
            if wrong := check_types(programs):
                sys.exit(wrong)
            manifest = build(programs, ROOT)
    except subprocess.CalledProcessError as error:
        sys.exit(error.stderr or "The scripts could not be bundled.")
    MANIFEST.write_text(json.dumps(manifest, indent=2) + "\n")
    size = sum((ROOT / name).stat().st_size for name in manifest["bundles"])
    print(f"{len(ENTRIES)} bundles of {len(manifest['sources'])} scripts, {size:,} bytes")


if __name__ == "__main__":
    main()
