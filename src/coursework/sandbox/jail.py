"""The Linux calls that shut a process in: namespaces, a root of its own, limits, a syscall filter.

`isolate` is called by a process that has just been forked, `lock_down` by its child, which then is
process 1 of its own process namespace. What they promise is written in `coursework.sandbox`.
"""

import contextlib
import ctypes
import errno
import os
import platform
import signal
import struct
import sys
import sysconfig
from collections.abc import Collection, Sequence
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
SIGNALS = 256

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x00020000, 0x02000000, 0x04000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID = 0x08000000, 0x10000000, 0x20000000
CLONE_NEWNET, CLONE_THREAD = 0x40000000, 0x00010000
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
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
CAPABILITY_VERSION = 0x20080522

# Calls that answer "not permitted": (number on x86-64, number on arm64), None where there is none.
DENIED = {
    # no second process, no other program
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    # no new namespaces, in which the process would be privileged, and no mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    # no hold on another process
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    # no sockets: some families, such as vsock, know no network namespace. The channel is only read
    # and written; its options give a hold on the process at its other end
    "socket": (41, 198),
    "socketpair": (53, 199),
    "getsockopt": (55, 209),
    "setsockopt": (54, 208),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "getsockname": (51, 204),
    "getpeername": (52, 205),
    "shutdown": (48, 210),
    "sendto": (44, 206),
    "recvfrom": (45, 207),
    "recvmsg": (47, 212),
    "recvmmsg": (299, 243),
    # no descriptors through the channel: they count as the grader's own, and wait until it reads
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    # no memory that the limit on the address space does not count
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    # nothing that the machine, or the grader's user, has few of
    "io_setup": (206, 0),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    # nothing that one submission could write and another read: locks on a library's file, what
    # the kernel has cached of it, pipes, whose numbers and memory are counted for all, futexes of
    # the newer calls, and the machine's numbers of processes and free memory
    "flock": (73, 32),
    "mincore": (27, 232),
    "cachestat": (451, 451),
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "preadv2": (327, 286),
    "openat2": (437, 437),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "futex_waitv": (449, 449),
    "futex_wake": (454, 454),
    "futex_wait": (455, 455),
    "futex_requeue": (456, 456),
    "sysinfo": (99, 179),
    # no parts of the kernel that grading doesn't need
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "personality": (135, 92),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "syslog": (103, 116),
}
NEWEST = 462  # the last call that was looked at, mseal of Linux 6.10
CLONE, CLONE3, PRCTL, FCNTL = (56, 220), (435, 435), (157, 167), (72, 25)
IOCTL, FUTEX, MADVISE = (16, 29), (202, 98), (28, 233)
# Of fcntl: duplicate, and the flags of a descriptor. Others lock, lease, watch or mark a file.
FCNTL_ALLOWED = (0, 1, 2, 3, 4, 1030)
# Of ioctl: is it a terminal and of what size, bytes to read, and the flags of a descriptor.
IOCTL_ALLOWED = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
FUTEX_WAKE, FUTEX_PRIVATE = 1, 128
MADVISE_DENIED = (20, 21)  # cold, and to be paged out: pages that others have in memory, too
PRCTL_DENIED = (PR_SET_PDEATHSIG, PR_SET_DUMPABLE)
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, audit architecture

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
EPERM, EAGAIN, ENOTTY, ENOSYS = 1, 11, 25, 38
NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT = 0, 4, 16
SECOND_ARGUMENT_AT, THIRD_ARGUMENT_AT = 24, 32


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


def _call(name: str, *arguments: object) -> int:
    """Call the C library, with numbers as longs; raise `IsolationError` if the kernel says no."""
    libc = ctypes.CDLL(None, use_errno=True)
    longs = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    result: int = getattr(libc, name)(*longs)
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
        "RLIMIT_SIGPENDING": SIGNALS,  # and timers
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
    denied = (numbers[column] for numbers in DENIED.values())
    steps = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER_AT),
        (AT_LEAST, 0, 1, NEWEST + 1),  # newer ones, and the x32 names of the same calls
        (RETURN, 0, 0, ERRNO | ENOSYS),
        *_on(CLONE3[column], ERRNO | ENOSYS),  # its flags lie in memory; the library uses clone
    ]
    for number in denied:
        if number is not None:
            steps += _on(number, ERRNO | EPERM)
    steps += [
        (EQUAL, 0, 4, CLONE[column]),
        (LOAD, 0, 0, FIRST_ARGUMENT_AT),
        (ANY_BIT, 0, 1, CLONE_THREAD),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, ERRNO | EPERM),
        *_by(SECOND_ARGUMENT_AT, FCNTL[column], FCNTL_ALLOWED, ALLOW, ERRNO | EPERM),
        *_by(SECOND_ARGUMENT_AT, IOCTL[column], IOCTL_ALLOWED, ALLOW, ERRNO | ENOTTY),
        *_by(THIRD_ARGUMENT_AT, MADVISE[column], MADVISE_DENIED, ERRNO | EPERM, ALLOW),
        *_by(FIRST_ARGUMENT_AT, PRCTL[column], PRCTL_DENIED, ERRNO | EPERM, ALLOW),
        # Two processes could wait for each other at one page of a library, so a wait on a shared
        # futex fails at once. Joining a thread is such a wait; it retries until the thread ends.
        (EQUAL, 0, 5, FUTEX[column]),
        (LOAD, 0, 0, SECOND_ARGUMENT_AT),
        (ANY_BIT, 1, 0, FUTEX_PRIVATE),
        (EQUAL, 0, 1, FUTEX_WAKE),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, ERRNO | EAGAIN),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _on(value: int, action: int) -> list[tuple[int, int, int, int]]:
    return [(EQUAL, 0, 1, value), (RETURN, 0, 0, action)]


def _by(
    argument: int, number: int, values: Sequence[int], action: int, otherwise: int
) -> list[tuple[int, int, int, int]]:
    """Decide on a call by one of its arguments: `action` at these values, else `otherwise`."""
    tests = [step for value in values for step in _on(value, action)]
    body = [(LOAD, 0, 0, argument), *tests, (RETURN, 0, 0, otherwise)]
    return [(EQUAL, 0, len(body), number), *body]
