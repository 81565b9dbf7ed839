"""A session that continues as new forgets nothing (SPEC 7.1).

The server suggests it after some thousands of events; this one does after sixty, by the setting it has for that.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest
from amends.client import dev_server
from amends.client.embedded import EmbeddedServer
from amends.contract.names import LANGUAGE_UPDATE, session_workflow_id
from amends.rulebook.effects import AtMost
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import eventually, make_bench, run_of, settled
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

LOOK = "get_order(order_id=4411)"
NOTE = "add_note(order_id=4411, text=x)"


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[Client]:
    soon = "limit.historyCount.suggestContinueAsNew=60"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dev_server, "_DYNAMIC_CONFIG", (*dev_server._DYNAMIC_CONFIG, soon))
        async with await EmbeddedServer.open(None) as server:
            yield await Client.connect(server.address, data_converter=pydantic_data_converter)


@pytest.fixture
def bench() -> ToolBench:
    return make_bench(AtMost(id="three_notes", actions=("add_note",), calls=3, say="three notes are enough"))


async def executions(desk: Desk) -> int:
    """Return how many executions the desk's session has had: one more than it continued as new."""
    count, run_id = 1, None
    client = run_of(desk, "")._client
    while True:
        handle = client.get_workflow_handle(session_workflow_id(desk.name, desk.user), run_id=run_id)
        first = (await handle.fetch_history()).events[0].workflow_execution_started_event_attributes
        if not first.continued_execution_run_id:
            return count
        count, run_id = count + 1, first.continued_execution_run_id


@pytest.mark.recorded("session_before_it_continues_as_new", of="first session")
async def test_turn_after_turn_nothing_is_forgotten(bench: ToolBench, desk: Desk):
    noted = await desk.chat(NOTE, user=desk.user, key="the first note")
    noted = await desk.confirm(desk.user, "approve")
    await run_of(desk, session_workflow_id(desk.name, desk.user)).execute_update(LANGUAGE_UPDATE, "pt-BR")
    for number in range(15):
        reply = await desk.order(NOTE if number in (6, 12) else LOOK)
        assert reply.text == ("Feito: add_note." if number in (6, 12) else "Feito: get_order.")
    assert await executions(desk) >= 3
    session = await settled(desk)
    assert len(session.runs) == 16
    assert session.runs[0].run == noted.run
    assert len(session.memory) == 48
    assert [call.context.step for call in bench.calls] == list(range(1, 17))
    assert len({call.context.session for call in bench.calls}) == 1
    assert len({call.key for call in bench.calls}) == 16
    again = await desk.chat(NOTE, user=desk.user, key="the first note")
    assert (again.run, again.text) == (noted.run, noted.text)
    refused = await desk.order(NOTE)
    assert refused.text == "Esta execução parou: add_note foi recusada (three_notes: three notes are enough)."


@pytest.mark.recorded("session_continued_as_new", of="session")
async def test_under_load_no_turn_is_lost_or_taken_twice(bench: ToolBench, desk: Desk):
    replies = await asyncio.gather(*(desk.chat(LOOK, user=desk.user, queue=True) for _ in range(6)))
    for _ in range(2):
        replies += await asyncio.gather(*(desk.chat(LOOK, user=desk.user, queue=True) for _ in range(6)))
    assert sorted(step.number for reply in replies for step in reply.steps) == list(range(1, 19))
    assert len({reply.run for reply in replies}) == 18
    assert len({call.key for call in bench.calls}) == len(bench.calls) == 18
    await desk.order(LOOK)

    async def continued() -> bool:
        return await executions(desk) > 1

    await eventually(continued)
    assert [line.state for line in (await settled(desk)).runs] == ["done"] * 19


async def test_it_continues_as_new_even_while_turns_are_always_queued(bench: ToolBench, desk: Desk):
    async def speak() -> None:
        for _ in range(8):
            await desk.chat(LOOK, user=desk.user, queue=True)

    await asyncio.gather(*(speak() for _ in range(3)))
    assert len(bench.names) == 24
    assert len((await settled(desk)).runs) == 24
    history = await run_of(desk, session_workflow_id(desk.name, desk.user)).fetch_history()
    assert len(history.events) < 300


async def test_it_does_not_continue_as_new_while_a_run_is_open(bench: ToolBench, desk: Desk):
    await desk.order(LOOK)
    before = await executions(desk)
    await desk.chat(NOTE, user=desk.user)
    session = run_of(desk, session_workflow_id(desk.name, desk.user))
    for _ in range(30):
        await session.execute_update(LANGUAGE_UPDATE, None)
    history = await session.fetch_history()
    assert len(history.events) > 60
    assert history.events[-1].event_type != EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW
    assert await executions(desk) == before
    await desk.confirm(desk.user, "approve")
    assert (await desk.order(LOOK)).state == "done"
    assert await executions(desk) == before + 1
    assert len((await settled(desk)).runs) == 3
