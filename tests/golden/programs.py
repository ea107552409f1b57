"""What `chaingrad.program` writes: on pages, and for functions of all kinds.

What the workbench writes of its own programs is in the figures, what tiles are made of in the
problems.
"""

from collections.abc import Iterator

import numpy as np

import chaingrad
from tests.golden.functions import FUNCTIONS, arguments
from tests.golden.record import Entry
from tests.site.built import Site, toc_documents
from tests.support import ROOT


def entries() -> Iterator[Entry]:
    site = Site(ROOT / "_build" / "html")
    for document in toc_documents():
        for i, shown in enumerate(site.document(document).select(".cell_output pre")):
            if "\ndef " in f"\n{shown.get_text()}":
                yield f"pages: {document}, output {i}", shown.get_text().splitlines()
    for name, (function, shapes) in FUNCTIONS.items():
        args = list(arguments(shapes))
        floats = [i for i, x in enumerate(args) if np.asarray(x).dtype.kind == "f"]
        step = chaingrad.program(function, argnums=floats)
        step(*args)
        equations = str(step.equations).splitlines()
        yield f"functions: {name}", {"source": step.source.splitlines(), "equations": equations}
