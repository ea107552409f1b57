"""Progress bars: one line below a cell, and nothing where there are no cells."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

BAR = """\
from tqdm import tqdm

from chainlab.notebook import OneLine

for step in tqdm(range(3), file=OneLine(), ncols=72, ascii=False):
    pass
"""


@pytest.mark.parametrize("shell", [["-"], ["-m", "IPython", "--simple-prompt", "--no-banner"]])
def test_outside_of_a_notebook_a_bar_shows_nothing(shell: list[str]) -> None:
    given = BAR if shell == ["-"] else f"exec({BAR!r})\n"
    command = [sys.executable, *shell]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert "%" not in done.stdout + done.stderr
    assert "text/plain" not in done.stdout + done.stderr
    if shell == ["-"]:
        assert done.stdout + done.stderr == ""


def test_in_a_notebook_a_bar_is_one_output_of_one_line() -> None:
    notebook = new_notebook(cells=[new_code_cell(BAR)])
    NotebookClient(notebook, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "display_data"
    assert output.data["text/plain"].startswith("100%")
    assert "\n" not in output.data["text/plain"]


def test_in_a_browser_a_bar_is_shown_without_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython.display

    from chainlab.notebook import OneLine

    shown = []

    def display(bundle: dict[str, str], **_: Any) -> SimpleNamespace:
        shown.append(bundle)
        return SimpleNamespace(update=lambda bundle, raw: shown.append(bundle))

    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(IPython.display, "display", display)
    OneLine().write("\r 50% ")
    assert shown == [{"text/plain": ""}, {"text/plain": "50%"}]
