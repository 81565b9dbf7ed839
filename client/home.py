"""What an agent of this process stands on: the loaded agent file, a connection, perhaps a worker (SPEC 12.1).

It is opened by the first call that needs it and closed once. The order of closing matters: the worker drains while the
server still answers, then the connection is given up, which may stop the embedded server.
"""

import asyncio
import os
from collections import deque
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

from ..contract.names import default_task_queue
from ..tools.loader import LoadedAgent, load_agent
from ..worker.settings import WorkerSettings
from .connect import Connection, ConnectionSettings, connect
from .hearing import let_sessions_hear
from .operators import Operators, operators_path
from .place import Place

__all__ = ["Home"]

LATEST = 50
"""Ends that are still news when a process ends. What came before them was heard long ago."""


class Home:
    """The resources behind one `AsyncAgent`.

    Args:
        agent: the loaded agent.
        settings: which server to use.
        task_queue: the queue of the agent's workers; by default ``AMENDS_TASK_QUEUE``, then one named after the agent.
        worker: whether to run a worker here; None for "with the embedded server only". It runs as the environment's
            ``AMENDS_`` variables say; metrics and worker versions are for workers of their own.

    Raises:
        BadSetting: an ``AMENDS_`` variable of the worker's settings says what cannot be.
    """

    def __init__(
        self,
        agent: LoadedAgent,
        settings: ConnectionSettings,
        *,
        task_queue: str | None = None,
        worker: bool | None = None,
    ) -> None:
        self.agent = agent
        self._settings = settings
        resolved = WorkerSettings.resolve({"task_queue": task_queue}, os.environ)
        self._worker_settings = resolved.model_copy(update={"deployment": None, "build_id": None, "metrics": None})
        self._task_queue = resolved.task_queue or default_task_queue(agent.name)
        self._worker = worker
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._place: Place | None = None
        self._ended: deque[str] = deque(maxlen=LATEST)

    def note_end(self, run: str) -> None:
        """Note that a run, or an unwind, was seen to be over: its session hears of that before the worker here ends."""
        self._ended.append(run)

    @classmethod
    def of_file(
        cls,
        path: str | Path,
        *,
        agent: str | None = None,
        context: Mapping[str, object] | None = None,
        state: str | Path | None = None,
        task_queue: str | None = None,
        worker: bool | None = None,
    ) -> Self:
        """Load the agent file now, so that its mistakes are told now; connect later.

        Raises:
            FileMistakes: everything that is wrong with the file.
            BadSetting: as the class.
        """
        loaded = load_agent(path, agent=agent, context=context)
        folder: Path | str | None = Path(state) if state is not None and str(state) != ":memory:" else state
        settings = ConnectionSettings(state=folder, beside=Path(path).resolve().parent)
        return cls(loaded, settings, task_queue=task_queue, worker=worker)

    @classmethod
    def on(
        cls,
        agent: LoadedAgent,
        connection: Connection,
        *,
        task_queue: str | None = None,
        settings: ConnectionSettings | None = None,
    ) -> Self:
        """Stand on a connection that somebody else opened, and closes; run no worker.

        ``settings`` are what it was opened with: they also say where the operator tokens are.

        Raises:
            BadSetting: as the class.
        """
        home = cls(agent, settings or ConnectionSettings(), task_queue=task_queue, worker=False)
        home._place = home._place_of(connection)
        return home

    @property
    def operators(self) -> Operators:
        """The operator tokens that count here: those of ``AMENDS_OPERATORS``, else of the state folder."""
        return Operators(operators_path(self._settings))

    async def open(self) -> Place:
        """Connect, and start what this process is to run; the same place every time.

        Raises:
            Unreachable: the server does not answer, or the embedded one cannot start.
        """
        if self._place is None:
            async with self._opening:
                if self._place is None:
                    self._place = await self._settle_in()
        return self._place

    async def close(self) -> None:
        """Close what was opened. A second call does nothing."""
        async with self._opening:
            self._place = None
            await self._stack.aclose()

    async def _settle_in(self) -> Place:
        async with AsyncExitStack() as stack:
            connection = await connect(self._settings)
            stack.push_async_callback(connection.close)
            if connection.embedded is not None:
                folder = self._settings.state_folder(os.environ)
                self._worker_settings = self._worker_settings.keeping_results(folder)
            place = self._place_of(connection)
            wanted = connection.embedded is not None if self._worker is None else self._worker
            if wanted:
                # Only a process that runs a worker pays for loading one.
                from ..worker.serving import serving  # noqa: PLC0415

                worker = serving(
                    connection.client, [self.agent], task_queue=self._task_queue, settings=self._worker_settings
                )
                await stack.enter_async_context(worker)
                stack.push_async_callback(let_sessions_hear, connection.client, self._ended)
            self._stack = stack.pop_all()
            return place

    def _place_of(self, connection: Connection) -> Place:
        return Place(
            client=connection.client,
            address=connection.client.service_client.config.target_host,
            task_queue=self._task_queue,
            attributes=connection.search_attributes,
            ui_url=connection.embedded.ui_url if connection.embedded else None,
            results=self._worker_settings.results,
        )
