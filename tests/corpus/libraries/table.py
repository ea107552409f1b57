"""Models of libraries by name: random weights by a configuration, nothing from the network.

They train as they stand, so that any symptom is a false finding, at the start and after fifty
steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from tests.corpus.libraries import in_jax, in_torch
from tests.corpus.models.table import Run


@dataclass(frozen=True)
class Row:
    """A model of a library, imported when it's built."""

    library: str
    build: Callable[[], Run]


def _rows() -> dict[str, Row]:
    hugging = {
        f"transformers {name}": Row("transformers", partial(in_torch.transformer, name))
        for name in in_torch.TRANSFORMERS
    }
    vision = {
        f"timm {name}": Row("timm", partial(in_torch.vision, name)) for name in in_torch.VISION
    }
    graphs = {
        f"torch_geometric {name}": Row("torch_geometric", partial(in_torch.graph, name))
        for name in in_torch.GRAPHS
    }
    others = {
        f"{library} {build.__name__}": Row(library, build)
        for library, builds in in_jax.BUILDS.items()
        for build in builds
    }
    return {**hugging, **vision, **graphs, **others}


LIBRARY_MODELS = _rows()


def parameters() -> list[Any]:
    """Return the rows as parameters of a test, for each number of steps."""
    return [
        pytest.param(row, steps, id=f"{name}-{steps}")
        for name, row in LIBRARY_MODELS.items()
        for steps in (0, 50)
    ]
