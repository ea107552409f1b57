"""Setting up says what is wrong, and does nothing twice."""

import io
import os
import shutil
import socket
import subprocess
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.support import ROOT
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


def wheel(folder: Path, name: str, version: str, **modules: str) -> None:
    """An installable package, empty but for these modules."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any",
        **{f"{name}/{module}.py": text for module, text in modules.items()},
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(path, text)


def installers(root: Path) -> dict[str, str]:
    """Who installed each package of the environment, by its own record."""
    (site,) = root.glob(".venv/lib/python*/site-packages")
    return {
        dist.name: (dist.read_text("INSTALLER") or "").strip()
        for dist in distributions(path=[str(site)])
    }


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
        ("OSError: [Errno 28] No space left on device", "disk"),
        ("[Errno 122] Disk quota exceeded: '/home/x'", "disk"),
        ("NewConnectionError: Failed to establish a new connection", "index"),
        ("Temporary failure in name resolution", "index"),
        ("SSLError(SSLCertVerificationError(1, ...", "index"),
        ("No matching distribution found for jaxlib==0.10.2", "jaxlib==0.10.2"),
    ],
)
def test_known_failures_are_explained(printed, said, tmp_path):
    assert said in environment.explain(printed, [tmp_path])


def test_unknown_failures_are_left_to_speak_for_themselves(tmp_path):
    assert environment.explain("error: command 'cc' failed", [tmp_path]) is None


@pytest.mark.walk
@pytest.mark.slow
def test_setting_up_twice_installs_once(tmp_path):
    wheel(tmp_path, "chaingrad", "0.1.0")
    wheel(tmp_path, "pinned", "1.2")
    pins = "# pins\nchaingrad==0.1.0\npinned==1.2\nother==1.0 ; sys_platform == 'win32'\n"
    (tmp_path / "requirements.txt").write_text(pins)
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    first = prepare(tmp_path, **offline)
    assert first.returncode == 0, first.stderr
    assert installers(tmp_path).keys() >= {"chaingrad", "pinned"}
    assert (tmp_path / ".venv" / ".ready").exists()
    second = prepare(tmp_path, **offline)
    assert second.returncode == 0
    assert second.stdout == ""
    wheel(tmp_path, "pinned", "1.3")
    (tmp_path / "requirements.txt").write_text("chaingrad==0.1.0\npinned==1.3\n")
    assert prepare(tmp_path, **offline).stdout


REAL_UV = (
    f"import os, sys\nos.execv({sys.executable!r}, [{sys.executable!r}, '-m', 'uv', *sys.argv[1:]])"
)


@pytest.mark.walk
@pytest.mark.slow
@pytest.mark.parametrize(("uv", "by"), [(REAL_UV, "uv"), ("raise SystemExit('no')", "pip")])
def test_uv_installs_all_but_pytorch_and_pip_what_uv_cannot(bare, tmp_path, uv, by):
    shutil.copytree(bare, tmp_path / ".venv", symlinks=True)
    pins = {"chaingrad": "0.1.0", "pinned": "1.2", "torch": "9.8.7", "uv": "0.1"}
    for name, version in pins.items():
        wheel(tmp_path, name, version, **({"__main__": uv} if name == "uv" else {}))
    lines = [f"{name}=={version}\n" for name, version in pins.items()]
    (tmp_path / "requirements.txt").write_text("".join(lines))
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "TORCH_INDEX": ""}
    result = prepare(tmp_path, **offline)
    assert result.returncode == 0, result.stderr
    found = installers(tmp_path)
    assert {name: found[name] for name in pins} == {
        "chaingrad": by,
        "pinned": by,
        "torch": "pip",
        "uv": "pip",
    }


def test_uv_hears_of_pips_settings(tmp_path, monkeypatch):
    """The command's own section outweighs the general one, a variable both, and uv's own all."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "SSL_"))]:
        monkeypatch.delenv(name)
    file = tmp_path / "pip.conf"
    file.write_text(
        "[global]\nindex-url = https://u:p%40@a/simple\ntrusted-host = a\n  b\nretries = 1\n"
        "find-links = /x /y\ncert = /c.pem\n[install]\ntrusted-host = c\n[list]\ntimeout = 3\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://d/simple file:///e")
    monkeypatch.setenv("UV_HTTP_RETRIES", "7")
    heard = {
        "SSL_CERT_FILE": "/c.pem",
        "UV_DEFAULT_INDEX": "https://u:p%40@a/simple",
        "UV_FIND_LINKS": "/x,/y",
        "UV_HTTP_RETRIES": "7",
        "UV_INDEX": "https://d/simple file:///e",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_INSECURE_HOST": "c",
        "UV_PYTHON_DOWNLOADS": "never",
    }
    assert environment.uv_settings().items() >= heard.items()


@pytest.mark.walk
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
    assert told


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
