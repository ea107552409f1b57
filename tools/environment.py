"""Prepare the virtual environment that every `make` target runs in.

Runs under the Python that the reader has, so it must at least parse under old ones: it says what
is missing (a newer Python, the venv module, the network, disk space) instead of a traceback.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

MINIMUM = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
FULL = 50e6  # bytes: less than this is not enough for anything

NETWORK = re.compile(
    r"NewConnectionError|ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError"
    r"|Max retries exceeded|Failed to establish|Connection (refused|reset|broken)"
    r"|name resolution|Name or service not known|nodename nor servname|No route to host"
)
DISK = re.compile(r"No space left on device|Errno 28\b|Disk quota exceeded|Errno 122\b")
NO_WHEEL = re.compile(r"No matching distribution found for (\S+)|requires a different Python")


def newer_python():
    """The name of a Python on PATH that is new enough, or None."""
    for minor in range(MINIMUM[1] + 4, MINIMUM[1] - 1, -1):
        name = f"python{MINIMUM[0]}.{minor}"
        if shutil.which(name):
            return name
    return None


def check_version(version=sys.version_info):
    """Raise SystemExit with advice unless `version` is new enough."""
    if tuple(version[:2]) >= MINIMUM:
        return
    found = newer_python()
    advice = (
        f"This machine has one: run make PYTHON={found} …"
        if found
        else "Install a newer Python, or name one that you have: make PYTHON=/path/to/python3 …"
    )
    raise SystemExit(
        f"Python {MINIMUM[0]}.{MINIMUM[1]} or newer is needed; "
        f"{sys.executable} is {version[0]}.{version[1]}.\n{advice}"
    )


def check_venv_module():
    """Raise SystemExit with advice where Python came without venv (Debian splits it off)."""
    probe = subprocess.run([sys.executable, "-c", "import venv, ensurepip"], capture_output=True)
    if probe.returncode:
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        raise SystemExit(
            "This Python cannot make virtual environments: its venv module is missing.\n"
            f"On Debian and Ubuntu: sudo apt install {package}"
        )


def free_space(folder):
    """Free bytes on the disk that holds `folder`."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def explain(output, folders):
    """Why pip or venv failed, from what it printed and the disks it wrote to; None if unknown."""
    if DISK.search(output) or min(map(free_space, folders)) < FULL:
        space = ", ".join(
            f"{free_space(folder) / 1e9:.1f} GB free in {folder}" for folder in folders
        )
        return f"The disk is full: {space}. Setting up needs about 3 GB."
    if NETWORK.search(output):
        return (
            "pip cannot reach its package index. Check the network connection, or the proxy and\n"
            "index settings that `pip config list` shows, and run the same command again."
        )
    missing = NO_WHEEL.search(output)
    if missing:
        return (
            f"{missing.group(0)}: pip cannot reach its package index, or the\n"
            "index has nothing at the pinned version for this platform and Python.\n"
            "CPython 3.11 on 64-bit Linux is what the pins are tested with."
        )
    return None


def run(command, folders):
    """Run `command`, relaying what it prints; raise SystemExit with an explanation if it fails."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    lines = []
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    if process.wait():
        reason = explain("".join(lines), folders) or "See the messages above."
        raise SystemExit(f"\nThe environment could not be set up. {reason}")


def pins(requirements):
    """{canonical name: version} of the pinned lines of a requirements file."""
    found = {}
    for line in requirements.read_text().splitlines():
        match = re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line)
        if match:
            found[canonical(match.group(1))] = match.group(2)
    return found


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def is_complete(venv, requirements):
    """Whether `venv` already holds the package and every pin (local versions such as +cpu pass)."""
    from importlib.metadata import distributions

    sites = [str(path) for path in venv.glob("lib/python*/site-packages")]
    installed = {
        canonical(dist.metadata["Name"]): dist.version.split("+")[0]
        for dist in distributions(path=sites)
    }
    wanted = pins(requirements)
    return "chaingrad" in installed and all(installed.get(k) == v for k, v in wanted.items())


def prepare(root=ROOT):
    """Make `root/.venv` and install the pins into it, doing only what is not done yet."""
    check_version()
    venv, requirements = root / ".venv", root / "requirements.txt"
    python = venv / "bin" / "python"
    folders = [root, Path(os.environ.get("TMPDIR", "/tmp"))]
    if not python.exists():
        check_venv_module()
        print(f"Making a virtual environment in {venv} …", flush=True)
        try:
            run([sys.executable, "-m", "venv", str(venv)], folders)
        except BaseException:
            shutil.rmtree(venv, ignore_errors=True)  # half an environment would look whole
            raise
    if not is_complete(venv, requirements):
        print("Installing the pinned packages (some minutes, once) …", flush=True)
        pip = [str(python), "-m", "pip", "install", "--progress-bar", "off"]
        run([*pip, "-r", str(requirements)], folders)
    (venv / ".ready").touch()


if __name__ == "__main__":
    os.chdir(ROOT)
    try:
        prepare()
    except OSError as error:
        reason = explain(str(error), [ROOT])
        if reason is None:
            raise
        raise SystemExit(reason) from None
