"""The Linux calls that shut a process in: namespaces, a root of its own, limits, a syscall filter.

`isolate` is called by a process that has just been forked, `lock_down` by its child, which then is
process 1 of its own process namespace. What they promise is written in `coursework.sandbox`.
"""

import contextlib
import ctypes
import errno
import functools
import os
import platform
import signal
import struct
import sys
import sysconfig
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from coursework.sources import package

with contextlib.suppress(ImportError):  # Windows has none, and no sandbox either
    import resource

NOBODY = 65534
SCRATCH = "/tmp"
MOUNT_POINT = "/proc"  # exists everywhere, holds no library, and the sandbox has no use for it
SCRATCH_OPTIONS = "size=16m,nr_inodes=1k,mode=1777"
FILE_BYTES = 2**24
OPEN_FILES = 64
THREADS = 64

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x00020000, 0x02000000, 0x04000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID = 0x08000000, 0x10000000, 0x20000000
CLONE_NEWNET = 0x40000000
NAMESPACES = (
    CLONE_NEWUSER
    | CLONE_NEWNS
    | CLONE_NEWPID
    | CLONE_NEWNET
    | CLONE_NEWIPC
    | CLONE_NEWUTS
    | CLONE_NEWCGROUP
)
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
AT_RECURSIVE = 0x8000
READ_ONLY, NO_SETUID, NO_DEVICES = 1, 2, 4  # of mount_setattr
SYS_MOUNT_SETATTR = 442
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 24, 36, 38
CAPABILITY_VERSION, CAPABILITIES = 0x20080522, 41  # of Linux 5.9 and later

# The calls that it may make, by number on x86-64 and on arm64, None where there is none. They are
# those that CPython 3.11 to 3.13, NumPy, PyTorch, JAX, SciPy and Matplotlib were seen to make, and
# those that another C library makes in their place. None of them acts on another process, or on
# a file that another submission sees. Every other call is refused.
ALLOWED = {
    # memory
    "brk": (12, 214),
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "msync": (26, 227),
    # threads, and the end
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "exit": (60, 93),
    "exit_group": (231, 94),
    # signals, to itself
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "tgkill": (234, 131),
    "restart_syscall": (219, 128),
    # time
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    # what it is, and what it has used
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "uname": (63, 160),
    "getrusage": (98, 165),
    "times": (100, 153),
    "prlimit64": (302, 261),
    "getrandom": (318, 278),
    # descriptors
    "read": (0, 63),
    "write": (1, 64),
    "writev": (20, 66),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "lseek": (8, 62),
    "close": (3, 57),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    # files: to read the libraries' and to work in its own folder
    "open": (2, None),
    "openat": (257, 56),
    "stat": (4, None),
    "lstat": (6, None),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "listxattr": (194, 11),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "ftruncate": (77, 46),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "rename": (82, None),
    "renameat": (264, 38),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "chmod": (90, None),
    "fchmodat": (268, 53),
    "utimensat": (280, 88),
}
NEWER = 424  # From Linux 5.1 on both machines number their calls alike, and begin here.

FIRST_ARGUMENT_AT, SECOND_ARGUMENT_AT, THIRD_ARGUMENT_AT, FOURTH_ARGUMENT_AT = 16, 24, 32, 40
EPERM, EAGAIN, EINVAL, ENOTTY, ENOSYS = 1, 11, 22, 25, 38


@dataclass(frozen=True)
class Rule:
    """A call that may be made with some values of one argument; with others it fails."""

    numbers: tuple[int, int]  # on x86-64, on arm64
    argument: int  # where it is
    values: tuple[int, ...]
    otherwise: int  # the error


RULES = {
    # A thread, with the flags of glibc and of musl: no process, no namespace, no descriptors of
    # its own. The flags of clone3 lie in memory, where a filter cannot read them.
    "clone": Rule((56, 220), FIRST_ARGUMENT_AT, (0x3D0F00, 0x7D0F00), EPERM),
    # Duplicate, and the flags of a descriptor. Others lock, lease, watch or mark a file.
    "fcntl": Rule((72, 25), SECOND_ARGUMENT_AT, (0, 1, 2, 3, 4, 1030), EPERM),
    # Is it a terminal and of what size, bytes to read, and the flags of a descriptor.
    "ioctl": Rule(
        (16, 29), SECOND_ARGUMENT_AT, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451), ENOTTY
    ),
    # How it will be read, unneeded pages, large ones, not in a dump. Not: cold or paged out, since
    # others have these pages in memory, too; merged with those of others.
    "madvise": Rule((28, 233), THIRD_ARGUMENT_AT, (0, 1, 2, 3, 4, 8, 14, 15, 16, 17), EINVAL),
    # The name of a thread.
    "prctl": Rule((157, 167), FIRST_ARGUMENT_AT, (15, 16), EPERM),
}
MMAP, FUTEX = (9, 222), (202, 98)
# Of mmap's flags: shared, private, droppable, fixed, anonymous, three that do nothing, unreserved,
# populated, stack, fixed anew. Not: locked, and of huge pages, of which the machine has few.
MMAP_ALLOWED = 0x1 | 0x2 | 0x8 | 0x10 | 0x20 | 0x1800 | 0x4000 | 0x18000 | 0x20000 | 0x100000
FUTEX_WAKE, FUTEX_PRIVATE = 1, 128
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, audit architecture

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER_AT, ARCHITECTURE_AT = 0, 4


REFUSED = {
    errno.ENOSPC: "no more user namespaces are allowed here (user.max_user_namespaces is used up)",
    errno.EPERM: "this system, or its container, keeps user namespaces from ordinary programs",
    errno.ENOSYS: "this kernel has no user namespaces",
    errno.EINVAL: "this kernel lacks one of the namespaces that isolation needs",
}


class IsolationError(RuntimeError):
    """This machine cannot shut a process in; says what failed."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


@functools.cache  # 41 capabilities are dropped one by one
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> int:
    """Call the C library, with numbers as longs; raise `IsolationError` if the kernel says no."""
    longs = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    result: int = getattr(_library(), name)(*longs)
    if result < 0:
        error = os.strerror(ctypes.get_errno())
        raise IsolationError(f"{name} failed: {error}")
    return result


def _prctl(option: int, *values: object) -> None:
    _call("prctl", option, *(*values, 0, 0, 0, 0)[:4])


def adopt_orphans() -> None:
    """Make this process the parent of its descendants whose own parents end."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def children() -> set[int]:
    """Return the processes whose parent this one is, its own and the adopted ones (Linux)."""
    lists = Path("/proc/self/task").glob("*/children")
    return {int(pid) for text in lists for pid in text.read_text().split()}


def end_orphans(own: Collection[int] = ()) -> None:
    """Kill and reap the adopted processes, and any these leave behind; not the `own` children."""
    for _ in range(1000):  # each round may bring up children of those it ends
        orphans = children().difference(own)
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        if not orphans:
            return


def visible_paths(packages: Sequence[str]) -> list[str]:
    """Return the paths that a shut-in process may read: libraries, and nothing else.

    The standard library, the installed packages, shared libraries, and the folders of `packages`,
    which may be imported from a checkout. Paths through links are listed under both names.
    """
    prefixes = [Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix)]
    libraries = [prefix / name for prefix in prefixes for name in ("lib", "lib64")]
    on_path = [Path(path) for path in sys.path if path]
    wanted = [
        *(Path(sysconfig.get_path(key)) for key in ("stdlib", "platstdlib", "purelib", "platlib")),
        *(p for p in on_path if any(p.resolve().is_relative_to(lib) for lib in libraries)),
        *map(package, packages),
        *map(Path, ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")),
        *map(Path, ("/etc/ld.so.cache", "/dev/null", "/dev/urandom")),
        prefixes[1] / "lib",
    ]
    named = {name for path in wanted for name in (path.absolute(), path.resolve())}
    existing = sorted(str(path) for path in named if path.exists())
    return [p for p in existing if not any(p.startswith(q + "/") for q in existing)]


def package_folders(visible: Sequence[str]) -> list[str]:
    """Return the folders within `visible` paths into which packages are installed."""
    within = ("", "python*/", "lib*/python*/")
    kinds = ("site-packages", "dist-packages")
    found = [p for v in visible for w in within for k in kinds for p in Path(v).glob(w + k)]
    found += [path for path in map(Path, visible) if path.name in kinds]
    return sorted(str(path) for path in set(found) if path.is_dir())


def folders_of(package: ModuleType) -> list[str]:
    """Return the folders of an installed package, and of the libraries that came with it."""
    own = Path(str(package.__file__)).parent
    libraries = own.with_name(f"{own.name}.libs")
    return [str(path) for path in (own, libraries) if path.is_dir()]


def isolate(
    visible: Sequence[str], ready: int, mapped: int, covered: Sequence[str], shown: Sequence[str]
) -> None:
    """Leave every namespace of the machine for new ones; the new root has only `visible` paths.

    The folders `covered` are empty there, except for the paths `shown`.

    Writes a byte to `ready` once the user namespace exists and waits for one from `mapped`, which
    says that its parent has called `map_user`.
    """
    Path("/proc/self/oom_score_adj").write_text("1000")  # out of memory, the kernel ends it first
    if _is_root_with_nobody():
        os.setgroups([])
    _unshare()
    os.write(ready, b"u")
    if os.read(mapped, 1) != b"m":
        raise IsolationError("the user namespace could not be mapped")
    _call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    _mount_tmpfs(MOUNT_POINT, "size=1m,mode=755")
    os.mkdir(MOUNT_POINT + SCRATCH)
    _mount_tmpfs(MOUNT_POINT + SCRATCH, SCRATCH_OPTIONS)
    for path in visible:
        _show(path)
    for path in covered:
        _mount_tmpfs(MOUNT_POINT + path, "size=1m,mode=755")
    for path in shown:
        _show(path)
    for path in ("", *covered):
        _set_mount_flags(MOUNT_POINT + path, READ_ONLY, recursive=False)
    os.chdir(MOUNT_POINT)
    _call("pivot_root", b".", b".")
    _call("umount2", b".", MNT_DETACH)
    os.chdir(SCRATCH)


def _unshare() -> None:
    try:
        _call("unshare", NAMESPACES)
    except IsolationError as error:
        raise IsolationError(REFUSED.get(ctypes.get_errno(), str(error))) from error


def map_user(pid: int) -> None:
    """Give the user namespace of `pid` one identity, or for root a second, unprivileged one.

    The system's root may not run foreign code, because limits on processes don't bind it.
    """
    uid, gid = os.geteuid(), os.getegid()
    if _is_root_with_nobody():
        first, second = 0, f"{NOBODY} {NOBODY} 1\n"
    else:
        first, second = NOBODY, ""
        Path(f"/proc/{pid}/setgroups").write_text("deny")
    Path(f"/proc/{pid}/gid_map").write_text(f"{first} {gid} 1\n{second}")
    Path(f"/proc/{pid}/uid_map").write_text(f"{first} {uid} 1\n{second}")


def _is_root_with_nobody() -> bool:
    """Return whether this is root, on a system or in a container that knows the user nobody."""
    maps = (Path(f"/proc/self/{kind}_map").read_text() for kind in ("uid", "gid"))
    ranges = [[tuple(map(int, line.split())) for line in text.splitlines()] for text in maps]
    known = (any(start <= NOBODY < start + n for start, _, n in kind) for kind in ranges)
    return os.geteuid() == 0 and all(known)


def lock_down(memory: int, cpu: int) -> None:
    """Give up every privilege for good; `memory` in bytes, `cpu` in seconds for the whole life."""
    for capability in range(CAPABILITIES):
        _prctl(PR_CAPBSET_DROP, capability)
    if os.geteuid() != NOBODY:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    limit_resources(memory, cpu)
    # In its own namespace only this process counts; elsewhere its user's others would, too.
    resource.setrlimit(resource.RLIMIT_NPROC, (THREADS, THREADS))
    _prctl(PR_SET_DUMPABLE, 0)
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    _call("capset", header, bytes(24))
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # it ends when its parent does
    _filter_calls()


def limit_memory(more: int) -> None:
    """Limit this process's address space to so many bytes more than it has (Linux)."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + more
    soft = size if most == resource.RLIM_INFINITY else min(size, most)
    resource.setrlimit(resource.RLIMIT_AS, (soft, most))


def lift_memory_limit() -> None:
    """Undo `limit_memory`."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def limit_resources(memory: int, cpu: int) -> None:
    """Leave the grader's terminal and signals, and set the limits that `setrlimit` offers."""
    os.setsid()
    limits = {
        "RLIMIT_AS": memory,
        "RLIMIT_CPU": cpu,
        "RLIMIT_FSIZE": FILE_BYTES,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_SIGPENDING": 0,  # to wait in a queue: they count for the user, elsewhere, too
        "RLIMIT_MSGQUEUE": 0,
    }
    for name, value in limits.items():
        # Each system has its own subset, and refuses some values; Linux accepts them all.
        with contextlib.suppress(
            *(() if sys.platform == "linux" else (AttributeError, ValueError))
        ):
            resource.setrlimit(getattr(resource, name), (value, value))


def _mount_tmpfs(target: str, options: str) -> None:
    _call("mount", b"tmpfs", target.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options.encode())


def _show(path: str) -> None:
    """Make `path` readable, under its own name, in the new root."""
    target = Path(MOUNT_POINT + path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.isdir(path):
        target.mkdir(exist_ok=True)
    else:
        target.touch()
    _call("mount", os.fsencode(path), os.fsencode(target), None, MS_BIND | MS_REC, None)
    device = path.startswith("/dev/")
    flags = NO_SETUID | READ_ONLY | (0 if device else NO_DEVICES)
    _set_mount_flags(str(target), flags, recursive=True)


def _set_mount_flags(path: str, flags: int, *, recursive: bool) -> None:
    attributes = struct.pack("=QQQQ", flags, 0, 0, 0)
    at = -100  # relative to the working directory; the paths here are absolute
    how = AT_RECURSIVE if recursive else 0
    try:
        _call("syscall", SYS_MOUNT_SETATTR, at, os.fsencode(path), how, attributes, len(attributes))
    except IsolationError as error:
        raise IsolationError(f"mount_setattr, of Linux 5.12 and later: {error}") from error


def _filter_calls() -> None:
    code = filter_program(platform.machine())
    program = _Program(len(code) // 8, code)
    _prctl(PR_SET_SECCOMP, 2, ctypes.byref(program))


def filter_program(machine: str) -> bytes:
    """Return the classic BPF program that decides on each system call, for `x86_64` or another."""
    column, architecture = MACHINES[machine]
    allowed = (numbers[column] for numbers in ALLOWED.values())
    steps = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER_AT),
        *(step for number in allowed if number is not None for step in _on(number, ALLOW)),
        *(step for rule in RULES.values() for step in _by(rule, column)),
        (EQUAL, 0, 4, MMAP[column]),
        (LOAD, 0, 0, FOURTH_ARGUMENT_AT),
        (ANY_BIT, 0, 1, 0xFFFFFFFF ^ MMAP_ALLOWED),
        (RETURN, 0, 0, ERRNO | EPERM),
        (RETURN, 0, 0, ALLOW),
        # Two processes could wait for each other at one page of a library, so a wait on a shared
        # futex fails at once. Joining a thread is such a wait; it retries until the thread ends.
        (EQUAL, 0, 5, FUTEX[column]),
        (LOAD, 0, 0, SECOND_ARGUMENT_AT),
        (ANY_BIT, 1, 0, FUTEX_PRIVATE),
        (EQUAL, 0, 1, FUTEX_WAKE),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, ERRNO | EAGAIN),
        # To a library a newer call is missing, as on an older kernel, and it takes another. The
        # x32 names of the same calls are larger numbers, too.
        (AT_LEAST, 0, 1, NEWER),
        (RETURN, 0, 0, ERRNO | ENOSYS),
        (RETURN, 0, 0, ERRNO | EPERM),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _on(value: int, action: int) -> list[tuple[int, int, int, int]]:
    return [(EQUAL, 0, 1, value), (RETURN, 0, 0, action)]


def _by(rule: Rule, column: int) -> list[tuple[int, int, int, int]]:
    tests = [step for value in rule.values for step in _on(value, ALLOW)]
    body = [(LOAD, 0, 0, rule.argument), *tests, (RETURN, 0, 0, ERRNO | rule.otherwise)]
    return [(EQUAL, 0, len(body), rule.numbers[column]), *body]
