"""What the operating system says of a process: whether it lives, since when, what it runs, where it listens.

A pid alone names nobody: it may have been given to another process since it was written down. A pid together with
the process's start time and command line does, so only that is trusted before a signal is sent.

Linux answers from ``/proc``; other Unixes through ``ps``, which cannot say who listens on a port (None there).
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Sighting", "find_running", "listens", "look_at", "send"]

_PROC = Path("/proc")
_LISTENING = "0A"
_LOOPBACK = f"{int.from_bytes(bytes([127, 0, 0, 1]), sys.byteorder):08X}"  # as the kernel prints an address


@dataclass(frozen=True, slots=True)
class Sighting:
    """A living process. ``started`` is comparable for equality only; its unit differs between systems."""

    pid: int
    started: str
    command: tuple[str, ...]


def look_at(pid: int) -> Sighting | None:
    """The process with this pid, or None if there is none or it has ended and only waits to be reaped."""
    return _look_in_proc(pid) if _has_proc() else _look_with_ps(pid)


def find_running(argument: str) -> Iterator[Sighting]:
    """Every living process of this machine with this exact command-line argument (Linux; elsewhere nothing)."""
    if not _has_proc():
        return
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            seen = _look_in_proc(int(entry.name))
            if seen is not None and argument in seen.command:
                yield seen


def listens(pid: int, port: int) -> bool | None:
    """Whether this very process listens on the loopback port; None where the system does not tell."""
    if not _has_proc():
        return None
    inode = _listening_inode(port)
    if inode is None:
        return False
    wanted = f"socket:[{inode}]"
    try:
        return any(_target(link) == wanted for link in (_PROC / str(pid) / "fd").iterdir())
    except (FileNotFoundError, PermissionError):
        return False


def send(seen: Sighting, number: signal.Signals) -> bool:
    """Sends the signal to the process that was seen, and to no other that has its pid by now.

    Returns:
        False if that process is gone.
    """
    try:
        handle = os.pidfd_open(seen.pid) if hasattr(os, "pidfd_open") else None
    except ProcessLookupError:
        return False
    try:
        now = look_at(seen.pid)
        if now is None or now.started != seen.started:
            return False
        if handle is None:
            os.kill(seen.pid, number)
        else:
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        if handle is not None:
            os.close(handle)
    return True


def _has_proc() -> bool:
    return (_PROC / "self" / "stat").exists()


def _look_in_proc(pid: int) -> Sighting | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
        command = (_PROC / str(pid) / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *rest = stat[stat.rindex(")") + 2 :].split()  # the name before it may hold spaces and parentheses
    if state in "ZX":
        return None
    return Sighting(pid=pid, started=rest[18], command=tuple(os.fsdecode(part) for part in command.split(b"\0")[:-1]))


def _look_with_ps(pid: int) -> Sighting | None:
    shown = subprocess.run(  # noqa: S603 - fixed words and an int
        ["/bin/ps", "-o", "stat=,lstart=,command=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        env={"LC_ALL": "C", "PATH": "/bin:/usr/bin"},
    ).stdout.split()
    if not shown or shown[0].startswith("Z"):
        return None
    return Sighting(pid=pid, started=" ".join(shown[1:6]), command=tuple(shown[6:]))


def _listening_inode(port: int) -> str | None:
    for line in (_PROC / "net" / "tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1] == f"{_LOOPBACK}:{port:04X}" and fields[3] == _LISTENING:
            return fields[9]
    return None


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:
        return ""
