"""Setting up says what is wrong, and does nothing twice."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support import ROOT, lacking
from tools import environment

SCRIPT = ROOT / "tools" / "environment.py"
PREPARE = (
    "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]);"
    "from tools import environment; environment.prepare(Path(sys.argv[2]))"
)


def prepare(root: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Set `root` up in a process of its own, deaf to this machine's pip configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    return subprocess.run(
        [sys.executable, "-c", PREPARE, str(ROOT), str(root)],
        env=kept | {"PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1"} | variables,
        capture_output=True,
        text=True,
    )


def wheel(folder: Path, name: str, version: str) -> None:
    """An empty but installable package."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any")
        archive.writestr(f"{info}/RECORD", "")


def test_an_old_python_is_refused_with_advice(monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match=r"Python 3\.11 or newer is needed; .* is 3\.9"):
        environment.check_version((3, 9, 18))


def test_a_newer_python_on_path_is_suggested(monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: name == "python3.12" or None)
    with pytest.raises(SystemExit, match=r"make PYTHON=python3\.12"):
        environment.check_version((3, 10, 0))


def test_an_old_python_gets_a_message_from_make_not_a_traceback():
    pretend = "import runpy, sys; sys.version_info = (3, 8, 0, 'final', 0); "
    old = pretend + f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    result = subprocess.run([sys.executable, "-c", old], capture_output=True, text=True)
    assert result.returncode == 1
    assert "Python 3.11 or newer is needed" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_venv_module_is_named(monkeypatch):
    monkeypatch.setattr(environment.sys, "executable", shutil.which("false"))
    with pytest.raises(
        SystemExit, match=r"venv module is missing[^$]*apt install python3\.\d+-venv"
    ):
        environment.check_venv_module()


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("[Errno 122] Disk quota exceeded: '/home/x'", "disk is full"),
        ("NewConnectionError: Failed to establish a new connection", "cannot reach its package"),
        ("Temporary failure in name resolution", "cannot reach its package"),
        ("SSLError(SSLCertVerificationError(1, ...", "cannot reach its package"),
        ("No matching distribution found for jaxlib==0.10.2", "nothing at the pinned version"),
    ],
)
def test_known_failures_are_explained(printed, said, tmp_path):
    assert said in environment.explain(printed, [tmp_path])


def test_unknown_failures_are_left_to_speak_for_themselves(tmp_path):
    assert environment.explain("error: command 'cc' failed", [tmp_path]) is None


def test_an_unreachable_index_is_explained(tmp_path):
    (tmp_path / "requirements.txt").write_text("chaingrad==0.1.0\n")
    result = prepare(tmp_path, PIP_INDEX_URL="http://127.0.0.1:9/simple")
    assert result.returncode == 1
    assert "pip cannot reach its package index" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_full_disk_is_explained(tmp_path):
    """Set up on a disk of two megabytes, in a mount namespace of its own."""
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"]).returncode:
        lacking("user namespaces (unshare --user --mount)")
    script = 'mount -t tmpfs -o size=2m none "$1" && cp "$2" "$1" && shift 2 && exec "$@"'
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("chaingrad==0.1.0\n")
    small = tmp_path / "small"
    small.mkdir()
    command = [sys.executable, "-c", PREPARE, str(ROOT), str(small)]
    result = subprocess.run(
        [*alone, "sh", "-c", script, "sh", str(small), str(requirements), *command],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "The disk is full" in result.stderr
    assert "GB free" in result.stderr


def test_setting_up_twice_installs_once(tmp_path):
    wheel(tmp_path, "chaingrad", "0.1.0")
    wheel(tmp_path, "pinned", "1.2")
    (tmp_path / "requirements.txt").write_text("# pins\nchaingrad==0.1.0\npinned==1.2\n")
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    first = prepare(tmp_path, **offline)
    assert first.returncode == 0, first.stderr
    assert "Successfully installed" in first.stdout
    assert (tmp_path / ".venv" / ".ready").exists()
    second = prepare(tmp_path, **offline)
    assert second.returncode == 0
    assert second.stdout == ""
    (tmp_path / "requirements.txt").write_text("chaingrad==0.1.0\npinned==1.3\n")
    assert not environment.is_complete(tmp_path / ".venv", tmp_path / "requirements.txt")


def test_pins_compare_by_canonical_name(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text(
        "-e .\n# note\nMarkupSafe==3.0\ntyping_extensions==4.1 ; python_version > '3'\n"
    )
    assert environment.pins(file) == {"markupsafe": "3.0", "typing-extensions": "4.1"}
