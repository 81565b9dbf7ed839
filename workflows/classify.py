"""Telling what a failed activity means: definite, never sent, or in doubt (SPEC 5.3).

The activity of a tool ends in one of three ways: it returns an `Outcome`; it raises an error that carries one, so that
the Temporal UI shows the call as failed; or it does not get to report at all. Only what is *known* to be without
effect counts as such. Everything else is in doubt, because a write that is believed to have failed is a write that
nobody undoes.

What the SDK and the server raise, and what it says about the call, was measured on a real server:

* a schedule-to-start timeout, or a failed activity that was never started: no worker was handed the call;
* ``NotFoundError`` and ``Failed decoding arguments``: raised by the SDK before a tool's code is reached. A tool cannot
  forge them, because its activity wraps whatever a tool raises in an error that carries an outcome;
* start-to-close and heartbeat timeouts, ``WorkerShutdown``: the worker, or its answer, was lost in the middle;
* any other error: the call had begun, and what it did before it broke is unknown.
"""

from pydantic import ValidationError
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, TimeoutError, TimeoutType  # noqa: A004

from ..contract.outcome import Failure, Outcome

__all__ = ["RECALLED", "outcome_of_error", "outcome_of_result"]

RECALLED = Outcome(status="never_sent", failure=Failure(type="Recalled", message="it was recalled before it was sent"))
_BEFORE_ANY_TOOL_CODE = ("NotFoundError",)
_UNDECODABLE = "Failed decoding arguments"


def outcome_of_result(result: object) -> Outcome:
    """Read what a tool's activity returned. A result that is no outcome is a doubt, never a failure."""
    try:
        return Outcome.model_validate(result)
    except ValidationError:
        return Outcome(status="in_doubt", failure=Failure(type="UnreadableResult", message="the result is no outcome"))


def outcome_of_error(error: ActivityError) -> Outcome:
    """Classify an activity that raised or never reported."""
    cause = error.cause
    match cause:
        case ApplicationError() if cause.details:
            # Ours, and looked at first: a tool's own error may have any name, those of the SDK included.
            return outcome_of_result(cause.details[0])
        case TimeoutError() if cause.type == TimeoutType.SCHEDULE_TO_START or not error.started_event_id:
            return Outcome(status="never_sent", failure=Failure(type="NoWorker", message=str(cause)))
        case TimeoutError():
            # The inner deadline ends before start-to-close does, so either timeout means that the worker is gone.
            return Outcome(status="in_doubt", worker_lost=True, failure=Failure(type="WorkerLost", message=str(cause)))
        case ApplicationError() if cause.type in _BEFORE_ANY_TOOL_CODE or (
            cause.type is None and cause.message.startswith(_UNDECODABLE)
        ):
            return Outcome(status="never_sent", failure=Failure(type="NotRegistered", message=cause.message))
        case ApplicationError() if cause.type == "WorkerShutdown":
            return Outcome(status="in_doubt", worker_lost=True, failure=Failure(type="WorkerLost", message=str(cause)))
        case ApplicationError():
            return Outcome(status="in_doubt", failure=Failure(type=cause.type or "Error", message=cause.message))
        case CancelledError() if not error.started_event_id:
            return RECALLED
        case _:
            name = type(cause).__name__ if cause is not None else "Error"
            return Outcome(status="in_doubt", failure=Failure(type=name, message=str(cause or error)))
