"""What one process could tell another through the kernel that both run on.

A probe is a `send(bit)` and a `receive()`: it carries data where what is received depends on the
bit. The tests run this file's text as a cell of two submissions, and call `tell` in one of them
and `hear` in the other.
"""

import ctypes
import fcntl
import mmap
import os
import signal
import socket
import struct
import sysconfig
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

LIBRARY = os.path.join(sysconfig.get_path("stdlib"), "this.py")  # few programs have it open
UNREAD = os.path.join(sysconfig.get_path("stdlib"), "antigravity.py")
KEY = 0x6A61696C
QUEUED = 40  # a signal of which many can wait
X86 = os.uname().machine == "x86_64"
LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {  # of a system call on x86-64, on arm64
    "shmget": (29, 194),
    "mincore": (27, 232),
    "fadvise": (221, 223),
    "madvise": (28, 233),
    "preadv2": (327, 286),
    "cachestat": (451, 451),
    "openat2": (437, 437),
    "sysinfo": (99, 179),
    "futex": (202, 98),
    "futex_waitv": (449, 449),
    "futex_wait": (455, 455),
    "futex_wake": (454, 454),
    "ioprio_set": (251, 30),
    "ioprio_get": (252, 31),
    "move_pages": (279, 239),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "mq_open": (240, 180),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "tgkill": (234, 131),
}
Probe = tuple[Callable[[int], object], Callable[[], Any]]
PROBES: dict[str, Probe] = {}
kept: list[Any] = []
state: dict[Any, Any] = {}


def probe(make: Callable[[], Probe]) -> None:
    PROBES[make.__name__] = make()


def call(name: str, *arguments: Any) -> int:
    longs = (ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)
    result = int(LIBC.syscall(NUMBERS[name][not X86], *longs))
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def tell(name: str, bit: int) -> None:
    answered(lambda: PROBES[name][0](bit))


def hear(name: str) -> str:
    return answered(PROBES[name][1])


def answered(act: Callable[[], Any]) -> str:
    try:
        return str(act())
    except OSError as error:
        return f"error {error.errno}"


def opened(path: str = LIBRARY) -> int:
    """A descriptor that stays open, one for each path."""
    if path not in state:
        state[path] = os.open(path, os.O_RDONLY)
    return int(state[path])


def pages(path: str) -> int:
    """The address of a file's first page in memory, shared with whoever maps it."""
    if ("map", path) not in state:
        LIBC.mmap.restype = ctypes.c_void_p
        numbers = [ctypes.c_int] * 3 + [ctypes.c_long]
        LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *numbers]
        flags = (mmap.PROT_READ, mmap.MAP_SHARED)
        state["map", path] = LIBC.mmap(None, mmap.PAGESIZE, *flags, opened(path), 0)
    return int(state["map", path])


def mapped() -> tuple[int, int]:
    """Where the library's first word is in memory, and the word."""
    address = pages(LIBRARY)
    return address, ctypes.c_uint32.from_address(address).value


def region(kind: int, at: int) -> bytes:
    return struct.pack("hhqqi4x", kind, 0, at, 1, 0)


def lock_with(setting: int, getting: int) -> Probe:
    def send(bit: int) -> None:
        fcntl.fcntl(opened(), setting, region(fcntl.F_RDLCK if bit else fcntl.F_UNLCK, getting))

    def receive() -> int:
        answer = fcntl.fcntl(opened(), getting, region(fcntl.F_WRLCK, getting))
        return int(struct.unpack("hhqqi4x", answer)[0])

    return send, receive


@probe
def record_lock() -> Probe:
    return lock_with(6, 5)


@probe
def open_file_lock() -> Probe:
    return lock_with(37, 36)


@probe
def file_lock() -> Probe:
    def receive() -> None:
        fcntl.flock(opened(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(opened(), fcntl.LOCK_UN)

    return lambda bit: fcntl.flock(opened(), fcntl.LOCK_EX if bit else fcntl.LOCK_UN), receive


@probe
def lifetime_hint() -> Probe:
    def send(bit: int) -> None:
        fcntl.fcntl(opened(), 1036, struct.pack("Q", 2 + bit))

    return send, lambda: fcntl.fcntl(opened(), 1035, bytes(8))


@probe
def waiters() -> Probe:
    def wait() -> None:
        address, word = mapped()
        answered(lambda: call("futex", address, 0, word, struct.pack("qq", 20, 0)))

    return lambda bit: in_threads(wait, bit), lambda: call("futex", mapped()[0], 1, 99)


@probe
def waiters_of_newer_calls() -> Probe:
    def wait() -> None:
        address, word = mapped()
        every = 2**32 - 1
        end = struct.pack("qq", int(time.monotonic()) + 20, 0)
        answered(lambda: call("futex_wait", address, word, every, 2, end, 1))

    return lambda bit: in_threads(wait, bit), lambda: call(
        "futex_wake", mapped()[0], 2**32 - 1, 99, 2
    )


@probe
def waiters_for_many() -> Probe:
    def wait() -> None:
        address, word = mapped()
        end = struct.pack("qq", int(time.monotonic()) + 20, 0)
        many = struct.pack("QQII", word, address, 2, 0)
        answered(lambda: call("futex_waitv", many, 1, 0, end, 1))

    return lambda bit: in_threads(wait, bit), lambda: call("futex", mapped()[0], 1, 99)


def in_threads(work: Callable[[], None], count: int) -> None:
    for _ in range(count):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.1)


@probe
def number_of_processes() -> Probe:
    def receive() -> int:
        info = ctypes.create_string_buffer(256)
        call("sysinfo", info)
        return int(struct.unpack_from("H", info, 80)[0])

    return lambda bit: in_threads(lambda: time.sleep(5), 20 * bit), receive


@probe
def numbers_of_pipes() -> Probe:
    def receive() -> int:
        ends = os.pipe()
        number = os.fstat(ends[0]).st_ino
        os.close(ends[0])
        os.close(ends[1])
        return number

    return lambda bit: [receive() for _ in range(5000 * bit)], receive


@probe
def pages_of_pipes() -> Probe:
    def send(bit: int) -> None:
        for _ in range(20 * bit):
            kept.append(os.pipe())
            fcntl.fcntl(kept[-1][0], 1031, 2**20)

    def receive() -> list[int]:
        ends = [os.pipe() for _ in range(10)]
        sizes = [fcntl.fcntl(end, 1031, 2**20) for end, _ in ends]
        for end in sum(ends, ()):
            os.close(end)
        return sizes

    return send, receive


@probe
def cached_names() -> Probe:
    """A name that was looked up is known, if only as one that does not exist."""

    def receive() -> None:
        where = f"{LIBRARY}.none".encode()
        how = struct.pack("QQQ", 0, 0, 0x20)  # nothing but what is cached
        call("openat2", -100, where, how, len(how))

    return lambda bit: bit and os.path.exists(f"{LIBRARY}.none"), receive


def forget_pages(bit: int) -> None:
    """Drop a file's pages from memory, or read them in."""
    if bit:
        os.pread(opened(UNREAD), 4096, 0)
    else:
        answered(lambda: call("fadvise", opened(UNREAD), 0, 0, 4))
        for advice in (20, 21):  # cold, to be paged out
            answered(partial(call, "madvise", pages(UNREAD), mmap.PAGESIZE, advice))


@probe
def pages_read_at_once() -> Probe:
    def receive() -> int:
        buffer = ctypes.create_string_buffer(16)
        vector = struct.pack("QQ", ctypes.addressof(buffer), 16)
        return call("preadv2", opened(UNREAD), vector, 1, 0, 0, 8)

    return forget_pages, receive


@probe
def pages_in_memory() -> Probe:
    def receive() -> bytes:
        found = ctypes.create_string_buffer(1)
        call("mincore", pages(UNREAD), mmap.PAGESIZE, found)
        return found.raw

    return forget_pages, receive


@probe
def pages_in_the_cache() -> Probe:
    def receive() -> bytes:
        found = ctypes.create_string_buffer(40)
        call("cachestat", opened(UNREAD), struct.pack("QQ", 0, 0), found, 0)
        return found.raw

    return forget_pages, receive


@probe
def nodes_of_pages() -> Probe:
    def receive() -> int:
        page, status = struct.pack("Q", pages(UNREAD)), ctypes.create_string_buffer(4)
        return call("move_pages", 0, 1, page, 0, status, 0)

    return forget_pages, receive


@probe
def times_of_files() -> Probe:
    paths = (LIBRARY, os.path.dirname(LIBRARY), "/dev/null", "/dev/urandom")

    def send(bit: int) -> None:
        if bit:
            os.listdir(paths[1])
            for path in (LIBRARY, "/dev/urandom"):
                os.read(opened(path), 16)
            os.write(1, b" ")

    return send, lambda: [os.stat(path)[7:] for path in paths]


@probe
def notices() -> Probe:
    def receive() -> int:
        if "notices" not in state:
            state["notices"] = call("inotify_init1", os.O_NONBLOCK)
            call("inotify_add_watch", state["notices"], LIBRARY.encode(), 0xFFF)
            return 0
        return len(os.read(state["notices"], 999))

    def send(bit: int) -> None:
        if bit:
            os.close(os.open(LIBRARY, os.O_RDONLY))

    return send, receive


@probe
def niceness() -> Probe:
    """The least of a user's is told; each process here changes its own alone."""

    def receive() -> list[int]:
        os.setpriority(os.PRIO_PROCESS, 0, 19)
        call("ioprio_set", 1, 0, (2 << 13) + 7)
        return [os.getpriority(os.PRIO_USER, 0), call("ioprio_get", 3, os.getuid())]

    return lambda bit: os.setpriority(os.PRIO_PROCESS, 0, 5 * bit), receive


@probe
def numbers_of_processes() -> Probe:
    def receive() -> list[str]:
        return [answered(partial(os.kill, pid, 0)) for pid in range(2, 200)]

    return lambda bit: in_threads(lambda: time.sleep(5), 5 * bit), receive


@probe
def queued_signals() -> Probe:
    """Those that wait to be handled count for the user, beyond which the kernel takes no more."""

    def queue(most: int) -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, [QUEUED])
        for count in range(most):
            try:
                call("tgkill", os.getpid(), threading.get_native_id(), QUEUED)
            except OSError:
                return count
        return most

    def receive() -> int:
        count = queue(1000)
        signal.signal(QUEUED, signal.SIG_IGN)  # forget them
        return count

    return lambda bit: queue(1000 * bit), receive


@probe
def shared_memory() -> Probe:
    return lambda bit: bit and call("shmget", KEY, 4096, 0o1666), lambda: call("shmget", KEY, 0, 0)


@probe
def message_queue() -> Probe:
    def send(bit: int) -> None:
        if bit:
            call("mq_open", b"jail", os.O_CREAT | os.O_RDWR, 0o666, 0)

    return send, lambda: call("mq_open", b"jail", 0, 0, 0) > 0


@probe
def key() -> Probe:
    def send(bit: int) -> None:
        for ring in (-4, -5):  # of the user, and of the user's sessions
            answered(partial(call, "add_key", b"user", b"jail", b"1", bit, ring))

    return send, lambda: call("request_key", b"user", b"jail", None, 0) > 0


@probe
def abstract_socket() -> Probe:
    def send(bit: int) -> None:
        if bit:
            kept.append(socket.socket(socket.AF_UNIX))
            kept[-1].bind("\0jail")
            kept[-1].listen()

    return send, lambda: socket.socket(socket.AF_UNIX).connect("\0jail")


@probe
def scratch() -> Probe:
    def send(bit: int) -> None:
        if bit:
            open("/tmp/coursework-jail", "wb").close()

    def receive() -> Any:
        there = os.path.exists("/tmp/coursework-jail")
        usage = os.statvfs("/tmp") if there else ()
        return there, usage

    return send, receive


@probe
def environment() -> Probe:
    paths = ("/proc", "/sys", "/dev/shm", "/dev/mqueue", "/run", "/var/tmp", "/home", "/dev/tty")
    return lambda bit: None, lambda: [path for path in paths if os.path.exists(path)]
