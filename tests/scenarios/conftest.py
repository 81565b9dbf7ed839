"""The stage of the scenarios: a bench, a desk on a real server, quick waits; and the recording of histories.

``pytest -m recorded --record-histories`` runs scenarios with the engine's real waits and writes the history of each
that is marked ``recorded`` into ``tests/histories/<version>/``.
"""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.histories.recording import is_recording, record_marked
from amends.tests.scenarios.stage import make_bench
from amends.workflows import rollback, sending
from temporalio.client import Client


@pytest.fixture(autouse=True)
def quick_waits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the growing waits short.

    They are constants of modules that pass through the sandbox, so workflow code sees them patched. A server that
    skips time would need a server of its own for each run, and would skip the deadlines that other scenarios wait for.
    Recorded histories hold the real waits, since a replay compares them.
    """
    if not is_recording(request.config):
        quick = timedelta(milliseconds=10)
        monkeypatch.setattr(rollback, "WAITS", (quick, quick, quick))
        monkeypatch.setattr(sending, "PAUSES", (quick, quick))


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
