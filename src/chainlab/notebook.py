"""Progress bars that a page can print."""

import sys
from typing import Any


class OneLine:
    """A place for tqdm to write to: an output of one line that is replaced, not a growing one::

        for step in tqdm(range(1000), file=OneLine(), ncols=72, ascii=False):
            ...

    That takes a notebook, a page, or a live cell. A script or a terminal has no output that could
    be replaced, and shows nothing.
    """

    def __init__(self) -> None:
        """Take a place below the cell."""
        from IPython.display import display

        show: Any = display
        self._output = None
        if _has_outputs():
            self._output = show({"text/plain": ""}, raw=True, display_id=True)

    def write(self, text: str) -> None:
        """Replace the last text with this one."""
        if text.strip() and self._output is not None:
            self._output.update({"text/plain": text.strip()}, raw=True)

    def flush(self) -> None:
        """Do nothing, because every text is shown at once."""


def _has_outputs() -> bool:
    """Check that cells run here: in a kernel, or in a browser, where there is no kernel to ask."""
    from IPython import get_ipython

    ask: Any = get_ipython
    return sys.platform == "emscripten" or hasattr(ask(), "kernel")
