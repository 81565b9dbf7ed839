"""What a workflow did, told alike by a recorded history and by the commands of a replay.

Temporal's own replay compares the kinds of commands and some of their ids. A deed holds what it does not look at:
arguments, timeouts, summaries, durations, search attributes, results.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from pydantic import JsonValue
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent
from temporalio.bridge.proto.workflow_commands import WorkflowCommand

__all__ = ["Deed", "commanded", "recorded"]

_LOCAL_ACTIVITY = "core_local_activity"


@dataclass(frozen=True)
class Deed:
    """One thing a workflow did. ``stream`` names what it is ordered among: commands, updates or local activities.

    ``of`` is the name by which the types of its payloads are known: an activity, a workflow or an update.
    """

    stream: str
    kind: str
    name: str
    of: str
    fields: Mapping[str, JsonValue]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


def recorded(events: Iterable[HistoryEvent]) -> Iterator[Deed]:
    """Tell what a history's workflow did."""
    updates: dict[str, str] = {}
    workflow = ""
    for event in events:
        match event.WhichOneof("attributes"):
            case "workflow_execution_started_event_attributes":
                workflow = event.workflow_execution_started_event_attributes.workflow_type.name
            case "workflow_execution_update_accepted_event_attributes":
                accepted = event.workflow_execution_update_accepted_event_attributes
                updates[accepted.protocol_instance_id] = accepted.accepted_request.input.name
                updates[accepted.accepted_request.meta.update_id] = accepted.accepted_request.input.name
            case "workflow_execution_update_completed_event_attributes":
                answered = event.workflow_execution_update_completed_event_attributes
                name = updates.get(answered.meta.update_id, "")
                outcome = answered.outcome
                fields = _result(outcome.success.payloads, outcome.failure if outcome.HasField("failure") else None)
                yield Deed("updates", "update", name, name, fields)
            case "marker_recorded_event_attributes":
                marker = event.marker_recorded_event_attributes
                if marker.marker_name == _LOCAL_ACTIVITY:
                    said = _values(marker.details["data"].payloads)[0]
                    name = str(said.get("activity_type", "")) if isinstance(said, dict) else ""
                    yield Deed("local activities", "local activity", name, name, {})
            case _:
                yield from _commanded_event(event, workflow)


def _commanded_event(event: HistoryEvent, workflow: str) -> Iterator[Deed]:
    said = _metadata(event)
    match event.event_type:
        case EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            call = event.activity_task_scheduled_event_attributes
            name = call.activity_type.name
            fields = {
                "type": name,
                "arguments": _values(call.input.payloads),
                **_timeouts(call.schedule_to_close_timeout, call.schedule_to_start_timeout),
                "start_to_close_ms": _milliseconds(call.start_to_close_timeout),
                "heartbeat_ms": _milliseconds(call.heartbeat_timeout),
                "most_attempts": call.retry_policy.maximum_attempts,
            }
            yield Deed("commands", "activity", call.activity_id, name, {**fields, **said})
        case EventType.EVENT_TYPE_TIMER_STARTED:
            timer = event.timer_started_event_attributes
            duration = _milliseconds(timer.start_to_fire_timeout)
            yield Deed("commands", "timer", "", "", {"duration_ms": duration, **said})
        case EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
            child = event.start_child_workflow_execution_initiated_event_attributes
            fields = {
                "type": child.workflow_type.name,
                "arguments": _values(child.input.payloads),
                "parent_close_policy": int(child.parent_close_policy),
                "id_reuse_policy": int(child.workflow_id_reuse_policy),
                "search_attributes": _mapping(child.search_attributes.indexed_fields),
            }
            yield Deed("commands", "child workflow", child.workflow_id, child.workflow_type.name, {**fields, **said})
        case EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
            upsert = event.upsert_workflow_search_attributes_event_attributes
            yield Deed("commands", "search attributes", "", "", _mapping(upsert.search_attributes.indexed_fields))
        case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
            end = event.workflow_execution_completed_event_attributes
            yield Deed("commands", "end: completed", "", workflow, _result(end.result.payloads))
        case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
            failed = event.workflow_execution_failed_event_attributes
            yield Deed("commands", "end: failed", "", workflow, _result((), failed.failure))
        case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
            anew = event.workflow_execution_continued_as_new_event_attributes
            fields = {"type": anew.workflow_type.name, "arguments": _values(anew.input.payloads)}
            yield Deed("commands", "end: continued as new", "", anew.workflow_type.name, fields)
        case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
            yield Deed("commands", "end: cancelled", "", workflow, {})


def commanded(
    batches: Iterable[Sequence[WorkflowCommand]], workflow: str, updates: Mapping[str, str]
) -> Iterator[Deed]:
    """Tell what a replayed workflow did. Each batch is what it commanded at once.

    ``updates`` maps the protocol id of each update to its name. Commands behind the end of the workflow, and what is
    taken back in the batch that asked for it, never reach a history.
    """
    for batch in batches:
        taken_back = {("timer", command.cancel_timer.seq) for command in batch if command.HasField("cancel_timer")}
        for command in batch:
            if command.HasField("start_timer") and ("timer", command.start_timer.seq) in taken_back:
                continue
            yield from _command(command, workflow, updates)


def _command(command: WorkflowCommand, workflow: str, updates: Mapping[str, str]) -> Iterator[Deed]:
    said = _metadata(command)
    match command.WhichOneof("variant"):
        case "schedule_activity":
            call = command.schedule_activity
            fields: dict[str, JsonValue] = {
                "type": call.activity_type,
                "arguments": _values(call.arguments),
                **_timeouts(call.schedule_to_close_timeout, call.schedule_to_start_timeout),
                "start_to_close_ms": _milliseconds(call.start_to_close_timeout),
                "heartbeat_ms": _milliseconds(call.heartbeat_timeout),
                "most_attempts": call.retry_policy.maximum_attempts,
            }
            yield Deed("commands", "activity", call.activity_id, call.activity_type, {**fields, **said})
        case "start_timer":
            duration = _milliseconds(command.start_timer.start_to_fire_timeout)
            yield Deed("commands", "timer", "", "", {"duration_ms": duration, **said})
        case "start_child_workflow_execution":
            child = command.start_child_workflow_execution
            fields = {
                "type": child.workflow_type,
                "arguments": _values(child.input),
                "parent_close_policy": int(child.parent_close_policy),
                "id_reuse_policy": int(child.workflow_id_reuse_policy),
                "search_attributes": _mapping(child.search_attributes.indexed_fields),
            }
            yield Deed("commands", "child workflow", child.workflow_id, child.workflow_type, {**fields, **said})
        case "upsert_workflow_search_attributes":
            upsert = command.upsert_workflow_search_attributes
            yield Deed("commands", "search attributes", "", "", _mapping(upsert.search_attributes.indexed_fields))
        case "schedule_local_activity":
            name = command.schedule_local_activity.activity_type
            yield Deed("local activities", "local activity", name, name, {})
        case "update_response":
            answer = command.update_response
            name = updates.get(answer.protocol_instance_id, "")
            if answer.HasField("completed"):
                yield Deed("updates", "update", name, name, _result([answer.completed]))
            elif answer.HasField("rejected") and answer.protocol_instance_id in updates:
                yield Deed("updates", "update", name, name, _result((), answer.rejected))
        case "complete_workflow_execution":
            done = command.complete_workflow_execution
            yield Deed("commands", "end: completed", "", workflow, _result([done.result]))
        case "fail_workflow_execution":
            yield Deed("commands", "end: failed", "", workflow, _result((), command.fail_workflow_execution.failure))
        case "continue_as_new_workflow_execution":
            anew = command.continue_as_new_workflow_execution
            name = anew.workflow_type or workflow
            fields = {"type": name, "arguments": _values(anew.arguments)}
            yield Deed("commands", "end: continued as new", "", name, fields)
        case "cancel_workflow_execution":
            yield Deed("commands", "end: cancelled", "", workflow, {})


def _metadata(told: HistoryEvent | WorkflowCommand) -> dict[str, JsonValue]:
    said = told.user_metadata
    return {"summary": _value(said.summary), "details": _value(said.details)}


def _timeouts(to_close: Duration, to_start: Duration) -> dict[str, JsonValue]:
    return {"schedule_to_close_ms": _milliseconds(to_close), "schedule_to_start_ms": _milliseconds(to_start)}


def _milliseconds(duration: Duration) -> int:
    """A timeout that is not set and one of zero mean the same to the server."""
    return duration.ToTimedelta() // timedelta(milliseconds=1)


def _result(payloads: Sequence[Payload], failure: Failure | None = None) -> dict[str, JsonValue]:
    if failure is not None:
        return {"failure": failure.message, "failure_type": failure.application_failure_info.type}
    return {"result": _values(payloads)}


def _mapping(payloads: Mapping[str, Payload]) -> dict[str, JsonValue]:
    return {name: _value(payload) for name, payload in sorted(payloads.items())}


def _values(payloads: Iterable[Payload]) -> list[JsonValue]:
    return [_value(payload) for payload in payloads]


def _value(payload: Payload) -> JsonValue:
    if payload.metadata.get("encoding") == b"json/plain":
        value: JsonValue = json.loads(payload.data)
        return value
    return payload.data.hex() or None
