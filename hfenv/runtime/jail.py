"""Holds a process that scores or makes tasks: namespaces and limits of the system if there are any, else of Python.

It keeps mistakes and bad habits in: code that means to get out of its own process reads and writes what its user may.
Where the system gives a process namespaces of its own (most Linuxes), it has no network, can't see or signal any
process outside, and everything that it started ends with it. Elsewhere only calls of Python's own socket module are
refused. Files are not held back anywhere.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

_NEW_USER, _NEW_PID, _NEW_NET = 0x10000000, 0x20000000, 0x40000000
_DIES_WITH_PARENT, _ADOPTS = 1, 36  # PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER
_REFUSED = (
    "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname",
    "socket.gethostbyaddr", "socket.getnameinfo",
)  # fmt: skip
_LARGEST_FILE = 256 << 20  # bytes


def enclose(what: str = "a score") -> tuple[str, ...]:
    """Go on in a process without network, seen from outside only; returns names of what holds it.

    `what` is said to have no network where Python refuses a call. Must come before any thread. The process that was
    started waits outside and ends as the new one does.
    """
    held: tuple[str, ...] = ()
    if sys.platform == "linux":
        if _unshare():
            held = ("namespaces",)
            _as_child(lambda: _as_child(None))  # the first process of the namespace reaps, the second one works
        else:
            _as_child(None)
    _no_sockets(what)
    return (*held, "sockets")


def limit(memory_mb: int) -> tuple[str, ...]:
    """Set the limits of this process and its children; returns names of those that the system accepted."""
    import resource

    memory = memory_mb << 20
    # Address space is reserved far beyond what is used (threads, mapped files), data is not.
    wanted = {"CORE": 0, "FSIZE": _LARGEST_FILE, "DATA": memory, "AS": 4 * memory}
    accepted = []
    for name, value in wanted.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        with contextlib.suppress(ValueError, OSError):
            hard = resource.getrlimit(kind)[1]
            allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (allowed, allowed))
            accepted.append(name.lower())
    return tuple(accepted)


def limit_cpu(seconds: float) -> None:
    """Let this process use that many more seconds of processor time; then the system kills it."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 1, hard))


def _unshare() -> bool:
    """Namespaces for what this process starts. Root needs no other users, and would lose its files among them."""
    user, group = os.geteuid(), os.getegid()
    library = ctypes.CDLL(None)
    if user == 0 and library.unshare(_NEW_NET | _NEW_PID) == 0:
        return True
    if library.unshare(_NEW_USER | _NEW_NET | _NEW_PID) != 0:
        return False
    # The names of user and group stay what they were; without that they would read as nobody's.
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with contextlib.suppress(OSError):
            descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)
    return True


def _as_child(inside: Callable[[], object] | None) -> None:
    """Return in a child process; its parent waits for it, takes in what it leaves behind, and ends as it did."""
    library = ctypes.CDLL(None)
    library.prctl(_ADOPTS, ctypes.c_ulong(1))
    child = os.fork()
    if child == 0:
        library.prctl(_DIES_WITH_PARENT, ctypes.c_ulong(signal.SIGKILL))
        os.setpgid(0, 0)  # whoever kills its own group doesn't kill the one who cleans up
        if inside is not None:
            inside()
        return
    os.closerange(0, 1024)  # the pipes belong to the child alone, so that their end is seen
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        try:
            ended, status = os.wait()
        except ChildProcessError:
            os._exit(1)
        if ended == child:
            _kill_children()
            _end_as(status)


def _kill_children() -> None:
    """Kill what the child left: its children are ours now, and theirs will be."""
    while os.getpid() != 1:  # the end of a namespace's first process is the end of all in it
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as stream:  # noqa: PTH123
                if int(stream.read().rpartition(b")")[2].split()[1]) == os.getpid():
                    os.kill(int(name), signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def _end_as(status: int) -> NoReturn:
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if not number and os.WEXITSTATUS(status) > 128:
        number = os.WEXITSTATUS(status) - 128  # what the first process of a namespace can't do to itself
    if number and os.getpid() != 1:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        with contextlib.suppress(OSError):
            os.kill(os.getpid(), number)
    os._exit(128 + number if number else os.WEXITSTATUS(status))


def _no_sockets(what: str) -> None:
    refused = frozenset(_REFUSED)

    def watch(event: str, _arguments: Any) -> None:
        if event in refused:
            raise PermissionError(f"{what} has no network ({event})")

    sys.addaudithook(watch)
