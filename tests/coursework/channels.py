"""What one process could tell another through the kernel that both run on.

A probe is a `send(bit)` and a `receive()`: it carries data where what is received depends on the
bit. The tests run this file's text as a cell of two submissions, and call `tell` in one of them
and `hear` in the other. A call that the sandbox refuses carries nothing, and `test_calls.py` tries
each of them: of those, only the ones are here that carry data where no sandbox is.
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
from typing import Any

LIBRARY = os.path.join(sysconfig.get_path("stdlib"), "this.py")  # few programs have it open
QUEUED = 40  # a signal of which many can wait
X86 = os.uname().machine == "x86_64"
LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {"futex": (202, 98), "tgkill": (234, 131)}  # of a call on x86-64, on arm64
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


def mapped() -> tuple[int, int]:
    """Where the library's first word is in memory, shared with whoever maps it, and the word."""
    if "mapped" not in state:
        LIBC.mmap.restype = ctypes.c_void_p
        numbers = [ctypes.c_int] * 3 + [ctypes.c_long]
        LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *numbers]
        flags = (mmap.PROT_READ, mmap.MAP_SHARED)
        state["mapped"] = LIBC.mmap(None, mmap.PAGESIZE, *flags, opened(), 0)
    address = int(state["mapped"])
    return address, ctypes.c_uint32.from_address(address).value


@probe
def record_lock() -> Probe:
    def region(kind: int) -> bytes:
        return struct.pack("hhqqi4x", kind, 0, 5, 1, 0)

    def send(bit: int) -> None:
        fcntl.fcntl(opened(), fcntl.F_SETLK, region(fcntl.F_RDLCK if bit else fcntl.F_UNLCK))

    def receive() -> int:
        answer = fcntl.fcntl(opened(), fcntl.F_GETLK, region(fcntl.F_WRLCK))
        return int(struct.unpack("hhqqi4x", answer)[0])

    return send, receive


@probe
def file_lock() -> Probe:
    def receive() -> None:
        fcntl.flock(opened(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(opened(), fcntl.LOCK_UN)

    return lambda bit: fcntl.flock(opened(), fcntl.LOCK_EX if bit else fcntl.LOCK_UN), receive


@probe
def waiters() -> Probe:
    def wait() -> None:
        address, word = mapped()
        answered(lambda: call("futex", address, 0, word, struct.pack("qq", 20, 0)))

    return lambda bit: in_threads(wait, bit), lambda: call("futex", mapped()[0], 1, 99)


def in_threads(work: Callable[[], None], count: int) -> None:
    for _ in range(count):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.1)


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
