"""``amends worker``: serve the agents of a file, against the server of the environment or the state folder's own."""

import os
from collections.abc import Sequence
from pathlib import Path

import click
from temporalio.worker import Worker

from ..client.connect import Connection, ConnectionSettings
from ..worker.settings import WorkerSettings
from .exits import Exit
from .options import agent_file_argument, context_option, name_option, state_option, worker_options
from .serving import load_agents, serve
from .terminal import note

__all__ = ["command"]


@click.command()
@agent_file_argument
@name_option
@context_option
@state_option
@worker_options
def command(
    *,
    file: Path,
    name: str | None,
    context: dict[str, object],
    state: Path | None,
    **flags: str | None,
) -> Exit:
    """Serve the agents of AGENT_FILE until told to stop. It is the same as --agent.

    The server is the one of the environment (TEMPORAL_ADDRESS and the others); with none, the embedded one of the
    state folder. Each agent of the file has a queue of its own. Each setting may also be an AMENDS_ variable.
    """
    settings = WorkerSettings.resolve(flags, os.environ)
    agents = load_agents(file, name, context)
    where = ConnectionSettings(state=state, beside=file.resolve().parent)

    def ready(connection: Connection, workers: Sequence[Worker]) -> None:
        client = connection.client
        address = f"{client.service_client.config.target_host}, namespace {client.namespace}"
        note(f"Serving {', '.join(agent.name for agent in agents)} on {address}.")
        note(f"Queues: {', '.join(worker.task_queue for worker in workers)}. Stop with Ctrl-C or SIGTERM.")

    return serve(agents, settings, where, ready=ready)
