"""The embedded Temporal server: one for each state folder, shared by every process that uses the folder (SPEC 12.1).

Two servers on one database file would corrupt it, and a process that started the server may be killed while others
use it. So nothing depends on a process tidying up; three locks that the kernel gives back say what is the case:

* ``server.lock`` is held alone while a process starts, attaches to or stops the server: one at a time.
* ``server.users`` is held shared by every process that uses the server, for as long as it does. Who can take it alone
  is the last one, and stops the server.
* ``server.alive`` is held by the server process itself, through an open file that it inherits. While it is held, a
  server lives, whatever the notes say, and no second one is started.

``server.json`` says where to find the server. After ``kill -9`` of everybody, the server goes on; the next process
attaches to it and, when it is the last, stops it. If the notes are lost too, Linux's process list replaces them.
"""

import asyncio
import atexit
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Self

from google.protobuf.duration_pb2 import Duration
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.workflowservice.v1 import UpdateNamespaceRequest
from temporalio.service import ConnectConfig, RPCError, ServiceClient

from ..contract.errors import Unreachable
from ..contract.names import SEARCH_ATTRIBUTES
from . import dev_server, processes
from .dev_server import LOOPBACK, NAMESPACE, Launch, Running, failure
from .locks import FileLock, locks_supported
from .state_folder import StateFolder

__all__ = ["EmbeddedServer"]

_log = logging.getLogger(__name__)

_TURN_SECONDS = 60.0
_ANSWER_SECONDS = 20.0
_END_SECONDS = 3.0
_BEAT_SECONDS = 0.02
_KEPT = timedelta(days=90)
"""How long a finished run stays readable and undoable; the dev server's own default is one day."""


class EmbeddedServer:
    """A Temporal server of our own, so that a first script needs no installation but this package's.

    Use ``async with await EmbeddedServer.open(folder, ...) as server`` or call ``close()``. A process that does
    neither closes it while it exits; one that is killed leaves a folder's server running for the next process, while
    a server in memory ends with its process in every case.
    """

    def __init__(self, running: Running, folder: StateFolder | None, users: FileLock | None) -> None:
        self._running = running
        self._folder = folder
        self._users = users
        self._open = True
        self._opened_by = os.getpid()
        atexit.register(self._close_at_exit)

    @classmethod
    async def open(cls, state: Path | None, *, ui: bool = False, attributes: Iterable[str] = SEARCH_ATTRIBUTES) -> Self:
        """Starts the server of a state folder, or attaches to the one that already runs there.

        Args:
            state: the folder, made if missing; None keeps everything in memory, for this process alone.
            ui: serve Temporal's web UI too. A server that others use without one is not restarted for it.
            attributes: search attributes to register when it starts, all of type Keyword.

        Raises:
            Unreachable: the program is missing; or the server does not start, answer or end; or, on Windows, a
                folder was given (there are no locks there that would make sharing it safe).
        """
        if state is None:
            return await cls._open_in_memory(ui=ui, attributes=attributes)
        if not locks_supported():
            raise failure(
                "This system has no file locks of the kind that make a state folder safe to use.",
                "Use state=None (nothing is kept), or set TEMPORAL_ADDRESS to a server that you run yourself.",
            )
        folder = StateFolder(state)
        users = FileLock(folder.users)
        try:
            async with _turn(folder):
                alone = users.try_exclusive()
                users.try_shared()
                running = await _attach(folder, may_restart=ui and alone)
                if running is None:
                    running = await _start(folder, ui=ui, attributes=attributes)
        except BaseException:
            users.release()
            raise
        if ui and running.ui_port is None:
            _log.warning("The Temporal server of %s is in use without its UI; it is not restarted.", folder.path)
        return cls(running, folder, users)

    @classmethod
    async def _open_in_memory(cls, *, ui: bool, attributes: Iterable[str] = SEARCH_ATTRIBUTES) -> Self:
        with tempfile.TemporaryDirectory(prefix="amends-") as scratch:
            log = Path(scratch) / "server.log"
            running = await dev_server.launch(Launch(database=None, log=log, ui=ui, attributes=attributes))
        try:
            await _answers(running)
        except BaseException:
            await dev_server.stop(running.seen, graceful=False)
            raise
        return cls(running, folder=None, users=None)

    @property
    def address(self) -> str:
        """Where clients connect, as ``host:port``."""
        return f"{LOOPBACK}:{self._running.port}"

    @property
    def namespace(self) -> str:
        """The namespace to use."""
        return NAMESPACE

    @property
    def ui_url(self) -> str | None:
        """The address of Temporal's web UI, or None if this server has none."""
        port = self._running.ui_port
        return None if port is None else f"http://{LOOPBACK}:{port}"

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._running.seen.pid

    async def close(self) -> None:
        """Leaves the server, and stops it if nobody else uses it. A second call does nothing.

        Raises:
            Unreachable: the server does not end.
        """
        if not self._open:
            return
        self._open = False
        atexit.unregister(self._close_at_exit)
        if self._folder is None or self._users is None:
            await dev_server.stop(self._running.seen, graceful=False)
            return
        try:
            if not self._folder.database.exists():  # somebody removed the folder: there is nobody left to share with
                await dev_server.stop(self._running.seen)
                return
            async with _turn(self._folder):
                if self._users.try_exclusive():
                    await _stop(self._folder, self._running)
        finally:
            self._users.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _close_at_exit(self) -> None:
        if os.getpid() == self._opened_by:  # a forked child leaves its parent's server alone
            asyncio.run(self.close())


@asynccontextmanager
async def _turn(folder: StateFolder) -> AsyncIterator[None]:
    """Our turn to start, attach to or stop the folder's server."""
    lock = FileLock(folder.turn)
    try:
        if not await lock.wait_exclusive(_TURN_SECONDS):
            raise failure(
                f"Another process has been starting or stopping the server of {folder.path} for {_TURN_SECONDS:g} s.",
                f"See {folder.log}, and end that process if it hangs.",
            )
        yield
    finally:
        lock.release()


async def _attach(folder: StateFolder, *, may_restart: bool) -> Running | None:
    """The running server, once it answers; None if there is none (any more)."""
    running = await folder.standing()
    if running is None:
        return None
    if folder.stopping() or (may_restart and running.ui_port is None):
        await _stop(folder, running)
        return None
    try:
        await _answers(running)
    except Unreachable:
        if await folder.standing() is None:
            return None
        raise
    folder.remember(running)
    return running


async def _start(folder: StateFolder, *, ui: bool, attributes: Iterable[str]) -> Running:
    folder.turn_log()
    alive = FileLock(folder.alive)
    try:
        if not await alive.wait_exclusive(_END_SECONDS):
            raise failure(f"A Temporal server has just been started on {folder.database} by other means.")
        what = Launch(folder.database, folder.log, ui=ui, attributes=attributes, inherit=alive.descriptor)
        running = await dev_server.launch(what)
    finally:
        alive.hand_over()
    folder.remember(running)
    try:
        await _answers(running)
        await _keep_finished_runs(running)
    except BaseException:
        await _stop(folder, running)
        raise
    return running


async def _stop(folder: StateFolder, running: Running) -> None:
    """Stops this server, and removes the note if it is about this one (the folder may have been replaced)."""
    standing = await folder.standing()
    if standing is None or standing.seen.pid != running.seen.pid:
        await dev_server.stop(running.seen)
        return
    folder.remember(running, stopping=True)
    await dev_server.stop(running.seen)
    folder.forget()


async def _connect(running: Running) -> ServiceClient:
    return await ServiceClient.connect(ConnectConfig(target_host=f"{LOOPBACK}:{running.port}"))


async def _answers(running: Running) -> None:
    """Waits until the server answers calls, which is shortly after it listens."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _ANSWER_SECONDS
    while True:
        try:
            service = await _connect(running)
            if await service.check_health():
                return
            problem = "it says that it is not serving"
        except (RPCError, RuntimeError) as failed:  # the SDK's connection errors are plain RuntimeErrors
            problem = str(failed)
        if processes.look_at(running.seen.pid) is None:
            raise failure(f"The embedded Temporal server (pid {running.seen.pid}) has just ended.", "Try again.")
        if loop.time() > deadline:
            raise failure(
                f"The embedded Temporal server (pid {running.seen.pid}) listens on port {running.port} and has not "
                f"answered for {_ANSWER_SECONDS:g} s: {problem}"
            )
        await asyncio.sleep(_BEAT_SECONDS)


async def _keep_finished_runs(running: Running) -> None:
    """Sets how long finished runs are kept. What the server was told before is overwritten, so it is told each time."""
    kept = Duration()
    kept.FromTimedelta(_KEPT)
    request = UpdateNamespaceRequest(namespace=NAMESPACE, config=NamespaceConfig(workflow_execution_retention_ttl=kept))
    service = await _connect(running)
    await service.workflow_service.update_namespace(request)
