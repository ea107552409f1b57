"""Run every page as other machines would, and say on which of them a page fails.

Four runs, in which any two of these meet: the kernels of an old processor or this one's, one
thread or four, four busy processes beside or none. Each has a hash seed of its own, and half of
them the C locale. A page that raises, or that writes to stderr without meaning it, is named with
its cell and the settings. Each run keeps its results by itself, so that nothing runs twice.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import kernels  # noqa: E402
from tools.build import build_lock  # noqa: E402
from tools.console import Progress, clock  # noqa: E402

SPIN = "import os\nwhile os.getppid() == {parent}: pass"


@dataclass(frozen=True)
class Setting:
    """How another machine differs."""

    number: int
    old: bool
    threads: int
    busy: int
    locale: str | None = None

    def __str__(self) -> str:
        kernel = "an old processor's kernels" if self.old else "this processor's kernels"
        threads = f"{self.threads} thread{'s' * (self.threads > 1)}"
        busy = f", {self.busy} busy processes beside" if self.busy else ""
        locale = f", locale {self.locale}" if self.locale else ""
        return f"{kernel}, {threads}{busy}{locale}, hash seed {self.number}"

    @property
    def environment(self) -> dict[str, str]:
        from tools.execute import threads

        return {
            **threads(self.threads),
            "NPROC": str(self.threads),  # for XLA
            "PYTHONHASHSEED": str(self.number),
            **({"LC_ALL": self.locale} if self.locale else {}),
            **(kernels.old() if self.old else {}),
        }


SETTINGS = (
    Setting(1, old=True, threads=1, busy=0, locale="C"),
    Setting(2, old=True, threads=4, busy=4),
    Setting(3, old=False, threads=4, busy=0, locale="C"),
    Setting(4, old=False, threads=1, busy=4),
)


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Keep this many processes computing; they end with this process."""
    spin = [sys.executable, "-c", SPIN.format(parent=os.getpid())]
    spinning = [subprocess.Popen(spin) for _ in range(number)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def run(book: Path, setting: Setting, progress: Progress) -> list[str]:
    """Run the pages under a setting, unless they have run so before; return what failed."""
    from jupyter_cache import get_cache

    from tools.assemble import configuration
    from tools.execute import Runner, pages_of, stale_pages, workers

    config = configuration(book)
    cache = get_cache(book / "_build" / "anywhere" / str(setting.number))
    stale = stale_pages(cache, pages_of(book, config))
    # Pages are slow here on purpose, so that the time limit has to grow with the load.
    timeout = config["nb_execution_timeout"] * (1 + setting.busy)
    jobs = workers() * (2 if setting.busy else 1)  # so that pages get about half of the cores
    runner = Runner(cache, timeout, progress, jobs)
    with busy(setting.busy if stale else 0):
        runner.run(stale, setting.environment)
    return [f"{failure}\n    under setting {setting.number}: {setting}"
            for failure in runner.failures]  # fmt: skip


def wrong_kernels(setting: Setting, progress: Progress) -> list[str]:
    """Show which kernels a setting gives; return those that it should not have given."""
    given = kernels.of_process(setting.environment)
    progress.say("   ".join(f"{library}: {kernel}" for library, kernel in given.items()))
    return [
        f"  {library} uses {kernel}, although setting {setting.number} asks for {setting}"
        for library, kernel in (kernels.not_old(given) if setting.old else {}).items()
    ]


def main(book: Path) -> int:
    left_out = kernels.features()[1]
    settings = [setting for setting in SETTINGS if kernels.can_be_old() or not setting.old]
    failures: list[str] = []
    with build_lock(book), Progress(book / "_build" / "anywhere" / "anywhere.log") as progress:
        for setting in settings:
            progress.say(f"\nSetting {setting.number}: {setting}")
            failures += wrong_kernels(setting, progress) or run(book, setting, progress)
        progress.say(f"\nIt took {clock(progress.seconds)}.")
    if left_out:
        print(f"Left out, because this processor lacks them: {', '.join(left_out)}.")
    if len(settings) < len(SETTINGS):
        print("Left out: an old processor's kernels, which only x86-64 lets a program ask for.")
    if failures:
        print("\n".join(["", f"Failed ({len(failures)}):", *failures]), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT))
