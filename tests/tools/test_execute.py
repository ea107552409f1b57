"""A page runs in the same way whatever the machine has."""

from pathlib import Path

import pytest

from tools.console import Progress
from tools.execute import NoisyCellError, Page, run

# What PyTorch finds in its build for CUDA, on a machine that has the toolkit and no GPU.
CUDA_WITHOUT_GPU = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---
# A page

```{code-cell} ipython3
import os, torch
os.environ["CUDA_HOME"] = "/usr/local/cuda"
torch.version.cuda, torch.cuda._is_compiled = "13.0", lambda: True
torch.cuda.is_available = lambda: False
import torch.utils.benchmark
assert torch.utils.cpp_extension.CUDA_HOME
```
"""


@pytest.mark.walk
@pytest.mark.slow
def test_pytorch_may_be_built_for_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(CUDA_WITHOUT_GPU)
    with Progress(tmp_path / "log") as progress:
        run(Page(tmp_path, path), 120, progress, {})
        with pytest.raises(NoisyCellError, match="No CUDA runtime is found"):
            run(Page(tmp_path, path), 120, progress, {"TORCH_LOGS": "torch.utils.cpp_extension"})
