"""Running one worker: the plugin on a task queue, for as long as a block lasts (SPEC 13.5)."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from ..tools.loader import LoadedAgent
from .plugin import AmendsPlugin

__all__ = ["make_worker", "serving"]

STICKY = timedelta(seconds=1)
"""How long a workflow task waits for the worker that knows the workflow before any worker may take it."""
DRAIN = timedelta(seconds=30)
"""How long calls in flight may go on once the worker is told to stop."""


def make_worker(
    client: Client,
    agents: Sequence[LoadedAgent],
    *,
    task_queue: str,
    max_concurrent_activities: int = 100,
    graceful_shutdown: timedelta = DRAIN,
    sticky: timedelta = STICKY,
) -> Worker:
    """Return a worker that serves ``agents`` on ``task_queue``; nothing runs yet.

    Raises:
        AmendsError: two agents have different tools of one name, or the client writes payloads we cannot read.
    """
    return Worker(
        client,
        task_queue=task_queue,
        plugins=[AmendsPlugin(*agents)],
        max_concurrent_activities=max_concurrent_activities,
        graceful_shutdown_timeout=graceful_shutdown,
        sticky_queue_schedule_to_start_timeout=sticky,
    )


@asynccontextmanager
async def serving(client: Client, agents: Sequence[LoadedAgent], *, task_queue: str) -> AsyncIterator[Worker]:
    """Run a worker while the block lasts; leaving it lets calls in flight end."""
    async with make_worker(client, agents, task_queue=task_queue) as worker:
        yield worker
