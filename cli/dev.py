"""``amends dev``: server, its UI and a worker in one process, for working on an agent."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import click
from temporalio.worker import Worker

from ..client.agent import AsyncAgent
from ..client.connect import Connection, ConnectionSettings
from ..client.home import Home
from ..console.people import People
from ..console.serving import PORT, free_port, listening, open_console
from ..worker.settings import WorkerSettings
from .exits import Exit
from .options import agent_options, context_option, same_place, state_option, worker_options
from .serving import load_agents, serve
from .terminal import note, say

__all__ = ["command"]


@click.command()
@agent_options
@context_option
@state_option
@worker_options
@click.option("--port", type=click.IntRange(0, 65535), help=f"The console's port.  [default: {PORT}, or a free one]")
@click.option("--as", "who", metavar="NAME", help="Who you are in the console.  [default: your login name]")
def command(
    *,
    file: Path,
    name: str | None,
    context: dict[str, object],
    state: Path | None,
    port: int | None,
    who: str | None,
    **flags: str | None,
) -> Exit:
    """Run a Temporal server with its UI, a worker for the agents of a file, and a console, until Ctrl-C.

    Runs are kept in the state folder. Where TEMPORAL_ADDRESS names a server, that one is used.
    """
    settings = WorkerSettings.resolve(flags, os.environ)
    agents = load_agents(file, name, context)
    where = ConnectionSettings(state=state, beside=file.resolve().parent, ui=True)

    address = ""

    @asynccontextmanager
    async def console(connection: Connection) -> AsyncIterator[None]:
        nonlocal address
        agent = AsyncAgent(
            Home.on(agents[0], connection, task_queue=settings.task_queue, settings=where), facts=context
        )
        made = await open_console(agent, People.alone(who), state or where.beside / ".amends")
        chosen = port if port is not None else free_port(PORT)
        async with listening(made, host="127.0.0.1", port=chosen) as address:
            yield

    def ready(connection: Connection, workers: Sequence[Worker]) -> None:
        client = connection.client
        rows = [("Temporal", f"{client.service_client.config.target_host}, namespace {client.namespace}")]
        if connection.embedded is not None and connection.embedded.ui_url is not None:
            rows.append(("Temporal UI", f"{connection.embedded.ui_url}/namespaces/{client.namespace}/workflows"))
        rows.append(("Console", f"{address}/" + (f"  ({agents[0].name})" if len(agents) > 1 else "")))
        rows += [("Queue", worker.task_queue) for worker in workers]
        chat = f"amends chat{same_place()}"
        rows += [("Chat", chat + (f" --name {agent.name}" if len(agents) > 1 else "")) for agent in agents]
        for title, value in rows:
            say(f"{title.ljust(12)} {value}")
        note("Stop with Ctrl-C.")

    return serve(agents, settings, where, ready=ready, beside=console)
