"""Waiting for a run to need a person or to be over, without polling it (SPEC 4.8).

The client follows the run's history by long poll, which costs the run nothing: no event, no update slot, no worker.
From the events alone it can tell when the run is idle: every workflow task is done, and no activity and no timer is
pending. An idle run that is not over waits for a person, so one query then fetches what it asks. That is one query for
each question, however many calls lie between.
"""

import asyncio

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowHistoryEventAsyncIterator,
    WorkflowHistoryEventFilterType,
)

from ..contract.names import VIEW_QUERY
from ..contract.run import RunView
from ..contract.wording import words

__all__ = ["Follower"]

QUIET_START = 1.0
"""Seconds for which a run that will not ask is only waited for to end: one call to the server instead of one for each
batch of events."""

_BEGIN = frozenset((EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, EventType.EVENT_TYPE_TIMER_STARTED))
_END = frozenset(
    (
        EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
        EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED,
        EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
        EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED,
        EventType.EVENT_TYPE_TIMER_FIRED,
        EventType.EVENT_TYPE_TIMER_CANCELED,
    )
)
_CUT_SHORT = frozenset(
    (
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
    )
)


class Follower:
    """Follows one run from its first event on, and remembers how far it came."""

    def __init__(self, client: Client, run: str) -> None:
        self.run = run
        self._client = client
        self._handle: WorkflowHandle[object, RunView] = client.get_workflow_handle(run, result_type=RunView)
        self._events: WorkflowHistoryEventAsyncIterator | None = None
        self._pending = 0
        self._task_pending = True
        self._ended: HistoryEvent | None = None

    @property
    def handle(self) -> WorkflowHandle[object, RunView]:
        """The run's workflow handle."""
        return self._handle

    async def until_attention(self, *, asks: bool = True) -> RunView:
        """Wait until the run needs a person or is over; return what it shows then.

        ``asks`` False says that the run is not expected to ask, which makes waiting cheaper and is no promise.
        """
        if not asks and self._events is None:
            try:
                async with asyncio.timeout(QUIET_START):
                    await self._events_until_close()
            except TimeoutError:
                pass
        while True:
            if self._ended is not None:
                return await self._last_view(self._ended)
            await self._read_on()
            if self._ended is None and not self._task_pending and not self._pending:
                view = await self.view()
                if view.waiting or view.over:
                    return view

    async def view(self) -> RunView:
        """Return what the run shows now, by one query."""
        view: RunView = await self._handle.query(VIEW_QUERY, result_type=RunView)
        return view

    async def look(self) -> RunView:
        """Return what the run shows now, or showed at its end, without waiting for anything."""
        description = await self._handle.describe()
        if description.status == WorkflowExecutionStatus.RUNNING:
            return await self.view()
        await self._events_until_close()
        return await self._last_view(self._ended) if self._ended else await self.view()

    async def _events_until_close(self) -> None:
        closing = self._handle.fetch_history_events(
            wait_new_event=True, event_filter_type=WorkflowHistoryEventFilterType.CLOSE_EVENT, skip_archival=True
        )
        async for event in closing:
            self._ended = event

    async def _read_on(self) -> None:
        """Wait for the next batch of events and take it in."""
        if self._events is None:
            self._events = self._handle.fetch_history_events(wait_new_event=True, skip_archival=True)
        await self._events.fetch_next_page()
        for event in self._events.current_page or ():
            self._take_in(event)

    def _take_in(self, event: HistoryEvent) -> None:
        kind = event.event_type
        if kind in _BEGIN:
            self._pending += 1
        elif kind in _END:
            self._pending -= 1
        elif kind == EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
            self._task_pending = True
        elif kind == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            self._task_pending = False
        elif kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED or kind in _CUT_SHORT:
            self._ended = event

    async def _last_view(self, event: HistoryEvent) -> RunView:
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
            payloads = event.workflow_execution_completed_event_attributes.result.payloads
            (view,) = await self._client.data_converter.decode(payloads, [RunView])
            return RunView.model_validate(view)
        # Terminated, say: no code of ours ran at its end, so what it shows is what it was doing then.
        view = await self.view()
        return view.model_copy(update={"state": "left", "text": words(view.language).ended_outside(), "waiting": ()})
