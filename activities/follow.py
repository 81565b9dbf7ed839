"""Looking whether a run is over, and how it ended, for a session that is no longer told (SPEC 7.1).

A run that goes on makes this activity fail, on purpose: Temporal then tries it again after the time it is given, and
neither a slot of the worker nor an event of the session's history is spent on the waiting in between. How long that is
grows with how long the run has been waited for, a fiftieth of it, so that a run of an hour is noticed within a minute
or so and a run of days costs one short call a minute.
"""

from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.client import WorkflowExecutionStatus, WorkflowQueryFailedError
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError, RPCStatusCode

from ..contract.ending import cut_short
from ..contract.names import FOLLOW_RUN_ACTIVITY, VIEW_QUERY
from ..contract.run import RunView
from ..contract.session import RunEnd
from .unbegun import unbegun

__all__ = ["STILL_OPEN", "follow_run", "pause"]

STILL_OPEN = "still_open"
SHORTEST, LONGEST = timedelta(seconds=1), timedelta(minutes=1)


@activity.defn(name=FOLLOW_RUN_ACTIVITY)
async def follow_run(run: str) -> RunEnd:
    """Return how a run ended.

    Raises:
        ApplicationError: it is still open; to be tried again.
    """
    handle = activity.client().get_workflow_handle(run, result_type=RunView)
    try:
        status = (await handle.describe()).status
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return RunEnd()
        raise
    if status in (WorkflowExecutionStatus.RUNNING, None):
        waited = datetime.now(UTC) - activity.info().scheduled_time
        raise ApplicationError(
            f"{run} is still open",
            type=STILL_OPEN,
            next_retry_delay=pause(waited),
            category=ApplicationErrorCategory.BENIGN,
        )
    if status == WorkflowExecutionStatus.COMPLETED:
        return RunEnd(view=await handle.result())
    try:
        return RunEnd(view=cut_short(await handle.query(VIEW_QUERY, result_type=RunView)))
    except WorkflowQueryFailedError:
        # It ended because its code broke, and it breaks again when it is asked.
        return RunEnd()
    except RPCError as error:
        return RunEnd(view=cut_short(await unbegun(activity.client(), run, error)))


def pause(waited: timedelta) -> timedelta:
    """Return how long to wait before the next look at a run that has been waited for that long."""
    return min(max(waited / 50, SHORTEST), LONGEST)
