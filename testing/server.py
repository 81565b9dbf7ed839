"""A Temporal server for the length of a test run."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from ..client.blocking import SETTLE
from ..client.embedded import EmbeddedServer

__all__ = ["open_server"]


@asynccontextmanager
async def open_server() -> AsyncIterator[Client]:
    """Start a server in memory, on a port the kernel chooses, and yield a client of it; stop it when the block ends.

    One serves a whole test run: give each test a task queue of its own.

    Raises:
        Unreachable: the server cannot be started; the message says why and what to do.
    """
    async with await EmbeddedServer.open(None) as server:
        try:
            yield await Client.connect(
                server.address, namespace=server.namespace, data_converter=pydantic_data_converter
            )
        finally:
            # An interpreter that ends right after its last worker did may crash with all work done.
            await asyncio.sleep(SETTLE)
