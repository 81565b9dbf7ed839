"""Having what a run did read again, for its unwind or for a fork of it (SPEC 8.2)."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

from ..contract.loaded import LoadedRun, LoadRequest
from ..contract.names import LOAD_RUN_ACTIVITY

__all__ = ["start_loading"]

_LONGEST = timedelta(seconds=30)
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=1), timedelta(minutes=1)


def start_loading(request: LoadRequest, *, tries: int = 0) -> "workflow.ActivityHandle[LoadedRun]":
    """Start the activity that reads a run from its history; ``tries`` 0 tries for ever."""
    handle: workflow.ActivityHandle[LoadedRun] = workflow.start_activity(
        LOAD_RUN_ACTIVITY,
        request,
        result_type=LoadedRun,
        start_to_close_timeout=_LONGEST,
        retry_policy=RetryPolicy(
            initial_interval=_FIRST_PAUSE, maximum_interval=_LONGEST_PAUSE, maximum_attempts=tries
        ),
        summary=f"what {request.run} did",
    )
    return handle
