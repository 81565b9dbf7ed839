"""Locks on files that the kernel gives back when their holder ends, however it ends.

An embedded server is shared by processes that know nothing of each other and may be killed at any moment, so nothing
that a process must tidy up by itself (a pid file, a counter) can say who still uses it. ``flock`` can: a lock belongs
to an open file, and goes away with the last process that holds that file open.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no flock; EmbeddedServer says so before it comes here
    fcntl = None  # type: ignore[assignment]

__all__ = ["FileLock", "locks_supported"]

_BEAT_SECONDS = 0.02


def locks_supported() -> bool:
    """Whether this platform has the locks (all but Windows)."""
    return fcntl is not None


class FileLock:
    """One process's hold on a file: nobody's, shared with others, or its alone."""

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int:
        """The open file that holds the lock: a child that inherits it holds the lock too, until it ends."""
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._descriptor

    def try_exclusive(self) -> bool:
        """Takes or turns the hold into an exclusive one; False if another process or object holds the file."""
        return self._try(fcntl.LOCK_EX)

    def try_shared(self) -> bool:
        """Takes or turns the hold into a shared one; False if somebody holds the file exclusively."""
        return self._try(fcntl.LOCK_SH)

    async def wait_exclusive(self, seconds: float) -> bool:
        """Waits for an exclusive hold; False if somebody else held the file all the time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not self.try_exclusive():
            if loop.time() > deadline:
                return False
            await asyncio.sleep(_BEAT_SECONDS)
        return True

    @contextmanager
    def held(self, seconds: float) -> Iterator[None]:
        """Holds the file alone for a block, in a program that is not async.

        Raises:
            TimeoutError: somebody else held it all the time.
        """
        deadline = time.monotonic() + seconds
        try:
            while not self.try_exclusive():
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{self.path} is held by another")
                time.sleep(_BEAT_SECONDS)
            yield
        finally:
            self.release()

    def release(self) -> None:
        """Gives the lock back, also for a child that was forked meanwhile and inherited it unasked."""
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            self.hand_over()

    def hand_over(self) -> None:
        """Closes this process's file only: a child that was given the descriptor goes on holding the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self.descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
