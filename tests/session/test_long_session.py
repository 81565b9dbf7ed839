"""A session of many turns forgets nothing, and its last turns cost what its first did (SPEC 7.1, 13.6).

The short form has 40 turns. ``LONG_TESTS=1`` has 2,000 of five calls each, and takes some minutes. Both print what they
measured. A server that has kept ten thousand calls in memory is slower than one that was just started, and so is a
machine that does something else meanwhile. So the last turns are measured beside the first ones of another session,
turn by turn, on the same server.
"""

import asyncio
import os
import statistics
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from amends.client import dev_server
from amends.client.embedded import EmbeddedServer
from amends.contract.names import RECORD_QUERY, session_workflow_id
from amends.contract.record import Tail
from amends.contract.session import SessionState
from amends.rulebook.effects import After, AtMost
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import make_bench, settled
from amends.tests.session.session_stage import client_of, session_of
from amends.workflows import ledger
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

LONG = bool(os.environ.get("LONG_TESTS"))
TURNS = 2_000 if LONG else 40
SAMPLE = 100 if LONG else 10
WARM = 10
"""Turns of a session before it is measured."""
CALLS = 5
SUGGEST = "limit.historyCount.suggestContinueAsNew=150"


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[Client]:
    """The long form has the server's own settings; the short one is suggested to continue as new ever so often."""
    settings = dev_server._DYNAMIC_CONFIG if LONG else (*dev_server._DYNAMIC_CONFIG, SUGGEST)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dev_server, "_DYNAMIC_CONFIG", settings)
        async with await EmbeddedServer.open(None) as server:
            yield await Client.connect(server.address, data_converter=pydantic_data_converter)


@pytest.fixture
def bench() -> ToolBench:
    capped = AtMost(id="cap", actions=("get_order",), calls=TURNS * CALLS, say="that was the last one")
    ordered = After(id="looked", actions=("add_note",), tools=("get_order",), same=("order_id",), say="look first")
    return make_bench(capped, ordered)


@dataclass
class Cost:
    """What one turn cost: seconds, and the bytes of what its run was started with."""

    seconds: float
    input_bytes: int


def turn(number: int) -> str:
    return "; ".join(f"get_order(order_id={number * CALLS + call})" for call in range(CALLS))


@pytest.mark.timeout(3_000 if LONG else 120)
async def test_a_long_session_forgets_nothing_and_its_turns_cost_the_same(
    bench: ToolBench, desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    if not LONG:
        monkeypatch.setattr(ledger, "PAGE_BYTES", 20_000)
    first = await desk.chat(turn(0), user=desk.user, key="the first")
    costs = [await cost_of(desk, number) for number in range(1, TURNS - SAMPLE)]
    young = f"{desk.user}-young"
    for number in range(WARM):
        await cost_of(desk, number, young)
    begin, end = [], []
    for number in range(SAMPLE):
        end.append(await cost_of(desk, TURNS - SAMPLE + number))
        begin.append(await cost_of(desk, WARM + number, young))
    await settled(desk)

    record = await desk.record(desk.user)
    assert record.verify() is None
    assert sum(entry.kind == "call" for entry in record.entries) == TURNS * CALLS
    said = [message.text for message in record.memory if message.role == "user"]
    assert said == [turn(number) for number in range(TURNS)]
    calls = [call for call in bench.calls if call.context.user == desk.user]
    assert [call.context.step for call in calls] == list(range(1, TURNS * CALLS + 1))
    assert len({call.key for call in calls}) == TURNS * CALLS
    refused = await desk.order("get_order(order_id=0)")
    assert refused.text == "This run stopped: get_order was refused (cap: that was the last one)."
    session = await settled(desk)
    assert (session.turns, session.runs[-1].run) == (TURNS + 1, refused.run)
    if not LONG:  # requests are remembered 200 long
        assert (await desk.chat(turn(0), user=desk.user, key="the first")).run == first.run

    sizes = [size async for size in executions_of(desk)]
    assert len(sizes) > 1
    assert max(size.argument for size in sizes) < 1024 * 1024
    tail: Tail = await session_of(desk).query(RECORD_QUERY, result_type=Tail)
    assert sum(map(len, tail.chain.lines)) < ledger.PAGE_BYTES + 20_000
    ratio = median(end) / median(begin)
    with capsys.disabled():
        print(f"\n{TURNS} turns of {CALLS} calls: p50 {median(begin):.1f} ms, then {median(end):.1f} ms: {ratio:.2f}")
        print(
            f"ms by the {SAMPLE} turns: {[round(median(costs[n : n + SAMPLE])) for n in range(0, len(costs), SAMPLE)]}"
        )
        print(f"run inputs: {begin[-1].input_bytes} bytes, then {end[-1].input_bytes}")
        print(f"{len(record.lines)} lines, {sum(map(len, record.lines))} bytes, {len(tail.chain.pages)} pages")
        print(f"{len(sizes)} executions; events {[size.events for size in sizes]}")
        print(f"history bytes {[size.bytes for size in sizes]}; argument bytes {[size.argument for size in sizes]}")
    if LONG:
        assert ratio <= 1.2


def median(costs: list[Cost]) -> float:
    return statistics.median(cost.seconds for cost in costs) * 1_000


async def cost_of(desk: Desk, number: int, user: str = "") -> Cost:
    begun = time.perf_counter()
    reply = await desk.chat(turn(number), user=user or desk.user)
    seconds = time.perf_counter() - begun
    assert reply.state == "done"
    size = 0
    if user or number >= TURNS - SAMPLE:
        started = await anext(client_of(desk).get_workflow_handle(reply.run).fetch_history_events(page_size=1))
        size = started.workflow_execution_started_event_attributes.input.ByteSize()
    await asyncio.sleep(0)
    return Cost(seconds, size)


@dataclass
class Size:
    events: int
    bytes: int
    argument: int


async def executions_of(desk: Desk) -> AsyncIterator[Size]:
    """Yield what each execution of the session came to, the latest first."""
    run_id = None
    while True:
        handle = client_of(desk).get_workflow_handle(session_workflow_id(desk.name, desk.user), run_id=run_id)
        description = await handle.describe()
        started = (await anext(handle.fetch_history_events(page_size=1))).workflow_execution_started_event_attributes
        (state,) = await client_of(desk).data_converter.decode(started.input.payloads, [SessionState])
        assert isinstance(state, SessionState)
        yield Size(description.history_length, description.raw_info.history_size_bytes, started.input.ByteSize())
        run_id = started.continued_execution_run_id
        if not run_id:
            return
