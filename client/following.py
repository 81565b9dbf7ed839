"""Waiting for a run to need a person or to be over, without polling it (SPEC 4.8).

The client follows the run's history by long poll, which costs the run nothing: no event, no update slot, no worker.
From the events alone it can tell when the run is idle: every workflow task is done, and no activity is pending. An idle
run that is not over waits for a person, or for a while before it tries again, so one query then fetches what it asks.
That is one query for each question, however many calls lie between.
"""

import asyncio
import itertools
import time
from contextlib import suppress

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowHistoryEventFilterType,
)
from temporalio.service import RPCError

from ..activities.unbegun import unbegun
from ..contract.ending import cut_short
from ..contract.names import ATTENTION_QUERY, VIEW_QUERY
from ..contract.run import RunView
from .asking import ask
from .history import HistoryReader, polls

__all__ = ["Follower"]

LOOKS = (2.0, 3.0, 5.0)
"""Seconds between looks at a run that is not expected to ask. It can only ask after a call ended in doubt or an undo
failed, and both take seconds by themselves."""

LOOKS_AFTER_ANSWER = (0.3, 1.0, 3.0, 5.0)
"""The same for the last question of a plan: the answer may not have been taken; whoever gave it should know soon."""
LONGEST_BREATH = 0.2
"""Seconds at most that a client holds back before it reads on."""

_BEGIN = frozenset((EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,))
_END = frozenset(
    (
        EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
        EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED,
        EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
        EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED,
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

    def __init__(self, client: Client, run: str, *, execution: str = "") -> None:
        """Begin to follow a run, or an unwind: the execution of that Temporal run id, or the latest."""
        self.run = run
        self._client = client
        self._handle: WorkflowHandle[object, RunView] = client.get_workflow_handle(
            run, run_id=execution or None, result_type=RunView
        )
        self._history = HistoryReader(self._handle)
        self._reading = asyncio.Lock()
        self._read = 0
        self._count = 0
        self._round = 0.0
        self._pending = 0
        self._task_pending = True
        self._ended: HistoryEvent | None = None

    @property
    def handle(self) -> WorkflowHandle[object, RunView]:
        """The run's workflow handle."""
        return self._handle

    @property
    def read(self) -> int:
        """How many batches of events were read. It grows, and a caller notes it before doing something to the run."""
        return self._read

    async def until_attention(self, *, asks: bool = True, since: int = 0) -> RunView:
        """Wait until the run needs a person or is over; return what it shows then. Several callers may wait at once.

        ``asks`` False says that the run is not expected to ask, which makes waiting cheaper and is no promise.
        ``since`` is `read` as it was before the caller did what it waits for: where another caller has read on since
        then, what it waits for may have happened already, and no further event need come.
        """
        if not asks:
            return await self._until_close_or_question()
        begun = time.monotonic()
        # Half of the last round passes before there is much to read; reading then takes fewer calls to the server.
        await asyncio.sleep(min(self._round / 2, LONGEST_BREATH))
        view = await self._follow(since)
        self._round = time.monotonic() - begun
        return view

    async def _follow(self, since: int) -> RunView:
        while True:
            if self._ended is not None:
                return await self._last_view(self._ended)
            if self._read == since:
                async with self._reading:
                    while self._read == since:
                        await self._read_on()
            since = self._read
            if self._ended is None and not self._task_pending and not self._pending:
                view = await self._attention()
                if view.waiting or view.over:
                    return view

    async def _attention(self) -> RunView:
        view: RunView = await ask(self._handle, ATTENTION_QUERY, result_type=RunView)
        return view

    async def view(self) -> RunView:
        """Return what the run shows now, by one query."""
        view: RunView = await ask(self._handle, VIEW_QUERY, result_type=RunView)
        return view

    async def look(self) -> RunView:
        """Return what the run shows now, or showed at its end, without waiting for anything."""
        description = await self._handle.describe()
        if description.status == WorkflowExecutionStatus.RUNNING:
            return await self.view()
        await self._events_until_close()
        return await self._last_view(self._ended) if self._ended else await self.view()

    async def until_over(self) -> None:
        """Wait until the run is over, whatever it asks meanwhile."""
        for pause in polls():
            if self._ended is not None:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._events_until_close()

    async def _until_close_or_question(self) -> RunView:
        """Wait for the end in one call to the server, and look now and then whether something was asked after all."""
        closing = asyncio.ensure_future(self._events_until_close())
        try:
            looks = LOOKS_AFTER_ANSWER if self._read else LOOKS
            for pause in itertools.chain(looks, itertools.repeat(looks[-1])):
                await asyncio.wait((closing,), timeout=pause)
                if closing.done():
                    await closing
                    if self._ended is not None:
                        return await self._last_view(self._ended)
                view = await self._attention()
                if view.waiting or view.over:
                    return view
        finally:
            closing.cancel()
        raise AssertionError("looking never ends by itself")

    async def _events_until_close(self) -> None:
        closing = self._handle.fetch_history_events(
            wait_new_event=True, event_filter_type=WorkflowHistoryEventFilterType.CLOSE_EVENT, skip_archival=True
        )
        async for event in closing:
            self._ended = event

    async def _read_on(self) -> None:
        """Wait for the next batch of events and take it in."""
        while (page := await self._history.read()) is None:
            pass
        if page.anew:
            self._pending, self._task_pending = 0, True
        for event in page.events:
            self._take_in(event)
        before, self._count = self._count, len(page.events) + (0 if page.anew else self._count)
        # The same events once more are nothing that anybody waits for.
        if self._count != before:
            self._read += 1

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
        try:
            view = await self.view()
        except RPCError as error:
            view = await unbegun(self._client, self.run, error, execution=self._handle.run_id or "")
        return cut_short(view)
