"""Pages run as other machines would run them: each setting reaches the pages, and is named."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_cache import get_cache

from tests.site.test_build import CELL, PAGE, make_book, write
from tests.support import ROOT
from tools import kernels
from tools.anywhere import SETTINGS, Setting

SEEN = (
    CELL
    % """\
import json
import os

import numpy as np
import psutil
from threadpoolctl import threadpool_info

pools = [pool for pool in threadpool_info() if "openblas" in pool["prefix"]]
simd = np.show_config(mode="dicts")["SIMD Extensions"]
beside = psutil.Process().parent().children()
print(json.dumps({
    "OpenBLAS": pools[0]["architecture"],
    "NumPy": ", ".join(simd.get("found", [])) or "baseline",
    "threads": pools[0]["num_threads"],
    "busy": sum("getppid" in " ".join(process.cmdline()) for process in beside),
    "locale": os.environ.get("LC_ALL"),
    "hash": hash("text"),
}))"""
)
ONE_THREAD = CELL % "import os\nassert os.environ['OMP_NUM_THREADS'] == '1'"
NOISY = CELL % "import sys\n_ = sys.stderr.write('careful')"
MEANT = NOISY.replace("import sys", "---\nmystnb: {output_stderr: show}\n---\nimport sys")
ASKED = [
    SETTINGS[1] if kernels.can_be_old() else SETTINGS[3],
    pytest.param(SETTINGS[2], marks=pytest.mark.full),
]


RUN = """\
import sys
from pathlib import Path
from tools.anywhere import SETTINGS, run
from tools.console import Progress

book = Path(sys.argv[1])
with Progress(book / "log", sys.stderr) as progress:
    print(*run(book, SETTINGS[int(sys.argv[2]) - 1], progress), sep="\\n")
"""


def failures(book: Path, setting: Setting) -> str:
    """What fails when the pages run under a setting."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(book), str(setting.number)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.walk
@pytest.mark.parametrize("setting", ASKED, ids=lambda setting: str(setting.number))
def test_a_page_sees_its_setting(tmp_path: Path, setting: Setting) -> None:
    book = make_book(tmp_path)
    write(book, page=PAGE + SEEN)
    assert failures(book, setting) == ""
    cache = get_cache(book / "_build" / "anywhere" / str(setting.number))
    (record,) = cache.list_cache_records()
    seen = json.loads(cache.get_cache_bundle(record.pk).nb.cells[-1].outputs[0].text)
    wanted = subprocess.run(
        [sys.executable, "-c", "print(hash('text'))"],
        env=os.environ | {"PYTHONHASHSEED": str(setting.number)},
        capture_output=True,
        text=True,
    )
    used = {library: seen.pop(library) for library in ("OpenBLAS", "NumPy")}
    assert seen == {
        "threads": min(setting.threads, os.cpu_count() or 1),  # OpenBLAS takes no more
        "busy": setting.busy,
        "locale": setting.locale,
        "hash": int(wanted.stdout),
    }
    if setting.old:
        assert not kernels.not_old(used)
    else:
        assert used["NumPy"] == (", ".join(kernels.features()[0]) or "baseline")


def test_any_two_settings_meet() -> None:
    for first, second in (("old", "threads"), ("old", "busy"), ("threads", "busy")):
        assert len({(getattr(s, first), getattr(s, second)) for s in SETTINGS}) == 4
    assert len({setting.number for setting in SETTINGS}) == len(SETTINGS) == 4
