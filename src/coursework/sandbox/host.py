"""The grader's side of the sandbox: a fork server, its sessions, and requests with limits."""

import contextlib
import functools
import json
import math
import platform
import secrets
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from coursework.sandbox import jail, wire
from coursework.sandbox.jail import IsolationError

SOURCE = Path(__file__).resolve().parents[2]
POLL_SECONDS = 0.05
LOOK_SECONDS = 1.0  # a look that took longer was halted with the machine, or by Ctrl-Z
CROWD = 10  # seconds by the clock that a second of computing may take on a busy machine
REPLY_BYTES = 2**14  # of an answer that holds no results
ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "MALLOC_ARENA_MAX": "1",  # else each thread reserves address space, of which there is a limit
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONPATH": str(SOURCE),
}


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Processor time decides; the wall clock only ends sleepers.

    So seconds by the clock are those in which it computes less than a `CROWD`-th of the time: by a
    watch on the wall, a submission may hold its place for ``life + CROWD * total`` seconds.
    """

    memory: int = 2 << 30  # bytes of address space
    cpu: float = 10.0  # seconds of processor time for a cell or a check
    wall: float = 90.0  # seconds by the clock for a cell or a check
    total: float = 60.0  # seconds of processor time for the whole submission
    life: float = 300.0  # seconds by the clock for the whole submission


@dataclass(frozen=True)
class Raised:
    """An exception of the submission's code, in its own words."""

    type: str
    message: str
    where: tuple[str, int] | None


@dataclass(frozen=True)
class Ending:
    """How a session ended."""

    status: int  # the exit status of its process, or minus the signal that ended it
    forced: bool  # it had to be ended
    cpu: float  # seconds of processor time
    clock: float  # seconds by the clock that count against its life


class SessionLostError(Exception):
    """No answer will come: the process took too long, broke the protocol, or is gone."""


class SessionEndedError(SessionLostError):
    """The process is gone."""

    def __init__(self) -> None:
        super().__init__("the process is gone")


class Session:
    """One process, in which one submission runs."""

    def __init__(self, channel: socket.socket, pid: int, limits: Limits) -> None:
        self._channel = channel
        self._limits = limits
        self.end = math.inf  # of its life, in `idle` seconds
        self._waited = 0.0
        self.hung_up = False
        self._clock = (~pid << 3) | 2  # the process's own CPU clock
        channel.setblocking(False)

    def request(self, do: str, *, most: int = REPLY_BYTES, **fields: Any) -> Any:
        """Ask, wait, and return the value or `Raised`; raise `SessionLostError` if none will come.

        An answer has at most `most` bytes, which bounds the cost of reading it.
        """
        nonce = secrets.token_hex(8)
        request = {"nonce": nonce, "do": do, "most": most, **fields}
        reply = self._exchange(wire.encode(request), most)
        known = reply.get("nonce") if isinstance(reply, dict) else None
        if not isinstance(known, str) or known != nonce:
            raise SessionLostError("it answered something that was not asked")
        if "error" in reply:
            return _read_error(reply["error"])
        return reply.get("value")

    def cpu_seconds(self) -> float:
        """Return the processor time that the process has used."""
        try:
            return time.clock_gettime(self._clock)
        except OSError:  # gone, or a system without such clocks, where the wall clock decides
            return 0.0

    def idle(self) -> float:
        """Return the seconds spent waiting for it, less what its computing explains."""
        return self._waited - CROWD * self.cpu_seconds()

    def _exchange(self, message: bytes, most: int) -> Any:
        deadline = self.idle() + self._limits.wall
        cpu = self.cpu_seconds() + self._limits.cpu
        self._send(message, deadline, cpu)
        head = self._receive(wire.PREFIX.size, deadline, cpu)
        tree, arrays = wire.PREFIX.unpack(head)
        if tree + arrays > most:
            raise SessionLostError("it answered more than it may")
        try:
            return wire.decode(head + self._receive(tree + arrays, deadline, cpu))
        except wire.WireError as error:
            raise SessionLostError("it answered something that is not plain data") from error

    def _send(self, message: bytes, deadline: float, cpu: float) -> None:
        view = memoryview(message)
        while view:
            self._await(select.POLLOUT, deadline, cpu)
            try:
                view = view[self._channel.send(view[: 2**20]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise self._ended() from error

    def _receive(self, size: int, deadline: float, cpu: float) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            self._await(select.POLLIN, deadline, cpu)
            try:
                part = self._channel.recv(min(size - len(parts), 2**20))
            except BlockingIOError:
                continue
            except OSError as error:
                raise self._ended() from error
            if not part:
                raise self._ended()
            parts += part
        return bytes(parts)

    def _ended(self) -> SessionEndedError:
        self.hung_up = True
        return SessionEndedError()

    def _await(self, event: int, deadline: float, cpu: float) -> None:
        """Wait for the channel, no longer than the limits allow."""
        poll = select.poll()
        poll.register(self._channel, event)
        ready = False
        while not ready:
            began = time.monotonic()
            ready = bool(poll.poll(1000 * POLL_SECONDS))
            self._waited += min(time.monotonic() - began, LOOK_SECONDS)
            idle = self.idle()  # also where something came: an answer may come in drops
            if idle > self.end:
                raise SessionLostError(
                    f"the submission took more than {self._limits.life:g} s by the clock"
                )
            if idle > deadline or self.cpu_seconds() > cpu:
                raise SessionLostError(
                    f"it did not finish within {self._limits.cpu:g} s of processor time "
                    f"or {self._limits.wall:g} s by the clock"
                )


class Sandbox:
    """A fork server and the sessions that it opens, one at a time.

    Where it is ``alone``, they have the standard library and NumPy, and no other package, neither
    in their memory nor in their file system; without isolation they are only kept from importing
    one.
    """

    def __init__(self, limits: Limits, *, isolate: bool = True, alone: bool = False) -> None:
        require_support(isolate)
        self.limits = limits
        self._isolate = isolate
        self._closed = False
        self._control, far = socket.socketpair()
        module = [sys.executable, "-s", "-P", "-m", "coursework.sandbox.worker"]
        arguments = [str(far.fileno()), *["isolate"] * isolate, *["alone"] * alone]
        self._server = subprocess.Popen(
            module + arguments,
            env=ENVIRONMENT,
            cwd="/",
            pass_fds=[far.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt from the keyboard is the grader's to handle
        )
        far.close()
        self._lines = self._control.makefile("rb")
        self.ending = Ending(0, False, 0.0, 0.0)
        self.visible = tuple(Path(path) for path in self._answer()["visible"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def session(self, life: float = math.inf) -> Iterator[Session]:
        """Start a new process for one submission, and end it when the block is left.

        Once the process is ready, the session waits for answers at most `life` seconds by the
        clock. Afterwards `ending` says how the process ended.
        """
        near, far = socket.socketpair()
        with near, far:
            socket.send_fds(self._control, [b"s"], [far.fileno()])
            answer = self._answer()
            far.close()
            if "refused" in answer:
                raise IsolationError(answer["refused"])
            session = Session(near, answer["pid"], self.limits)
            ready = math.inf
            try:
                self._begin(session)
                ready = session.idle()
                session.end = ready + life
                yield session
            finally:
                clock = max(0.0, session.idle() - ready)
                self._control.sendall(b"e" if session.hung_up else b"k")
                answer = self._answer()
                self.ending = Ending(answer["status"], answer["forced"], answer["seconds"], clock)

    def _begin(self, session: Session) -> None:
        """Have the new process give up its privileges."""
        cpu = int(self.limits.total) + 1
        try:
            answer = session.request("live", memory=self.limits.memory, cpu=cpu)
        except SessionLostError as error:
            raise IsolationError(f"the process of a submission did not start: {error}") from error
        if isinstance(answer, Raised):
            raise IsolationError(answer.message)

    @functools.cached_property
    def without_packages(self) -> "Sandbox":
        """Return a second sandbox, whose sessions see NumPy alone; it ends with this one."""
        opened = Sandbox(self.limits, isolate=self._isolate, alone=True)
        if self._closed:
            opened.close()
        return opened

    def close(self) -> None:
        """End the server and everything it has running."""
        self._closed = True
        if "without_packages" in vars(self):
            self.without_packages.close()
        with contextlib.suppress(OSError):  # it has hung up already
            self._control.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._control.close()
        self._server.wait()

    def _answer(self) -> dict[str, Any]:
        line = self._lines.readline()
        if not line:
            raise RuntimeError("the sandbox's server ended; its own message is above")
        answer: dict[str, Any] = json.loads(line)
        return answer


def require_support(isolate: bool) -> None:
    """Raise `IsolationError` if this machine cannot run a submission, as far as is known."""
    if sys.platform == "win32":
        raise IsolationError("submissions cannot be run on Windows; grade in WSL")
    if isolate and (reason := unsupported()):
        raise IsolationError(reason)


def unsupported() -> str | None:
    """Say why this machine cannot isolate a submission; None if it can as far as is known."""
    if sys.platform != "linux":
        return f"isolation needs Linux; this is {platform.system()}"
    if platform.machine() not in jail.MACHINES:
        known = " and ".join(jail.MACHINES)
        return f"isolation is written for {known}; this machine is {platform.machine()}"
    return None


def why_not_isolated() -> str | None:
    """Try to isolate, and say why this machine cannot; None if it just did."""
    try:
        with Sandbox(Limits()) as sandbox, sandbox.session():
            return None
    except (IsolationError, SessionLostError) as error:
        return str(error)


def signal_name(status: int) -> str:
    """Describe an exit status in words.

    >>> signal_name(-11), signal_name(-40), signal_name(3)
    ('signal SIGSEGV', 'signal 40', 'exit status 3')
    """
    if status >= 0:
        return f"exit status {status}"
    named = -status in set(signal.Signals)  # signals between SIGRTMIN and SIGRTMAX have no name
    return f"signal {signal.Signals(-status).name if named else -status}"


def _read_error(error: Any) -> Raised:
    """Read an error that the other side reports; believe only strings and a place."""
    fields = error if isinstance(error, dict) else {}
    where: tuple[str, int] | None = None
    match fields.get("where"):
        case [str(name), int(line)]:
            where = (name[:50], line)
    kind, message = (fields.get(key) for key in ("type", "message"))
    return Raised(
        kind[:100] if isinstance(kind, str) else "an error without a name",
        message[:500] if isinstance(message, str) else "",
        where,
    )
