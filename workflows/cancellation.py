"""Keeping a cancel request as a fact, instead of letting it cut a call or a rollback in half (SPEC 6.4).

Temporal delivers a cancel request by raising ``asyncio.CancelledError`` at whatever the workflow is waiting for. A
write that is given up at that moment lands later, after its undo; a rollback that is given up leaves writes that
nobody undoes. So every wait of a run goes through this class: the request is noted, the wait goes on where it must, and
the run looks at `requested` at the places where stopping is safe. A request that arrives in the very moment a call
ends may be swallowed by the SDK; the flag is looked at again before each call, and nothing is lost but that moment.

Only ``CancelledError`` is caught. When the worker evicts a workflow from its cache, the SDK ends each wait with an
error of its own that is no ``Exception``, and that one must pass.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from temporalio import workflow

__all__ = ["Cancellation"]

_T = TypeVar("_T")


class Cancellation:
    """The cancel request of one workflow: whether it came, and waits that outlast it."""

    def __init__(self) -> None:
        self.requested = False

    async def outlast(self, handle: "asyncio.Task[_T]") -> _T:
        """Wait for ``handle`` to end by itself, never cancelling it, and return or raise what it did."""
        while True:
            try:
                return await asyncio.shield(handle)
            except asyncio.CancelledError:
                self.requested = True

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until ``condition`` holds or a cancel request comes, whichever is first."""
        try:
            await workflow.wait_condition(lambda: self.requested or condition())
        except asyncio.CancelledError:
            self.requested = True

    async def wait_through(self, condition: Callable[[], bool]) -> None:
        """Wait until ``condition`` holds, whatever is requested meanwhile."""
        while not condition():
            try:
                await workflow.wait_condition(condition)
            except asyncio.CancelledError:
                self.requested = True

    async def sleep_through(self, duration: timedelta, summary: str) -> None:
        """Sleep for the whole duration, whatever is requested meanwhile."""
        end = workflow.now() + duration
        while (left := end - workflow.now()) > timedelta(0):
            try:
                await workflow.sleep(left, summary=summary)
            except asyncio.CancelledError:
                self.requested = True
