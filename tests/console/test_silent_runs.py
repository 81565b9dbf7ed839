"""A run that no worker serves keeps nobody from seeing the others, and is named."""

from dataclasses import replace
from uuid import uuid4

import pytest
from amends.client.agent import AsyncAgent
from amends.client.connect import Connection
from amends.client.home import Home
from amends.client.search_attributes import ensure_search_attributes
from amends.console import desk as console_desk
from amends.console.desk import Desk
from amends.console.people import People
from amends.tests.scenarios.stage import eventually, make_bench
from amends.worker.serving import make_worker
from temporalio.client import Client


async def test_the_inbox_names_runs_that_nobody_answers_for(
    client: Client, task_queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_desk, "LOOK", 1.0)
    name = f"silent-{uuid4().hex[:6]}"
    agent = make_bench(name=name).agent
    attributes = await ensure_search_attributes(client)
    connection = Connection(client=client, embedded=None, search_attributes=attributes)
    served, unserved = (
        AsyncAgent(Home.on(replace(agent), connection, task_queue=f"{task_queue}-{each}")) for each in ("a", "b")
    )
    local = People.alone("root").local
    assert local is not None
    async with make_worker(client, [agent], task_queue=f"{task_queue}-a"):
        async with make_worker(client, [agent], task_queue=f"{task_queue}-b"):
            asked = await served.chat("update_crm(order_id=1)", user="here")
            gone = await unserved.chat("update_crm(order_id=2)", user="away")

        async def seen() -> bool:
            found = await Desk(served).inbox(local)
            return [each.user for each in found.items] == ["here"] and found.silent == [gone.waiting[0].run]

        await eventually(seen, 60)
        await served.confirm("here", "skip", question=asked.waiting[0].id)
    async with make_worker(client, [agent], task_queue=f"{task_queue}-b"):
        await unserved.confirm("away", "skip", question=gone.waiting[0].id)
