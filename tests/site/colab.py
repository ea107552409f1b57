"""What Colab carries of the packages that the pages use, as installed here."""

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Of what Colab carries, the packages that the pages use.
CARRIED = ["numpy", "matplotlib", "torch", "jax", "graphviz", "scikit-learn", "tqdm"]
TOOLS = ["ipykernel", "pip"]


def closure(names: list[str]) -> Iterator[importlib.metadata.Distribution]:
    """The distributions of these names and everything that they need here."""
    waiting, seen = list(names), set()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # needed on other platforms, or by another build of PyTorch
        yield found
        for requirement in map(Requirement, found.requires or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)


def carry(folder: Path) -> None:
    """Fill a folder with links to Colab's packages, as installed here."""
    folder.mkdir()
    for distribution in closure(CARRIED + TOOLS):
        files = distribution.files or []
        for name in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            source = Path(str(distribution.locate_file(name)))
            if source.exists() and not (folder / name).exists():
                (folder / name).symlink_to(source)
