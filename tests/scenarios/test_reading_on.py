"""Reading on in a run's history when the server no longer holds by the place it gave (SPEC 4.8, 12.3).

Seen on a real server once in some hundred runs: it counted a write of its own that it had lost, and refused the place
it gave in between. Here that place is made from one that it gave, by counting one write too many.
"""

import asyncio
from typing import Any

import pytest
from amends.client import history
from amends.client.following import Follower
from amends.client.history import HistoryReader
from amends.console.events import Happened, follow
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import ORDER, run_of
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode


def counts_one_write_too_many(reader: HistoryReader) -> None:
    """Change the place to read on from: its last byte is the number of writes of the run that the server counted."""
    events: Any = reader._events
    token = events.next_page_token
    events._next_page_token = token[:-1] + bytes([token[-1] + 1])


async def begun(desk: Desk) -> str:
    reply = await desk.chat(ORDER, user=desk.user)
    assert reply.waiting
    return reply.run


async def test_the_server_refuses_a_place_that_it_lost(client: Client, desk: Desk):
    run = await begun(desk)
    reader = HistoryReader(run_of(desk, run))
    assert await reader.read()
    counts_one_write_too_many(reader)
    with pytest.raises(RPCError, match=r"branch tokens, or .* transitions, don't match") as told:
        await reader._events.fetch_next_page()  # type: ignore[union-attr]
    assert told.value.status == RPCStatusCode.INVALID_ARGUMENT


async def test_whoever_waits_for_a_run_goes_on_waiting(client: Client, desk: Desk, bench: ToolBench):
    bench.on("provision_account").raises(RuntimeError("down"))
    run = await begun(desk)
    follower = Follower(client, run)
    assert (await follower.until_attention()).waiting
    for _ in range(3):
        counts_one_write_too_many(follower._history)
        since = follower.read
        waits = asyncio.create_task(follower.until_attention(since=since))
        await asyncio.sleep(2 * history.PAUSE)
        await desk.confirm(desk.user, "approve")
        view = await waits
    assert (view.over, view.state) == (True, "undone")


async def test_a_stream_tells_each_thing_once(client: Client, desk: Desk, monkeypatch: pytest.MonkeyPatch):
    run = await begun(desk)
    lost: list[HistoryReader] = []
    read = HistoryReader.read

    async def read_from_a_lost_place(self: HistoryReader) -> history.Page | None:
        if self._events is not None and not self._anew and len(lost) < 2:
            lost.append(self)
            counts_one_write_too_many(self)
        return await read(self)

    monkeypatch.setattr(HistoryReader, "read", read_from_a_lost_place)

    async def told() -> list[Happened]:
        return [each async for each in follow(client, run, lambda _: desk.run(run)) if each is not None]

    streamed = asyncio.create_task(told())
    for _ in range(3):
        await desk.confirm(desk.user, "approve")
    items = await streamed
    assert len(lost) == 2
    monkeypatch.undo()
    assert items == await told()
    assert [each.seq for each in items] == list(range(1, len(items) + 1))


async def test_what_the_server_says_to_the_first_question_is_told(client: Client, desk: Desk):
    reader = HistoryReader(client.get_workflow_handle("run:desk:nobody:none:1"))
    for _ in range(2):
        with pytest.raises(RPCError) as told:
            await reader.read()
        assert told.value.status == RPCStatusCode.NOT_FOUND
