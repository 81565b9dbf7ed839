"""Running workers: the plugin on a task queue, for as long as a block lasts (SPEC 13.5)."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import Worker, WorkerDeploymentConfig

from ..contract.names import default_task_queue
from ..tools.loader import LoadedAgent
from .plugin import AmendsPlugin
from .settings import WorkerSettings

__all__ = ["make_worker", "serving", "workers_for"]


NEWS = timedelta(seconds=2)
"""How often the server hears how far a call is, at most."""


def make_worker(
    client: Client, agents: Sequence[LoadedAgent], *, task_queue: str, settings: WorkerSettings | None = None
) -> Worker:
    """Return a worker that serves ``agents`` on ``task_queue``; nothing runs yet.

    Args:
        client: the client it polls with.
        agents: whom it serves.
        task_queue: the queue; it wins over the one in ``settings``.
        settings: how it runs; by default as `WorkerSettings` says. Its metrics belong to the client's runtime.

    Raises:
        AmendsError: two agents have different tools of one name, or the client writes payloads we cannot read.
    """
    settings = settings or WorkerSettings()
    return Worker(
        client,
        task_queue=task_queue,
        plugins=[AmendsPlugin(*agents, results=settings.results)],
        max_concurrent_activities=settings.max_activities,
        max_heartbeat_throttle_interval=NEWS,
        graceful_shutdown_timeout=settings.drain,
        sticky_queue_schedule_to_start_timeout=settings.sticky,
        deployment_config=_deployment(settings),
    )


def workers_for(client: Client, agents: Sequence[LoadedAgent], settings: WorkerSettings) -> list[Worker]:
    """Return the workers that serve ``agents``: one for each queue, which is the agent's own unless one is set.

    Raises:
        AmendsError: as `make_worker`.
    """
    by_queue: dict[str, list[LoadedAgent]] = {}
    for agent in agents:
        by_queue.setdefault(settings.task_queue or default_task_queue(agent.name), []).append(agent)
    return [make_worker(client, those, task_queue=queue, settings=settings) for queue, those in by_queue.items()]


@asynccontextmanager
async def serving(
    client: Client, agents: Sequence[LoadedAgent], *, task_queue: str, settings: WorkerSettings | None = None
) -> AsyncIterator[Worker]:
    """Run a worker while the block lasts; leaving it lets calls in flight end."""
    async with make_worker(client, agents, task_queue=task_queue, settings=settings) as worker:
        yield worker


def _deployment(settings: WorkerSettings) -> WorkerDeploymentConfig | None:
    """Runs and sessions stay on the build they began with, until an operator moves them (docs/production.md)."""
    if settings.deployment is None or settings.build_id is None:
        return None
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(deployment_name=settings.deployment, build_id=settings.build_id),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )
