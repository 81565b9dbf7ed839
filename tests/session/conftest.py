"""A desk on a real server whose waits are short and whose session can be made to continue as new at will."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import pytest
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.histories.recording import is_recording
from amends.tests.scenarios.stage import make_bench
from amends.workflows import rollback, sending, session
from temporalio.client import Client


@pytest.fixture(autouse=True)
def quick_waits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_recording(request.config):
        return
    quick = timedelta(milliseconds=10)
    monkeypatch.setattr(rollback, "WAITS", (quick, quick, quick))
    monkeypatch.setattr(sending, "PAUSES", (quick, quick))


@pytest.fixture
def overdue_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """With a run open, sessions continue as new after so many updates."""
    return lambda updates: monkeypatch.setattr(session, "OVERDUE_UPDATES", updates)


@pytest.fixture
def bench() -> ToolBench:
    return make_bench()


@pytest.fixture
async def desk(client: Client, bench: ToolBench, task_queue: str) -> AsyncIterator[Desk]:
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        yield desk
