"""What every test may use: a real Temporal dev server for the whole run, a client of it, a task queue of one's own."""

import os
import time
import uuid
from collections.abc import AsyncIterator

import pytest
from amends.client.embedded import EmbeddedServer
from amends.tests import workflow_cache
from amends.tests.histories.recording import KeepHistory, is_recording, keep_as
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-workflow-cache", action="store_true", help="workers keep no workflow: every workflow task is a replay"
    )
    parser.addoption("--record-histories", action="store_true", help="write the histories of the recorded scenarios")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "recorded(name, of='run'): the history of this scenario is kept under that name")
    if config.getoption("--no-workflow-cache"):
        workflow_cache.switch_off()
        config.addinivalue_line("filterwarnings", workflow_cache.HARMLESS)


@pytest.fixture(scope="session")
async def temporal() -> AsyncIterator[EmbeddedServer]:
    """One server in memory for the run. A missing program fails every test that needs it, with the way out."""
    async with await EmbeddedServer.open(None) as server:
        yield server


@pytest.fixture(scope="session")
async def client(temporal: EmbeddedServer) -> Client:
    return await Client.connect(temporal.address, namespace=temporal.namespace, data_converter=pydantic_data_converter)


@pytest.fixture
def keep_history(request: pytest.FixtureRequest, client: Client) -> KeepHistory:
    """Keep the history of a workflow, given its id, under the name in the test's mark ``recorded``."""

    async def keep(workflow: str) -> None:
        (name,) = request.node.get_closest_marker("recorded").args
        if is_recording(request.config):
            await keep_as(client, workflow, name)

    return keep


@pytest.fixture
def task_queue() -> str:
    """A queue that no other test uses, so that no other test's worker takes its tasks."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture(autouse=True)
def no_outside_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the developer's own shell and home must not reach a test."""
    for name in [name for name in os.environ if name.startswith(("TEMPORAL_", "AMENDS_"))]:
        if name != "AMENDS_TEMPORAL_BIN":
            monkeypatch.delenv(name)
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", os.devnull)


def pytest_unconfigure() -> None:
    # A process that ran a Temporal worker sometimes aborts while the interpreter ends; the SDK's threads need a moment.
    time.sleep(0.5)
