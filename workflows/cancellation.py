"""Keeping a request to stop as a fact, instead of letting it cut a call or a rollback in half (SPEC 6.4, 8.4).

Temporal delivers a cancel request by raising ``asyncio.CancelledError`` at whatever the workflow is waiting for. A
write that is given up at that moment lands later, after its undo; a rollback that is given up leaves writes that
nobody undoes. So every wait of a run goes through this class: the request is noted, the wait goes on where it must, and
the run looks at `is_requested` at the places where stopping is safe. A request that arrives in the very moment a call
ends may be swallowed by the SDK; the flag is looked at again before each call, and nothing is lost but that moment.

Only ``CancelledError`` is caught. When the worker evicts a workflow from its cache, the SDK ends each wait with an
error of its own that is no ``Exception``, and that one must pass.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from temporalio import workflow

from .traces import leave_a_trace

__all__ = ["Cancellation", "Recalled"]

_T = TypeVar("_T")


class Recalled(Exception):  # noqa: N818 - it names what happened
    """A call was recalled before Temporal had it, so it was never sent."""


class Cancellation:
    """The request to stop one workflow: whether it came, from whom, and waits that outlast it.

    It comes as Temporal's cancel request, or as a ``stop`` of a person, who gives a name and a reason.
    """

    def __init__(self) -> None:
        self.by = ""
        self.reason = ""
        self._requested = False

    def is_requested(self) -> bool:
        """Say whether the workflow was asked to stop. It may become true at any wait, and never false again."""
        return self._requested

    def request(self, *, by: str = "", reason: str = "") -> None:
        """Note a request to stop. The first one counts; further ones change nothing."""
        if not self._requested:
            self._requested, self.by, self.reason = True, by, reason
            leave_a_trace("a request to stop")

    async def outlast(self, handle: "asyncio.Task[_T]") -> _T:
        """Wait for ``handle`` to end by itself, never cancelling it; pass on what it did."""
        while True:
            try:
                return await asyncio.shield(handle)
            except asyncio.CancelledError:
                if handle.cancelled():
                    raise Recalled from None
                self.request()

    async def outlast_or_recall(self, handle: "asyncio.Task[_T]") -> _T:
        """Wait as `outlast` does, but once a stop is requested, recall ``handle``: what was not started then ends.

        The handle must be one that waits for its cancellation to complete, so that it always ends with the truth.

        Raises:
            Recalled: it was recalled before it was so much as scheduled.
        """
        await self.wait(handle.done)
        if not handle.done():
            handle.cancel()
        return await self.outlast(handle)

    async def wait(self, condition: Callable[[], bool], *, until: datetime | None = None, summary: str = "") -> None:
        """Wait until ``condition`` holds, a stop is requested or the time ``until`` comes, whichever is first.

        ``summary`` is what Temporal's UI says of the timer.
        """
        await self.wait_through(lambda: self._requested or condition(), until=until, summary=summary)

    async def wait_through(
        self, condition: Callable[[], bool], *, until: datetime | None = None, summary: str = ""
    ) -> None:
        """Wait until ``condition`` holds or the time ``until`` comes, whatever is requested meanwhile."""
        while not condition() and (until is None or workflow.now() < until):
            try:
                left = until - workflow.now() if until else None
                await workflow.wait_condition(condition, timeout=left, timeout_summary=summary or None)
            except asyncio.CancelledError:
                self.request()
            except TimeoutError:
                return

    async def sleep_through(self, duration: timedelta, summary: str) -> None:
        """Sleep for the whole duration, whatever is requested meanwhile."""
        end = workflow.now() + duration
        while (left := end - workflow.now()) > timedelta(0):
            try:
                await workflow.sleep(left, summary=summary)
            except asyncio.CancelledError:
                self.request()
