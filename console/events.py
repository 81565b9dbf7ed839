"""What happened in a run, as a list that only grows: the events of its stream (SPEC 12.3).

The list is made from the run's history and its view, and from nothing else, so every server makes the same one: an
event has the same number before and after a restart. Two sources are merged by time. Calls and undos are events of the
history, with their own times. Questions and answers have the time of the workflow task that took them in, as the
workflow's clock stands still within a task. A view shows whole tasks; so with a history read first, everything of the
view that is not later than the last whole task in that history is complete, and nothing can come before it any more.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from pydantic import JsonValue
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from ..client.history import HistoryReader
from ..contract.model import Wire
from ..contract.run import RunView

__all__ = ["Called", "Happened", "call_of", "follow", "happened"]

_ACTIVITY = re.compile(r"step-(\d+)(\.undo)?(?:(?:\.try)?-(\d+))?")
_ENDS = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: "done",
    EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED: "failed",
    EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: "unknown",
    EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED: "unknown",
}
_ENDED = frozenset(
    (
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
    )
)
BREATH = 0.1
"""Seconds between two reads: what happens close together is then read together."""
_WHOLE = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
ROUNDING = timedelta(microseconds=2)
"""The history counts nanoseconds, the workflow's clock does not. No two tasks are that close."""


class Called(NamedTuple):
    """Which call an activity is."""

    step: int
    undo: bool
    attempt: int


def call_of(activity_id: str) -> Called | None:
    """Say which call or undo an activity is, by its id; None for one that is neither."""
    named = _ACTIVITY.fullmatch(activity_id)
    return Called(int(named[1]), bool(named[2]), int(named[3] or 1)) if named else None


class Happened(Wire):
    """One event of a run. ``seq`` counts from 1 within the run, and never changes."""

    seq: int
    type: str
    at: datetime
    run_id: str
    data: Mapping[str, JsonValue] = {}


def happened(run: str, history: Iterable[HistoryEvent], view: RunView) -> list[Happened]:
    """Return what happened so far. ``view`` must have been asked for after ``history`` was read."""
    found: list[tuple[datetime, int, str, dict[str, JsonValue]]] = []
    started: datetime | None = None
    whole: datetime | None = None
    scheduled: dict[int, dict[str, JsonValue]] = {}
    for event in history:
        at = event.event_time.ToDatetime(UTC)
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED:
            started = at
        elif event.event_type == _WHOLE:
            whole = started
        elif event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            found.append((at, 0, "run.started", {"turn": view.turn, "language": view.language}))
        elif event.event_type in _ENDED:
            found.append((at, 9, "run.ended", {"state": view.state, "text": view.text}))
        else:
            found.extend((at, 5, kind, data) for kind, data in _call(event, scheduled))
    told = (each for each in _of_view(view) if whole is not None and each[0] <= whole + ROUNDING)
    ordered = sorted((*found, *told), key=lambda each: (each[0], each[1]))
    return [
        Happened(seq=number, type=kind, at=at, run_id=run, data=data)
        for number, (at, _, kind, data) in enumerate(ordered, 1)
    ]


def _call(
    event: HistoryEvent, scheduled: dict[int, dict[str, JsonValue]]
) -> Iterator[tuple[str, dict[str, JsonValue]]]:
    """Tell of a call or an undo that was sent, or came back."""
    if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
        sent = event.activity_task_scheduled_event_attributes
        call = call_of(sent.activity_id)
        if call is None:
            return
        lane = "undo" if call.undo else "step"
        scheduled[event.event_id] = {
            "lane": lane,
            "step": call.step,
            "tool": sent.activity_type.name,
            "attempt": call.attempt,
        }
        yield f"{lane}.in_flight", {name: value for name, value in scheduled[event.event_id].items() if name != "lane"}
    elif event.event_type in _ENDS:
        attributes = getattr(event, str(event.WhichOneof("attributes")))
        told = scheduled.get(attributes.scheduled_event_id)
        if told is not None:
            yield f"{told['lane']}.{_ENDS[event.event_type]}", {k: v for k, v in told.items() if k != "lane"}


def _of_view(view: RunView) -> Iterator[tuple[datetime, int, str, dict[str, JsonValue]]]:
    for told in view.answers:
        said: dict[str, JsonValue] = {
            "question": told.question_id,
            "answer": told.answer,
            "by": told.by,
            "accepted": told.accepted,
            "reason": told.reason,
        }
        yield told.at, 2, "question.answered", said
    for asked in view.asked:
        yield (
            asked.asked_at,
            7,
            "question.opened",
            {"question": asked.id, "kind": asked.kind, "step": asked.position, "tool": asked.tool, "text": asked.text},
        )


async def follow(
    client: Client, run: str, view: Callable[[bool], Awaitable[RunView]], *, after: int = 0
) -> AsyncIterator[Happened | None]:
    """Yield what happens in a run after the event ``after``, until it is over; None where nothing came for a while.

    Args:
        client: Temporal's client.
        run: the run's id.
        view: asks for what the run shows now; it is told whether the run is over.
        after: the number of the last event that is known already.
    """
    history: list[HistoryEvent] = []
    shown: RunView | None = None
    reader = HistoryReader(client.get_workflow_handle(run))
    while True:
        page = await reader.read()
        if page is None:
            yield None
            continue
        if page.anew:
            history.clear()
        history += page.events
        over = bool(history) and history[-1].event_type in _ENDED
        # What is taken from the view changes with whole tasks alone.
        if shown is None or over or any(event.event_type == _WHOLE for event in page.events):
            shown = await view(over)
        for each in happened(run, history, shown):
            if each.seq > after:
                after = each.seq
                yield each
        if over:
            return
        await asyncio.sleep(BREATH)
