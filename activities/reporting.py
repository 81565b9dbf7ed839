"""What a call in flight reports to the server: that its worker lives, and how far it is (SPEC 5.6, 12.3)."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from temporalio import activity

from ..contract.progress import LONGEST_NOTE, Progress

__all__ = ["Reports"]

BREATH = 0.5
"""Seconds between two reports at least, however often a tool says how far it is."""


class Reports:
    """The reports of one call, made in the background for as long as it runs."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._latest: Progress | None = None

    def say(self, done: int, total: int | None, note: str) -> None:
        """Take what a tool says of how far it is, from whatever thread."""
        self._latest = Progress(done=done, total=total, note=note[:LONGEST_NOTE], at=datetime.now(UTC))
        with suppress(RuntimeError):  # the worker is gone, and the thread of its tool is not
            self._loop.call_soon_threadsafe(self._news.set)

    async def run(self, limit: timedelta | None) -> None:
        """Report often enough that a lost worker is noticed within ``limit``; quick calls end before the first."""
        if not limit:
            return
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(limit.total_seconds() / 3):
                    await self._news.wait()
            self._news.clear()
            activity.heartbeat(*([self._latest.model_dump(mode="json")] if self._latest else []))
            await asyncio.sleep(BREATH)
