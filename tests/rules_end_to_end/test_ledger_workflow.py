"""The ledger as a workflow: a ticket takes room once, and nothing is forgotten when it continues as new.

The server suggests that after some thousands of events; this one does after sixty, by the setting it has for that.
"""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
from amends.client import dev_server
from amends.client.embedded import EmbeddedServer
from amends.contract.caps import Reservation, Settlement, Want
from amends.contract.names import CAPS_WORKFLOW, RESERVE_UPDATE, SETTLE_UPDATE, VIEW_QUERY, caps_workflow_id
from amends.rulebook.ledger import LedgerState
from amends.worker.serving import serving
from temporalio.client import Client, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter

DAY = "2026-03-05"


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[Client]:
    soon = "limit.historyCount.suggestContinueAsNew=60"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dev_server, "_DYNAMIC_CONFIG", (*dev_server._DYNAMIC_CONFIG, soon))
        async with await EmbeddedServer.open(None) as server:
            yield await Client.connect(server.address, data_converter=pydantic_data_converter)


async def reserve(ledger: WorkflowHandle[Any, Any], ticket: str, *, limit: int = 30) -> bool:
    want = Want(rule="r", counted="charge_card calls", amount=Decimal(1), limit=Decimal(limit))
    asked = Reservation(ticket=ticket, day=DAY, wants=(want,))
    answer: dict[str, bool] = await ledger.execute_update(RESERVE_UPDATE, asked, result_type=dict[str, bool])
    return answer["r"]


async def test_the_ledger_keeps_what_is_taken_and_open_across_executions(client, ruled, task_queue):
    bench = ruled("rules: []\n")
    async with serving(client, [bench.agent], task_queue=task_queue):
        name = caps_workflow_id(bench.agent.name)
        await client.start_workflow(CAPS_WORKFLOW, None, id=name, task_queue=task_queue)
        ledger = client.get_workflow_handle(name)
        assert await reserve(ledger, "first")
        assert await reserve(ledger, "first")
        for number in range(25):
            assert await reserve(ledger, f"t{number}")
            await ledger.execute_update(SETTLE_UPDATE, Settlement(ticket=f"t{number}", keep=number % 5 != 0))
        history = await ledger.fetch_history()
        began = history.events[0].workflow_execution_started_event_attributes
        state = await ledger.query(VIEW_QUERY, result_type=LedgerState)
        assert began.continued_execution_run_id
        assert state.taken == {DAY: {"charge_card calls": Decimal(21)}}
        assert list(state.open[DAY]) == ["first"]
        await ledger.execute_update(SETTLE_UPDATE, Settlement(ticket="first", keep=False))
        assert not await reserve(ledger, "one more", limit=20)
        assert await reserve(ledger, "one more", limit=21)


async def test_a_ledger_that_is_cancelled_forgets_nothing(client, ruled, task_queue):
    bench = ruled("rules: []\n")
    async with serving(client, [bench.agent], task_queue=task_queue):
        name = caps_workflow_id(f"{bench.agent.name}-cancelled")
        ledger = await client.start_workflow(CAPS_WORKFLOW, None, id=name, task_queue=task_queue)
        assert await reserve(ledger, "first", limit=1)
        await ledger.cancel()
        assert not await reserve(ledger, "second", limit=1)
