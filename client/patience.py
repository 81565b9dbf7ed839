"""Waiting for Temporal and for a worker, and saying so when nobody is there (SPEC 12.1).

Temporal keeps what it was given until a worker comes, which is right, and looks like a hang to whoever waits. So while
a call takes long, the client looks whether any worker polls the agent's queue, and gives up with a clear error if none
does. What was accepted is not lost by that.
"""

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.service import RPCError, RPCStatusCode

from ..contract.errors import Unreachable
from .place import Place

__all__ = ["served", "while_served"]

LOOK_EVERY = 10.0
"""Seconds between two looks at who polls."""
STALE = timedelta(seconds=75)
"""A poller's long poll ends after a minute; one not seen for longer than that is gone."""

_T = TypeVar("_T")


async def while_served(call: Awaitable[_T], place: Place) -> _T:
    """Await ``call`` for as long as a worker polls the queue.

    Raises:
        Unreachable: ``no_worker_polling``, or ``temporal_unreachable``.
    """
    task = asyncio.ensure_future(call)
    try:
        while True:
            done, _ = await asyncio.wait((task,), timeout=LOOK_EVERY)
            if done:
                return task.result()
            if not await served(place):
                raise Unreachable(
                    "no_worker_polling",
                    f"No worker polls the queue {place.task_queue}.",
                    "Start one with `amends worker`; runs that are open go on then.",
                )
    except RPCError as error:
        if error.status == RPCStatusCode.UNAVAILABLE:
            raise Unreachable(
                "temporal_unreachable",
                f"Temporal at {place.address} does not answer.",
                "Check the address and that the server runs; nothing that was accepted is lost.",
            ) from error
        raise
    finally:
        task.cancel()
        # Nobody waits for it any more; without this, what it ends with is logged as an error that nobody looked at.
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


async def served(place: Place) -> bool:
    """Say whether a worker polled the agent's queue for workflow tasks in the last minute or so."""
    answer = await place.client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=place.client.namespace,
            task_queue=TaskQueue(name=place.task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    oldest = datetime.now(UTC) - STALE
    return any(poller.last_access_time.ToDatetime(UTC) > oldest for poller in answer.pollers)
