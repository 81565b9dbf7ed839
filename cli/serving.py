"""Serving agents until told to stop: what ``amends worker`` and ``amends dev`` have in common (SPEC 13.5).

The first SIGTERM or SIGINT lets calls in flight end, for as long as the settings say; nothing new is taken. The second
cuts them off: such a call becomes one that nobody knows the outcome of, and is asked about.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig
from temporalio.worker import Worker

from ..client.connect import Connection, ConnectionSettings, connect
from ..rulebook.lints import lint
from ..tools.loader import LoadedAgent, load_file
from ..tools.verifiable import verifiable
from ..worker.serving import workers_for
from ..worker.settings import BadSetting, WorkerSettings
from .exits import Exit
from .terminal import note

__all__ = ["Beside", "Serving", "load_agents", "serve"]

_SIGNALS = (signal.SIGTERM, signal.SIGINT)

Beside = Callable[[Connection], AbstractAsyncContextManager[object]]
"""What else runs in the process while workers do."""

Serving = Callable[[Connection, Sequence[Worker]], None]
"""Told once every worker polls."""


def load_agents(path: Path, name: str | None, context: dict[str, object]) -> list[LoadedAgent]:
    """Load the agents of a file, all or the one of that name, and say what registration has to say of their writes.

    Raises:
        FileMistakes: everything that is wrong with the file.
        NotFound: it has no agent of that name.
    """
    file = load_file(path)
    names = [file.named(name)] if name else list(file.written.agents)
    system = verifiable(file, host_facts=None)
    for finding in lint(system.agents, system.tools, rulebook=system.rulebook):
        note(f"{finding.tool}: {finding.code}: {finding.message}")
    return [file.agent(each, context=context) for each in names]


def serve(
    agents: Sequence[LoadedAgent],
    settings: WorkerSettings,
    where: ConnectionSettings,
    *,
    ready: Serving,
    beside: Beside | None = None,
) -> Exit:
    """Serve agents until a signal comes; return once everything in flight has ended, or was cut off.

    Raises:
        Unreachable: the server does not answer, or the embedded one cannot start.
        BadSetting: the address for metrics cannot be used.
        AmendsError: agents that share a queue have different tools of one name.
    """
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # Not `asyncio.run`: it would wait for what the second signal cuts off. The process ends right after this.
    return asyncio.new_event_loop().run_until_complete(_serve(agents, settings, where, ready, beside))


async def _serve(
    agents: Sequence[LoadedAgent],
    settings: WorkerSettings,
    where: ConnectionSettings,
    ready: Serving,
    beside: Beside | None,
) -> Exit:
    connection = await connect(where, runtime=_runtime(settings))
    try:
        if connection.embedded is not None:
            settings = settings.keeping_results(where.state_folder(os.environ))
        async with AsyncExitStack() as stack:
            told, cut = _signals(stack)
            workers = workers_for(connection.client, agents, settings)
            running: list[asyncio.Future[None]] = [asyncio.ensure_future(worker.run()) for worker in workers]
            if beside is not None:
                await stack.enter_async_context(beside(connection))
            ready(connection, workers)
            await asyncio.wait([*running, told], return_when=asyncio.FIRST_COMPLETED)
            for ended in (each for each in running if each.done()):
                ended.result()  # a worker that ends by itself has failed, and says why here
            note(f"Stopping: calls in flight have {settings.drain.total_seconds():g} s. Once more to cut them off.")
            draining = asyncio.ensure_future(_drained(workers))
            await asyncio.wait([draining, cut], return_when=asyncio.FIRST_COMPLETED)
            if not draining.done():
                note("Cut off. Calls that were in flight will be asked about.")
                return Exit.DETACHED
            return Exit.DONE
    finally:
        await connection.close()


async def _drained(workers: Sequence[Worker]) -> None:
    await asyncio.gather(*(worker.shutdown() for worker in workers))


def _signals(stack: AsyncExitStack) -> tuple[asyncio.Future[None], asyncio.Future[None]]:
    """The first signal and the second, as futures; the handlers last as long as ``stack``."""
    loop = asyncio.get_running_loop()
    told, cut = loop.create_future(), loop.create_future()

    def handle() -> None:
        first_open = next((each for each in (told, cut) if not each.done()), None)
        if first_open is not None:
            first_open.set_result(None)

    for number in _SIGNALS:
        loop.add_signal_handler(number, handle)
        stack.callback(loop.remove_signal_handler, number)
    return told, cut


def _runtime(settings: WorkerSettings) -> Runtime | None:
    if settings.metrics is None:
        return None
    try:
        return Runtime(telemetry=TelemetryConfig(metrics=PrometheusConfig(bind_address=settings.metrics)))
    except (RuntimeError, ValueError) as error:
        raise BadSetting(
            settings.sources["metrics"], settings.metrics, f"it cannot be served there: {error}"
        ) from error
