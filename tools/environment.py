"""Prepare the virtual environment that every `make` target runs in.

Runs under the Python that the reader has, so it must at least parse under old ones: it says what
is missing (a newer Python, the venv module, the network, disk space) instead of a traceback. With
the environment made, it goes on under the environment's own Python.

pip brings uv, at its pin, and uv installs the other pins, three times as fast as pip. pip installs
PyTorch, whose builds need choosing, and whatever uv could not: uv does not read pip's settings, and
not all of them have a counterpart (`uv_settings`).

On Linux without a GPU it installs the CPU build of PyTorch: the CUDA build that the package index
has is several gigabytes larger, and no page needs it. TORCH_INDEX names another index for it;
empty, it leaves the choice to pip.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

MINIMUM = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
FULL = 50e6  # bytes: less than this is not enough for anything
# From PyTorch's install page, for pip, Linux and CPU: https://pytorch.org/get-started/locally/
CPU_TORCH = "https://download.pytorch.org/whl/cpu"
# Python compiles a module when it is first imported. pip would compile far more.
OPTIONS = ("install", "--progress-bar", "off", "--no-compile")
PATIENCE = 20  # seconds to wait for an index

sys.path.insert(0, str(ROOT))

from tools.console import Progress, clock  # noqa: E402

NETWORK = re.compile(
    r"NewConnectionError|ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError"
    r"|Max retries exceeded|Failed to establish|Connection (refused|reset|broken)"
    r"|name resolution|Name or service not known|nodename nor servname|No route to host"
)
DISK = re.compile(r"No space left on device|Errno 28\b|Disk quota exceeded|Errno 122\b")
# pip's settings, and the variables that set the same in uv.
SETTINGS = {
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "constraint": "UV_CONSTRAINT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "index-url": "UV_DEFAULT_INDEX",
    "keyring-provider": "UV_KEYRING_PROVIDER",
    "no-index": "UV_NO_INDEX",
    "proxy": "ALL_PROXY",
    "retries": "UV_HTTP_RETRIES",
    "timeout": "UV_HTTP_TIMEOUT",
    "trusted-host": "UV_INSECURE_HOST",
}
SETTING = re.compile(r"^(global|install|:env:)\.([a-z-]+)=(.+)$", re.MULTILINE)
PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)(?:\s*;\s*(.+))?")
NO_WHEEL = re.compile(r"No matching distribution found for (\S+)|requires a different Python")


def newer_python() -> "str | None":
    """Return the name of a Python on PATH that is new enough, or None."""
    minors = range(MINIMUM[1] + 4, MINIMUM[1] - 1, -1)
    return next(filter(shutil.which, (f"python{MINIMUM[0]}.{minor}" for minor in minors)), None)


def check_version(version: "tuple[int, ...]" = tuple(sys.version_info[:3])) -> None:
    """Raise SystemExit with advice unless `version` is new enough."""
    if tuple(version[:2]) >= MINIMUM:
        return
    found = newer_python()
    advice = "Install a newer Python, or name one that you have: make PYTHON=/path/to/python3 …"
    if found:
        advice = f"This machine has one: run make PYTHON={found} …"
    raise SystemExit(
        f"Python {MINIMUM[0]}.{MINIMUM[1]} or newer is needed; "
        f"{sys.executable} is {version[0]}.{version[1]}.\n{advice}"
    )


def check_venv_module() -> None:
    """Raise SystemExit with advice if Python came without venv (Debian splits it off)."""
    probe = subprocess.run([sys.executable, "-c", "import venv, ensurepip"], capture_output=True)
    if probe.returncode:
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        raise SystemExit(
            "This Python cannot make virtual environments: its venv module is missing.\n"
            f"On Debian and Ubuntu: sudo apt install {package}"
        )


def free_space(folder: Path) -> int:
    """Return the free bytes on the disk that holds `folder`."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def explain(output: str, folders: "list[Path]") -> "str | None":
    """Explain from its output and the disks it wrote to why pip or venv failed; None if unknown."""
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
            "The pins are for CPython 3.11 to 3.14 on 64-bit Linux and on macOS 14 or newer."
        )
    return None


def run(
    command: "list[str]",
    folders: "list[Path]",
    progress: Progress,
    env: "dict[str, str] | None" = None,
) -> None:
    """Run `command`, its output into the log; raise SystemExit with an explanation if it fails."""
    process = subprocess.Popen(
        command,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    lines = []
    for line in process.stdout or ():
        progress.note(line)
        lines.append(line)
    progress.now("")
    if process.wait():
        reason = explain("".join(lines), folders) or "It says:\n\n" + "".join(lines[-10:])
        raise SystemExit(
            f"\nThe environment could not be set up. {reason}\nThe whole log: {progress.log}"
        )


def pins(requirements: Path) -> "dict[str, str]":
    """Return {canonical name: version} for the pins in a file that hold for this Python."""
    try:
        from packaging.markers import Marker
    except ImportError:  # in a new environment, only pip has a copy
        from pip._vendor.packaging.markers import Marker  # type: ignore[assignment]
    found = {}
    for line in requirements.read_text().splitlines():
        match = PIN.match(line)
        if match and (match.group(3) is None or Marker(match.group(3)).evaluate()):
            found[canonical(match.group(1))] = match.group(2)
    return found


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> "dict[str, str]":
    """Return {canonical name: version} for this Python's packages; +cpu and the like are cut."""
    from importlib.metadata import distributions

    return {
        canonical(dist.metadata["Name"]): dist.version.split("+")[0] for dist in distributions()
    }


def is_complete(requirements: Path) -> bool:
    """Return whether this Python already has the package and every pin."""
    present = installed()
    return "chaingrad" in present and pins(requirements).items() <= present.items()


def has_gpu() -> bool:
    """Return whether this machine shows an NVIDIA GPU."""
    return shutil.which("nvidia-smi") is not None or Path("/proc/driver/nvidia").exists()


def takes_cpu_torch() -> bool:
    """Return whether pip would bring a CUDA build here that nothing could use."""
    return sys.platform.startswith("linux") and not has_gpu()


def offers(pip: "list[str]", version: str, *options: str) -> bool:
    """Return whether pip finds this version of PyTorch; ask only once, and not for long."""
    query = [*pip, "index", "versions", "torch", "--retries", "0", "--timeout", "5", *options]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return False
    return version in re.findall(r"[^\s,()]+", answer.stdout)


def cpu_torch(pip: "list[str]", version: str, progress: Progress) -> "list[str]":
    """Return pip's arguments to install the CPU build of PyTorch, or [] if pip should not."""
    index = os.environ.get("TORCH_INDEX", CPU_TORCH)
    if not takes_cpu_torch() or not index:
        return []
    wanted = version + "+cpu"
    progress.now("looking for the CPU build of PyTorch")
    if offers(pip, wanted):
        progress.say("pip finds the CPU build of PyTorch with its own settings.")
        return ["torch==" + wanted]
    if offers(pip, wanted, "--index-url", index):
        return ["torch==" + wanted, "--index-url", index]
    progress.say(
        f"{index} does not offer the CPU build of PyTorch {version}. Going on with what pip\n"
        "finds, perhaps the CUDA build (several gigabytes). Another index: make book TORCH_INDEX=…"
    )
    return []


def uv_settings() -> "dict[str, str]":
    """Return the environment in which uv follows pip's settings; uv's own variables win."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
    settings = SETTING.findall(listed)
    found = {
        "UV_INDEX_STRATEGY": "unsafe-best-match",  # as in pip, all indexes count
        "UV_PYTHON_DOWNLOADS": "never",
        "SSL_CERT_FILE": os.environ.get("REQUESTS_CA_BUNDLE", ""),
    }
    for section in ("global", "install", ":env:"):  # as in pip, later sections win
        for place, name, value in settings:
            words = str(ast.literal_eval(value)).split()
            if place == section and name in SETTINGS and words:
                found[SETTINGS[name]] = ("," if name == "find-links" else " ").join(words)
    return {**{name: value for name, value in found.items() if value}, **os.environ}


def install_with_uv(
    root: Path, wanted: "dict[str, str]", folders: "list[Path]", progress: Progress
) -> None:
    """Install all pins except PyTorch's with uv; raise SystemExit if pip or uv fails."""
    pip = [sys.executable, "-m", "pip"]
    progress.now("fetching uv")
    run([*pip, *OPTIONS, "--no-deps", f"uv=={wanted['uv']}"], folders, progress)
    packages = [f"{name}=={version}" for name, version in wanted.items() if name != "torch"]
    if "-e ." in (root / "requirements.txt").read_text().splitlines():
        packages += ["--editable", "."]
    progress.now(f"installing {len(wanted) - 1} packages")
    uv = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable]
    run([*uv, "--no-progress", "--no-deps", *packages], folders, progress, uv_settings())


def install(root: Path, progress: Progress) -> None:
    """Install the pins into the environment of this Python, unless they are there."""
    requirements = root / "requirements.txt"
    if is_complete(requirements):
        return
    folders = [root, Path(os.environ.get("TMPDIR", "/tmp"))]
    pip = [sys.executable, "-m", "pip"]
    wanted, present = pins(requirements), installed()
    progress.say(f"Installing {len(wanted)} pinned packages (a minute or more, once) …")
    if "uv" in wanted:
        try:
            install_with_uv(root, wanted, folders, progress)
        except SystemExit as failure:
            progress.note(str(failure))
            progress.say("uv could not install them here, so pip does, which takes longer.")
    if "torch" in wanted and present.get("torch") != wanted["torch"]:
        source = cpu_torch(pip, wanted["torch"], progress)
        if source:
            progress.now("installing PyTorch")
            run([*pip, *OPTIONS, "--no-deps", *source], folders, progress)
    if not is_complete(requirements):
        progress.now("installing with pip")
        run([*pip, *OPTIONS, "-r", str(requirements)], folders, progress)
    # Python reads a link in the locale's encoding, which may lack letters of our folder's name.
    for link in Path(sysconfig.get_path("purelib")).glob("__editable__.chaingrad-*.pth"):
        link.unlink()  # the file may be shared with uv's cache
        link.write_text(os.path.relpath(str(root / "src"), str(link.parent)))
    progress.say(f"The environment is ready, after {clock(time.monotonic() - progress.began)}.")


def make(venv: Path, progress: Progress) -> None:
    """Make the virtual environment."""
    check_venv_module()
    progress.say(f"Making a virtual environment in {venv} …")
    progress.now("unpacking pip")
    try:
        run([sys.executable, "-m", "venv", str(venv)], [venv.parent], progress)
    except BaseException:
        shutil.rmtree(venv, ignore_errors=True)  # half an environment would look complete
        raise


def prepare(root: Path = ROOT) -> None:
    """Make `root/.venv` and install the pins into it, doing only what is not done yet."""
    check_version()
    root = root.resolve()
    os.chdir(str(root))  # for `-e .`
    venv = root / ".venv"
    python = venv / "bin" / "python"
    if not python.exists():
        with Progress(root / "_build" / "logs" / "venv.log") as progress:
            make(venv, progress)
    os.execv(str(python), [str(python), __file__, "install", str(root)])


def main(arguments: "list[str]") -> None:
    if arguments[:1] != ["install"]:
        prepare(*map(Path, arguments))
    root = Path(arguments[1])
    with Progress(root / "_build" / "logs" / "setup.log") as progress:
        install(root, progress)
    (root / ".venv" / ".ready").touch()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        reason = explain(str(error), [ROOT])
        if reason is None:
            raise
        raise SystemExit(reason) from None
