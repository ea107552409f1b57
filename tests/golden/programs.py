"""What `chaingrad.program` writes for sixty functions: source and equations."""

from collections.abc import Iterator

import numpy as np

import chaingrad
from tests.golden.functions import FUNCTIONS, arguments
from tests.golden.record import Entry


def entries() -> Iterator[Entry]:
    for name, (function, shapes) in FUNCTIONS.items():
        args = list(arguments(shapes))
        floats = [i for i, x in enumerate(args) if np.asarray(x).dtype.kind == "f"]
        step = chaingrad.program(function, argnums=floats)
        step(*args)
        equations = str(step.equations).splitlines()
        yield name, {"source": step.source.splitlines(), "equations": equations}
