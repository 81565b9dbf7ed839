"""The replay tells everything that another release would do otherwise, and nothing else (SPEC 13.4)."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

import pytest
from amends.testing.replay import replay
from amends.tests.histories.recording import FOLDER
from temporalio.client import WorkflowHistory

Changed = Callable[[dict[str, Any]], None]


class Recorded:
    """A recorded history to change. Changing what was recorded looks the same as changing what is done now."""

    def __init__(self, name: str) -> None:
        self.said: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.said["events"] if event["eventType"] == f"EVENT_TYPE_{kind}"]

    async def differences(self) -> tuple[str, ...]:
        return await replay(WorkflowHistory.from_json(self.said["workflowId"], json.dumps(self.said)))


def change(payload: dict[str, Any], changed: Callable[[Any], Any]) -> None:
    """Change a payload's value in place."""
    value = changed(json.loads(b64decode(payload["data"])))
    payload["data"] = b64encode(json.dumps(value).encode()).decode()


def put(*path: str | int, value: object) -> Callable[[Any], Any]:
    def changed(whole: Any) -> Any:
        inner = whole
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = value
        return whole

    return changed


def drop(name: str) -> Callable[[Any], Any]:
    return lambda whole: {key: value for key, value in whole.items() if key != name}


@pytest.fixture
def undone() -> Recorded:
    return Recorded("failed_and_undone")


def activity(history: Recorded, number: int) -> dict[str, Any]:
    attributes: dict[str, Any] = history.events("ACTIVITY_TASK_SCHEDULED")[number][
        "activityTaskScheduledEventAttributes"
    ]
    return attributes


async def test_an_unchanged_history_has_no_differences(undone: Recorded):
    assert await undone.differences() == ()


async def test_changed_arguments_are_told(undone: Recorded):
    change(activity(undone, 0)["input"]["payloads"][0], put("arguments", "amount", value="999.00"))
    assert await undone.differences() == ("activity step-1: arguments[0].arguments.amount was '999.00' and is '40.00'",)


async def test_a_changed_key_is_told(undone: Recorded):
    change(activity(undone, 4)["input"]["payloads"][0], put("key", value="0"))
    (difference,) = await undone.differences()
    assert difference.startswith("activity step-1.undo: arguments[0].key was '0' and is ")


async def test_a_changed_summary_is_told(undone: Recorded):
    change(undone.events("ACTIVITY_TASK_SCHEDULED")[0]["userMetadata"]["summary"], lambda _: "charges")
    assert await undone.differences() == (
        "activity step-1: summary was 'charges' and is '1/3 charge_card(order_id 4411, amount 40.00)'",
    )


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("startToCloseTimeout", "12s", "start_to_close_ms was 12000 and is 11000"),
        ("heartbeatTimeout", "0s", "heartbeat_ms was 0 and is 8000"),
        ("scheduleToStartTimeout", "5s", "schedule_to_start_ms was 5000 and is 0"),
        ("scheduleToCloseTimeout", "5s", "schedule_to_close_ms was 5000 and is 0"),
        ("retryPolicy", {"maximumAttempts": 3}, "most_attempts was 3 and is 1"),
    ],
)
async def test_a_changed_timeout_is_told(undone: Recorded, field: str, value: object, told: str):
    activity(undone, 0)[field] = value
    assert await undone.differences() == (f"activity step-1: {told}",)


async def test_a_changed_activity_id_is_told(undone: Recorded):
    activity(undone, 0)["activityId"] = "step-9"
    differences = await undone.differences()
    assert "activity step-9, number 2 of the commands, is gone; in its place is activity step-1" in differences


async def test_a_changed_result_is_told(undone: Recorded):
    (end,) = undone.events("WORKFLOW_EXECUTION_COMPLETED")
    change(end["workflowExecutionCompletedEventAttributes"]["result"]["payloads"][0], put("state", value="done"))
    assert await undone.differences() == ("end: completed: result[0].state was 'done' and is 'undone'",)


async def test_a_changed_order_is_told(undone: Recorded):
    first, second = activity(undone, 3), activity(undone, 4)
    for name in ("activityType", "activityId", "input"):
        first[name], second[name] = second[name], first[name]
    differences = await undone.differences()
    assert differences[0].startswith("the replay broke off: ")
    assert "[TMPRL1100]" in differences[0]
    assert any(
        "activity step-1.undo" in told and "in its place is activity step-2.undo" in told for told in differences
    )


async def test_a_changed_state_attribute_is_told(undone: Recorded):
    upsert = undone.events("UPSERT_WORKFLOW_SEARCH_ATTRIBUTES")[-1]["upsertWorkflowSearchAttributesEventAttributes"]
    change(upsert["searchAttributes"]["indexedFields"]["AmendsState"], lambda _: "left")
    assert await undone.differences() == ("search attributes: AmendsState was 'left' and is 'undone'",)


async def test_a_changed_wait_is_told():
    history = Recorded("undo_tried_again")
    timers = history.events("TIMER_STARTED")
    assert [timer["timerStartedEventAttributes"]["startToFireTimeout"] for timer in timers] == ["1s", "2s", "4s"]
    timers[1]["timerStartedEventAttributes"]["startToFireTimeout"] = "3s"
    change(timers[2]["userMetadata"]["summary"], lambda _: "later")
    assert await history.differences() == (
        "timer: duration_ms was 3000 and is 2000",
        "timer: summary was 'later' and is 'before refund_card is tried again'",
    )


async def test_a_changed_input_of_a_run_is_told():
    history = Recorded("session_of_several_turns")
    child = history.events("START_CHILD_WORKFLOW_EXECUTION_INITIATED")[0]
    change(
        child["startChildWorkflowExecutionInitiatedEventAttributes"]["input"]["payloads"][0],
        put("calls", 0, "tool", value="send_receipt"),
    )
    (difference,) = await history.differences()
    assert difference.endswith("arguments[0].calls[0].tool was 'send_receipt' and is 'add_note'")


async def test_a_changed_answer_to_a_turn_is_told():
    history = Recorded("session_of_several_turns")
    answered = history.events("WORKFLOW_EXECUTION_UPDATE_COMPLETED")[0]
    change(
        answered["workflowExecutionUpdateCompletedEventAttributes"]["outcome"]["success"]["payloads"][0],
        put("status", value="busy"),
    )
    assert await history.differences() == ("update submit: result[0].status was 'busy' and is 'started'",)


async def test_a_changed_state_to_continue_with_is_told():
    history = Recorded("session_before_it_continues_as_new")
    (anew,) = history.events("WORKFLOW_EXECUTION_CONTINUED_AS_NEW")
    change(anew["workflowExecutionContinuedAsNewEventAttributes"]["input"]["payloads"][0], put("next_step", value=1))
    (difference,) = await history.differences()
    assert difference.startswith("end: continued as new: arguments[0].next_step was 1 and is ")


async def test_what_is_no_longer_done_is_told(undone: Recorded):
    (end,) = undone.events("WORKFLOW_EXECUTION_COMPLETED")
    end["eventType"] = "EVENT_TYPE_WORKFLOW_EXECUTION_FAILED"
    del end["workflowExecutionCompletedEventAttributes"]
    end["workflowExecutionFailedEventAttributes"] = {"failure": {"message": "no"}}
    assert "end: failed, number 9 of the commands, is gone; in its place is end: completed" in [
        told.replace("number 10", "number 9") for told in await undone.differences()
    ]


async def test_a_field_that_was_recorded_and_is_gone_is_told(undone: Recorded):
    change(activity(undone, 0)["input"]["payloads"][0], put("urgency", value="high"))
    assert await undone.differences() == ("activity step-1: arguments[0].urgency is gone; it was 'high'",)


async def test_a_field_that_this_release_added_is_no_difference_at_its_default(undone: Recorded):
    (end,) = undone.events("WORKFLOW_EXECUTION_COMPLETED")
    change(activity(undone, 0)["input"]["payloads"][0], drop("undo"))
    change(end["workflowExecutionCompletedEventAttributes"]["result"]["payloads"][0], drop("left"))
    assert await undone.differences() == ()


async def test_a_field_that_this_release_added_with_another_value_is_told(undone: Recorded):
    change(activity(undone, 0)["input"]["payloads"][0], drop("timeout_ms"))
    assert await undone.differences() == (
        "activity step-1: arguments[0].timeout_ms is new, and 1000 is not its default",
    )
