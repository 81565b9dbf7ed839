"""Reading on in the history of a run that is not over, by long poll (SPEC 4.8, 12.3).

The server gives a place to read on from with each page. It may say later that the place does not hold any more: a write
of its own that it lost, a failover, an upgrade. What was read until then need not have stayed so, thus reading begins
anew with the first event, and whoever counts what was read is told to count anew.
"""

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHandle, WorkflowHistoryEventAsyncIterator
from temporalio.service import RPCError, RPCStatusCode

__all__ = ["HistoryReader", "Page", "polls"]

POLLS = (1.0, 2.0, 5.0, 15.0)
"""Seconds before a long poll is sent anew from where it stood. A server under load may miss telling a poll of an event
that came in the moment the poll began; without this, the wait would go on for the server's own 20 seconds."""
PAUSE = 0.2
"""Seconds before reading begins anew: a server whose places do not hold is not asked without end."""


class Page(NamedTuple):
    """Events that came together.

    Attributes:
        events: the events, oldest first.
        anew: they begin with the run's first event; of what was read before nothing counts any more.
    """

    events: tuple[HistoryEvent, ...]
    anew: bool


class HistoryReader:
    """Reads the history of one run from its first event on. One caller reads at a time."""

    def __init__(self, handle: WorkflowHandle[Any, Any]) -> None:
        """Make a reader; nothing is asked of the server yet."""
        self._handle = handle
        self._events: WorkflowHistoryEventAsyncIterator | None = None
        self._anew = True
        self._polls = polls()

    async def read(self) -> Page | None:
        """Wait for the next events; None where none came for a while, and the caller may read on.

        Raises:
            RPCError: what the server said, such as that it does not know the run.
        """
        if self._events is None:
            self._events, self._anew = self._handle.fetch_history_events(wait_new_event=True, skip_archival=True), True
        try:
            async with asyncio.timeout(next(self._polls)):
                await self._events.fetch_next_page()
        except TimeoutError:
            return None
        except RPCError as error:
            # All that changes from one page to the next is the place to read on from.
            if self._anew or error.status != RPCStatusCode.INVALID_ARGUMENT:
                raise
            self._events = None
            await asyncio.sleep(PAUSE)
            return None
        page = Page(tuple(self._events.current_page or ()), self._anew)
        self._anew, self._polls = False, polls()
        return page


def polls() -> Iterator[float]:
    """Yield how many seconds each long poll may take before it is sent anew, without end."""
    return itertools.chain(POLLS, itertools.repeat(POLLS[-1]))
