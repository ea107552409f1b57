"""Setting up says what is wrong, and does nothing twice."""

import io
import os
import shutil
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support import ROOT, lacking
from tools import environment
from tools.console import Progress

SCRIPT = ROOT / "tools" / "environment.py"


def prepare(root: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Set `root` up in a process of its own, deaf to this machine's settings of pip and Python."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PIP_", "PYTHON"))}  # fmt: skip
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(root)],
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


@pytest.mark.slow
def test_an_unreachable_index_is_explained(bare, tmp_path):
    shutil.copytree(bare, tmp_path / ".venv", symlinks=True)
    (tmp_path / "requirements.txt").write_text("chaingrad==0.1.0\n")
    result = prepare(tmp_path, PIP_INDEX_URL="http://127.0.0.1:9/simple")
    assert result.returncode == 1
    assert "pip cannot reach its package index" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
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
    command = [sys.executable, str(SCRIPT), str(small)]
    result = subprocess.run(
        [*alone, "sh", "-c", script, "sh", str(small), str(requirements), *command],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "The disk is full" in result.stderr
    assert "GB free" in result.stderr


@pytest.mark.slow
def test_setting_up_twice_installs_once(tmp_path):
    wheel(tmp_path, "chaingrad", "0.1.0")
    wheel(tmp_path, "pinned", "1.2")
    pins = "# pins\nchaingrad==0.1.0\npinned==1.2\nother==1.0 ; sys_platform == 'win32'\n"
    (tmp_path / "requirements.txt").write_text(pins)
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    first = prepare(tmp_path, **offline)
    assert first.returncode == 0, first.stderr
    assert "Installing 2 pinned packages" in first.stdout
    assert "The environment is ready" in first.stdout
    assert "Successfully installed" in setup_log(tmp_path)
    assert (tmp_path / ".venv" / ".ready").exists()
    second = prepare(tmp_path, **offline)
    assert second.returncode == 0
    assert second.stdout == ""
    wheel(tmp_path, "pinned", "1.3")
    (tmp_path / "requirements.txt").write_text("chaingrad==0.1.0\npinned==1.3\n")
    assert "Installing" in prepare(tmp_path, **offline).stdout


@pytest.mark.slow
def test_a_failure_names_the_log(bare, tmp_path):
    shutil.copytree(bare, tmp_path / ".venv", symlinks=True)
    (tmp_path / "chaingrad-0.1.0.tar.gz").write_bytes(b"not an archive")
    (tmp_path / "requirements.txt").write_text("chaingrad==0.1.0\n")
    result = prepare(tmp_path, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert result.returncode == 1
    named = Path(result.stderr.split("The whole log: ")[1].strip())
    assert "not an archive" not in result.stdout
    assert "chaingrad-0.1.0.tar.gz" in named.read_text()


def test_pins_compare_by_canonical_name_where_they_hold(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text(
        "-e .\n# note\nMarkupSafe==3.0\ntyping_extensions==4.1 ; python_version > '3'\n"
        "soupsieve==2.10 ; python_version < '3'\nsoupsieve==4.1 ; python_version >= '3'\n"
    )
    held = {"markupsafe": "3.0", "typing-extensions": "4.1", "soupsieve": "4.1"}
    assert environment.pins(file) == held


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A virtual environment with pip alone, to copy: making one takes seconds."""
    folder = tmp_path_factory.mktemp("bare") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder


def setup_log(root: Path) -> str:
    return (root / "_build" / "logs" / "setup.log").read_text()


@pytest.fixture
def no_gpu(monkeypatch):
    """Linux without a GPU, whatever this machine is."""
    monkeypatch.setattr(environment.sys, "platform", "linux")
    monkeypatch.setattr(environment, "has_gpu", lambda: False)
    monkeypatch.delenv("TORCH_INDEX", raising=False)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@pytest.fixture
def index(tmp_path):
    """A package index, in a folder, that has the CPU build of PyTorch 9.8.7 alone."""
    folder = tmp_path / "index" / "torch"
    folder.mkdir(parents=True)
    wheel(folder, "torch", "9.8.7+cpu")
    (folder / "index.html").write_text("<a href='torch-9.8.7+cpu-py3-none-any.whl'>torch</a>")
    return folder.parent


def cpu_torch(tmp_path: Path, version: str = "9.8.7") -> tuple[list[str], str]:
    """The arguments that pip would be given, and what was said."""
    told = io.StringIO()
    with Progress(tmp_path / "log", told) as progress:
        pip = [sys.executable, "-m", "pip"]
        return environment.cpu_torch(pip, version, progress), told.getvalue()


@pytest.mark.slow
def test_the_cpu_build_comes_from_its_index(no_gpu, index, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "nothing").as_uri())
    monkeypatch.setenv("TORCH_INDEX", index.as_uri())
    options = ["torch==9.8.7+cpu", "--index-url", index.as_uri()]
    assert cpu_torch(tmp_path) == (options, "")


@pytest.mark.slow
def test_a_cpu_build_at_hand_is_taken(no_gpu, index, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "nothing").as_uri())
    monkeypatch.setenv("PIP_FIND_LINKS", str(index / "torch"))
    options, told = cpu_torch(tmp_path)
    assert options == ["torch==9.8.7+cpu"]
    assert "at hand" in told


@pytest.mark.slow
@pytest.mark.parametrize("version", ["9.8.7", "9.9.0"])
def test_without_the_cpu_build_pip_chooses(no_gpu, index, tmp_path, monkeypatch, version):
    """The index is unreachable, or has another version."""
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "nothing").as_uri())
    address = "http://127.0.0.1:9/simple" if version == "9.8.7" else index.as_uri()
    monkeypatch.setenv("TORCH_INDEX", address)
    options, told = cpu_torch(tmp_path, version)
    assert options == []
    assert f"does not offer the CPU build of PyTorch {version}. Going on" in told


@pytest.mark.slow
def test_an_index_that_never_answers_is_given_up(no_gpu, tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "PATIENCE", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        monkeypatch.setenv("PIP_INDEX_URL", address)
        monkeypatch.setenv("TORCH_INDEX", address)
        assert cpu_torch(tmp_path)[0] == []


def test_a_gpu_another_system_or_no_index_leaves_pip_its_choice(no_gpu, tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "offers", lambda *_: pytest.fail("asked an index"))
    monkeypatch.setenv("TORCH_INDEX", "")
    assert cpu_torch(tmp_path) == ([], "")
    monkeypatch.delenv("TORCH_INDEX")
    monkeypatch.setattr(environment, "has_gpu", lambda: True)
    assert cpu_torch(tmp_path) == ([], "")
    monkeypatch.setattr(environment, "has_gpu", lambda: False)
    monkeypatch.setattr(environment.sys, "platform", "darwin")
    assert cpu_torch(tmp_path) == ([], "")


@pytest.mark.slow
def test_the_cpu_build_satisfies_the_pin(bare, index, tmp_path):
    """The whole way: PyTorch from its own index, the rest from pip's, in one environment."""
    if not environment.takes_cpu_torch():
        pytest.skip("pip chooses the build of PyTorch here")
    shutil.copytree(bare, tmp_path / ".venv", symlinks=True)
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel(wheels, "chaingrad", "0.1.0")
    (tmp_path / "requirements.txt").write_text("chaingrad==0.1.0\ntorch==9.8.7\n")
    nothing = {"PIP_INDEX_URL": (tmp_path / "nothing").as_uri(), "PIP_FIND_LINKS": str(wheels)}
    result = prepare(tmp_path, TORCH_INDEX=index.as_uri(), **nothing)
    assert result.returncode == 0, result.stderr
    assert "torch-9.8.7+cpu" in setup_log(tmp_path)
