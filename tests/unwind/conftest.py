"""The stage of the unwinds: the scenarios' desk, with the engine's growing waits made short."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.histories.recording import is_recording, record_marked
from amends.tests.scenarios.stage import make_bench
from amends.workflows import doubt, rollback, sending
from temporalio.client import Client


@pytest.fixture(autouse=True)
def quick_waits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_recording(request.config):
        return
    quick = timedelta(milliseconds=10)
    monkeypatch.setattr(rollback, "WAITS", (quick, quick, quick))
    monkeypatch.setattr(sending, "PAUSES", (quick, quick))
    monkeypatch.setattr(doubt, "GRACE", timedelta(milliseconds=300))


@pytest.fixture
def bench() -> ToolBench:
    return make_bench()


@pytest.fixture
async def desk(
    client: Client, bench: ToolBench, task_queue: str, request: pytest.FixtureRequest
) -> AsyncIterator[Desk]:
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        yield desk
        await record_marked(client, desk, request)
