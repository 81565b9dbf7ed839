"""Letting sessions hear of the ends of their runs before the worker of this process ends (SPEC 12.1).

A run's end is known to whoever waits for it at once, and to its session a moment later. A process that ends in that
moment takes the task with it in which the session would have heard of it: Temporal gives that up after ten seconds, and
for so long the next process is not answered.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from temporalio.client import Client
from temporalio.service import RPCError

from ..contract.names import VIEW_QUERY, owner_of_run, session_workflow_id
from ..contract.session import SessionView
from .asking import ask

__all__ = ["let_sessions_hear"]

PATIENCE = 2.0
"""Seconds at most. It takes some milliseconds, and nothing is lost if it takes longer."""
LOOK_EVERY = 0.01


async def let_sessions_hear(client: Client, ended: Iterable[str]) -> None:
    """Wait until the sessions of these runs, or of their unwinds, know that they are over. Never raises."""
    with suppress(TimeoutError, RPCError):
        async with asyncio.timeout(PATIENCE):
            for name in ended:
                run = name.removeprefix("unwind:")
                owner = owner_of_run(run)
                if owner is None:
                    continue
                session = client.get_workflow_handle(session_workflow_id(*owner))
                while True:
                    # A query is answered after the tasks that came before it.
                    view = await ask(session, VIEW_QUERY, result_type=SessionView)
                    if view.open_run != run:
                        break
                    await asyncio.sleep(LOOK_EVERY)
