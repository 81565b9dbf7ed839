"""Worker processes that a test starts, kills and replaces."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from amends.client.embedded import EmbeddedServer
from amends.testing.witness import Witness
from amends.tests.chaos.nursery import Birth

__all__ = ["Death", "Fleet", "Nursery", "nursery"]


@dataclass(frozen=True)
class Death:
    """A worker process that is gone, and when that was noticed."""

    pid: int
    at: float


class Nursery:
    """The process that forks workers."""

    def __init__(self, process: asyncio.subprocess.Process, server: EmbeddedServer, folder: Path) -> None:
        self._process = process
        self._server = server
        self._turn = asyncio.Lock()
        self.folder = folder
        self.witness = Witness(folder / "witness.db")

    async def worker(self, task_queue: str, *, hurried: bool = False) -> int:
        """Start a worker; return its process id."""
        birth = Birth(
            address=self._server.address,
            namespace=self._server.namespace,
            task_queue=task_queue,
            witness=str(self.witness.file),
            log=str(self.folder / "workers.log"),
            hurried=hurried,
        )
        async with self._turn:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(birth.line().encode())
            await self._process.stdin.drain()
            return int(await self._process.stdout.readline())


@asynccontextmanager
async def nursery(server: EmbeddedServer, folder: Path) -> AsyncIterator[Nursery]:
    """Run a nursery while the block lasts; its workers end with it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "amends.tests.chaos.nursery",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Nursery(process, server, folder)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


def lives(pid: int) -> bool:
    """Say whether a worker is there. The nursery lets the kernel bury its children, so a dead one has no process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Fleet:
    """Some workers on one queue, each replaced as soon as it is gone."""

    def __init__(self, nursery: Nursery, task_queue: str, *, size: int, hurried: bool = False) -> None:
        self.nursery = nursery
        self.task_queue = task_queue
        self.deaths: list[Death] = []
        self.pids: list[int] = []
        self._size = size
        self._hurried = hurried

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Fleet"]:
        """Keep the fleet at its size while the block lasts, then kill it."""
        replacing = asyncio.create_task(self._replace())
        try:
            yield self
        finally:
            replacing.cancel()
            for pid in self.pids:
                if lives(pid):
                    os.kill(pid, signal.SIGKILL)

    def kill(self, pid: int) -> None:
        """Kill one of its workers with -9."""
        if lives(pid):
            os.kill(pid, signal.SIGKILL)

    async def _replace(self) -> None:
        while True:
            gone = [pid for pid in self.pids if not lives(pid)]
            self.deaths += [Death(pid, time.time()) for pid in gone]
            self.pids = [pid for pid in self.pids if pid not in gone]
            while len(self.pids) < self._size:
                self.pids.append(await self.nursery.worker(self.task_queue, hurried=self._hurried))
            await asyncio.sleep(0.02)
