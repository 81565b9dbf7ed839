"""The state folder (``.amends/``): what lies in it, and what that says of the server that works on it.

* ``temporal.db``: every history. Private: what people said and what tools returned is in it.
* ``server.lock``, ``server.users``, ``server.alive``: locks, empty; ``embedded.py`` says what each means.
* ``server.json``: where the server is, for processes that come later. A note, believed only as far as the lock and
  the process list bear it out.
* ``operators.json``: the operator tokens' names, times and hashes; ``operators_file.py``. It has no part in the server.
* ``server.log``: what the server said since it started; ``server.log.1``: the one before.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from ..contract.model import Wire
from . import processes
from .dev_server import Running, failure
from .locks import FileLock
from .processes import Sighting

__all__ = ["StateFolder", "make_private_folder"]

_SERVER_WORD = "start-dev"
_SETTLE_SECONDS = 3.0
_BEAT_SECONDS = 0.02


class _Note(Wire):
    """The content of ``server.json``. ``stopping`` is set before the server is told to end."""

    pid: int
    started: str
    port: int
    ui_port: int | None = None
    binary: str = ""
    written: datetime
    stopping: bool = False

    @property
    def running(self) -> Running | None:
        """The server of this note, if the process with that pid still is that server."""
        seen = processes.look_at(self.pid)
        if seen is None or seen.started != self.started or _SERVER_WORD not in seen.command:
            return None
        return Running(seen=seen, port=self.port, ui_port=self.ui_port)


def make_private_folder(path: Path) -> None:
    """Makes a folder that its owner alone can read and that git ignores; leaves one that is there as it is."""
    if path.exists():
        return
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    (path / ".gitignore").write_text("*\n")


class StateFolder:
    """One state folder, made if missing, readable by its owner alone and ignored by git."""

    def __init__(self, path: Path) -> None:
        make_private_folder(path)
        self.path = path.resolve()
        ignore = self.path / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        self.database = self.path / "temporal.db"
        self.log = self.path / "server.log"
        self.turn = self.path / "server.lock"
        self.users = self.path / "server.users"
        self.alive = self.path / "server.alive"
        self._note = self.path / "server.json"

    def lives(self) -> bool:
        """Whether some server process holds ``server.alive``."""
        alive = FileLock(self.alive)
        try:
            return not alive.try_exclusive()
        finally:
            alive.release()

    async def standing(self) -> Running | None:
        """The server that lives on this folder's database, or None; a note of a dead one is removed.

        A server that is just starting or ending holds its lock and is not recognisable for a moment, so an unknown
        holder is looked at again before it is called a mistake.

        Raises:
            Unreachable: one lives, and neither the note nor the process list says which process it is.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _SETTLE_SECONDS
        while self.lives():
            found = self._recognised()
            if found is not None:
                return found
            if loop.time() > deadline:
                raise failure(
                    f"A Temporal server is using {self.database}, and {self._note} does not say which process it is.",
                    "End that process (its command line names the database), then try again.",
                )
            await asyncio.sleep(_BEAT_SECONDS)
        self.forget()
        return None

    def stopping(self) -> bool:
        """Whether somebody began to stop the server, and may have been killed over it."""
        note = self._read()
        return note is not None and note.stopping

    def remember(self, running: Running, *, stopping: bool = False) -> None:
        """Writes the note, all of it or nothing."""
        note = _Note(
            pid=running.seen.pid,
            started=running.seen.started,
            port=running.port,
            ui_port=running.ui_port,
            binary=running.seen.command[0],
            written=datetime.now(UTC),
            stopping=stopping,
        )
        fresh = self._note.with_suffix(".json.new")
        fresh.write_text(note.model_dump_json(indent=2) + "\n")
        fresh.replace(self._note)

    def forget(self) -> None:
        """Removes the note."""
        self._note.unlink(missing_ok=True)

    def turn_log(self) -> None:
        """Keeps the last server's log beside the new one's."""
        with suppress(FileNotFoundError):
            self.log.replace(self.log.with_suffix(".log.1"))

    def _recognised(self) -> Running | None:
        note = self._read()
        noted = note.running if note else None
        if noted is not None:
            return noted
        for seen in processes.find_running(str(self.database)):
            if _SERVER_WORD in seen.command:
                return _by_its_command(seen)
        return None

    def _read(self) -> _Note | None:
        with suppress(FileNotFoundError, ValidationError, UnicodeDecodeError):
            return _Note.model_validate_json(self._note.read_text())
        return None


def _by_its_command(seen: Sighting) -> Running:
    """What a server's own command line says of it."""
    said = dict(zip(seen.command, seen.command[1:], strict=False))
    ui_port = said.get("--ui-port")
    return Running(seen=seen, port=int(said["--port"]), ui_port=None if ui_port is None else int(ui_port))
