"""What a failed activity means, row by row (SPEC 5.3)."""

import pytest
from amends.contract.outcome import Failure, Outcome
from amends.workflows.classify import outcome_of_error, outcome_of_result
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    RetryState,
    TimeoutError,  # noqa: A004
    TimeoutType,
)


def failed(cause: BaseException | None, *, started: int = 6) -> ActivityError:
    error = ActivityError(
        "activity error",
        scheduled_event_id=5,
        started_event_id=started,
        identity="worker",
        activity_type="charge_card",
        activity_id="step-1",
        retry_state=RetryState.MAXIMUM_ATTEMPTS_REACHED,
    )
    error.__cause__ = cause
    return error


def timeout(kind: TimeoutType) -> TimeoutError:
    return TimeoutError("timeout", type=kind, last_heartbeat_details=[])


def carrying(status: str, **fields: object) -> ApplicationError:
    outcome = Outcome(status=status, failure=Failure(type="RuntimeError", message="down"), **fields)
    return ApplicationError("down", outcome.model_dump(mode="json"), type="RuntimeError", non_retryable=True)


@pytest.mark.parametrize(
    ("cause", "started", "status", "worker_lost"),
    [
        (timeout(TimeoutType.SCHEDULE_TO_START), 0, "never_sent", False),
        (timeout(TimeoutType.SCHEDULE_TO_CLOSE), 0, "never_sent", False),
        (timeout(TimeoutType.START_TO_CLOSE), 6, "in_doubt", True),
        (timeout(TimeoutType.HEARTBEAT), 6, "in_doubt", True),
        (timeout(TimeoutType.SCHEDULE_TO_CLOSE), 6, "in_doubt", True),
        (ApplicationError("not registered", type="NotFoundError"), 6, "never_sent", False),
        (ApplicationError("Failed decoding arguments"), 6, "never_sent", False),
        (ApplicationError("Worker is shutting down", type="WorkerShutdown"), 6, "in_doubt", True),
        (ApplicationError("boom", type="TypeError"), 6, "in_doubt", False),
        (ApplicationError("too large", type="PayloadsTooLarge"), 6, "in_doubt", False),
        (ApplicationError("boom", type="ConnectionError"), 6, "in_doubt", False),
        (carrying("failed"), 6, "failed", False),
        (carrying("never_sent"), 6, "never_sent", False),
        (carrying("in_doubt"), 6, "in_doubt", False),
        (carrying("in_doubt", worker_lost=True), 6, "in_doubt", True),
        (CancelledError("cancelled"), 0, "never_sent", False),
        (CancelledError("cancelled"), 6, "in_doubt", False),
        (None, 6, "in_doubt", False),
    ],
)
def test_only_what_is_known_to_be_without_effect_counts_as_such(
    cause: BaseException | None, started: int, status: str, worker_lost: bool
) -> None:
    outcome = outcome_of_error(failed(cause, started=started))
    assert (outcome.status, outcome.worker_lost) == (status, worker_lost)
    assert outcome.failure is not None


@pytest.mark.parametrize("name", ["NotFoundError", "WorkerShutdown"])
def test_a_tool_whose_error_has_a_name_of_the_sdk_is_read_by_its_outcome(name: str) -> None:
    outcome = Outcome(status="failed", failure=Failure(type=name))
    cause = ApplicationError("no such order", outcome.model_dump(mode="json"), type=name, non_retryable=True)
    assert outcome_of_error(failed(cause)) == outcome


@pytest.mark.parametrize("result", [None, "done", 1, [], {}, {"status": "splendid"}])
def test_a_result_that_is_no_outcome_is_a_doubt(result: object) -> None:
    assert outcome_of_result(result).status == "in_doubt"


def test_details_that_are_no_outcome_are_a_doubt() -> None:
    assert outcome_of_error(failed(ApplicationError("x", {"code": 7}, type="Whatever"))).status == "in_doubt"
