"""Doubts that the target or the worker settles; stops, priorities, tools no worker has (SPEC 3.5, 5.5, 6.6, 8.4)."""

import asyncio
import dataclasses
import time

import pytest
from amends.contract.names import STOP_SIGNAL
from amends.contract.run import RunView
from amends.contract.tool import QueryBinding
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.histories.recording import KeepHistory
from amends.tools.loader import LoadedAgent
from amends.worker.serving import make_worker
from temporalio.client import Client

CHARGE_THEN_STOCK = "update_crm(order_id=4411); charge_card(order_id=4411, amount=40.00); get_stock(item=1)"


def with_words(agent: LoadedAgent, tool: str, **words: object) -> LoadedAgent:
    """The agent with other words of one tool's contract."""
    changed = agent.tools[tool].contract.model_copy(update=words)
    return dataclasses.replace(
        agent, tools={**agent.tools, tool: dataclasses.replace(agent.tools[tool], contract=changed)}
    )


async def over(desk: Desk, run: str) -> RunView:
    """Wait until a run is over, whether it asks or not."""
    while not (view := await desk.run(run)).over:
        await asyncio.sleep(0.02)
    return view


@pytest.fixture
def asked(bench: ToolBench) -> ToolBench:
    """The bench of an agent whose charges can be looked up, with a limit of half a second."""
    query = QueryBinding(tool="get_order", arguments={"order_id": "$args.order_id"})
    agent = with_words(bench.agent, "charge_card", outcome_query=query, timeout_ms=500, retry_safe=False)
    return ToolBench(agent)


@pytest.mark.recorded("target_says_it_happened")
async def test_g067_g070_the_target_is_asked_before_a_person_and_its_result_is_undone_by(
    asked: ToolBench, client: Client, task_queue: str, keep_history: KeepHistory
):
    asked.on("charge_card").raises(TimeoutError())
    asked.on("get_order").returns({"happened": True, "result": {"charge_id": "ch_9", "id": "ch_9"}})
    asked.on("get_stock").raises(RuntimeError("down"))
    async with open_desk(client, asked.agent, task_queue=task_queue) as desk:
        reply = await desk.order(CHARGE_THEN_STOCK, "approve")
    assert reply.text.startswith("This run stopped: get_stock failed (RuntimeError). Undone, latest first: charge_card")
    assert reply.steps[1].evidence == ("get_order: it happened",)
    charge, lookup = asked.called("charge_card")[0], asked.called("get_order")[0]
    assert lookup.key == charge.key, "the query carries the write's key, to look it up by"
    assert len(asked.called("charge_card")) == 1
    await keep_history(reply.run)


@pytest.mark.recorded("target_says_it_did_not_happen")
async def test_g068_the_targets_no_is_believed_only_once_the_call_can_no_longer_land(
    asked: ToolBench, client: Client, task_queue: str, keep_history: KeepHistory
):
    begun: list[float] = []

    async def timed(_: BenchCall) -> object:
        begun.append(time.monotonic())
        raise TimeoutError

    asked.on("charge_card").does(timed)
    asked.on("get_order").returns(False)
    async with open_desk(client, asked.agent, task_queue=task_queue) as desk:
        reply = await desk.order(CHARGE_THEN_STOCK, "approve")
    assert time.monotonic() - begun[0] > 0.5, "the limit of the call, and some grace"
    assert asked.names[-1] == "restore_crm"
    assert reply.text == (
        "This run stopped: charge_card did not happen, said get_order. "
        "Undone, latest first: update_crm (by restore_crm)."
    )
    assert reply.steps[1].evidence == ("get_order: it did not happen", "get_order: it did not happen")
    await keep_history(reply.run)


async def test_a_target_that_finds_it_on_the_second_look_is_believed(asked: ToolBench, client: Client, task_queue: str):
    asked.on("charge_card").raises(TimeoutError())
    asked.on("get_order").returns(False).returns({"happened": True, "result": {"charge_id": "ch_9", "id": "ch_9"}})
    async with open_desk(client, asked.agent, task_queue=task_queue) as desk:
        reply = await desk.order(CHARGE_THEN_STOCK, "approve")
    assert reply.state == "done"
    assert reply.steps[1].state == "done"


@pytest.mark.parametrize(
    "answer", [None, "yes", 1, {"happened": "true"}, {"status": "paid"}, [], LookupError("no index")]
)
async def test_g069_a_target_that_cannot_tell_leaves_it_to_a_person(
    asked: ToolBench, client: Client, task_queue: str, answer: object
):
    asked.on("charge_card").raises(TimeoutError())
    query = asked.on("get_order")
    _ = query.raises(answer) if isinstance(answer, Exception) else query.returns(answer)
    async with open_desk(client, asked.agent, task_queue=task_queue) as desk:
        reply = await desk.order("charge_card(order_id=4411, amount=40.00)", "approve", "happened")
    assert reply.state == "done"
    assert reply.steps[0].evidence == ("get_order: it cannot tell", f"{desk.user}: happened")


@pytest.mark.recorded("worker_reports_late")
async def test_a_call_that_ends_after_its_deadline_settles_its_own_doubt(
    bench: ToolBench, client: Client, task_queue: str, keep_history: KeepHistory
):
    async def late(_: BenchCall) -> object:
        try:
            await asyncio.sleep(0.8)
        except asyncio.CancelledError:
            await asyncio.sleep(2.5)
        return {"charge_id": "ch_late", "id": "ch_late"}

    agent = with_words(bench.agent, "charge_card", timeout_ms=500, retry_safe=False)
    slow = ToolBench(agent)
    slow.on("charge_card").does(late)
    async with open_desk(client, slow.agent, task_queue=task_queue) as desk:
        reply = await desk.chat("charge_card(order_id=4411, amount=40.00)", user=desk.user)
        reply = await desk.confirm(desk.user, "approve")
        assert reply.waiting[0].text == "Did charge_card take effect? The call was sent and no answer came back."
        view = await over(desk, reply.run)
    assert view.state == "done"
    assert view.waiting == ()
    assert view.steps[0].evidence == ("the worker reported late: done",)
    await keep_history(reply.run)


async def test_a_stop_undoes_what_was_done_and_says_who_and_why(bench: ToolBench, desk: Desk, client: Client):
    reply = await desk.chat("update_crm(order_id=4411); charge_card(order_id=4411, amount=40.00)", user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    await client.get_workflow_handle(reply.run).signal(STOP_SIGNAL, {"by": "ana", "reason": "the customer called."})
    view = await over(desk, reply.run)
    assert view.text == (
        "This run stopped: stopped by ana: the customer called. Undone, latest first: update_crm (by restore_crm)."
    )
    assert bench.names == ["update_crm", "restore_crm"]


@pytest.mark.parametrize("raw", [None, "now", 17, {"by": 3}, []])
async def test_a_stop_of_any_form_stops(bench: ToolBench, desk: Desk, client: Client, raw: object):
    reply = await desk.chat("update_crm(order_id=4411)", user=desk.user)
    await client.get_workflow_handle(reply.run).signal(STOP_SIGNAL, raw)
    view = await over(desk, reply.run)
    assert view.text == "This run stopped: stopped by an operator."
    assert bench.names == []


@pytest.mark.recorded("undo_with_a_priority")
async def test_an_undo_with_a_priority_goes_first(
    bench: ToolBench, client: Client, task_queue: str, keep_history: KeepHistory
):
    ahead = ToolBench(with_words(bench.agent, "charge_card", undo_priority=1))
    ahead.on("get_stock").raises(RuntimeError("down"))
    async with open_desk(client, ahead.agent, task_queue=task_queue) as desk:
        reply = await desk.order(
            "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411); get_stock(item=1)", "approve"
        )
    assert reply.undone == ("charge_card", "update_crm")
    await keep_history(reply.run)


async def test_a_call_waits_for_a_worker_that_has_its_tool_and_says_so(
    bench: ToolBench, client: Client, task_queue: str
):
    """A worker without the tool never substitutes anything; the next one that has it goes on (SPEC 3.5)."""
    tools = {name: tool for name, tool in bench.agent.tools.items() if name != "update_crm"}
    lacking = dataclasses.replace(bench.agent, tools=tools)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.chat("update_crm(order_id=4411)", user=desk.user)
    workers = [make_worker(client, [lacking], task_queue=task_queue)]
    async with open_desk(client, bench.agent, task_queue=task_queue, user=desk.user, workers=workers) as desk:
        confirming = asyncio.create_task(desk.confirm(desk.user, "approve"))
        while not (view := await desk.run(reply.run)).notice:
            await asyncio.sleep(0.02)
        confirming.cancel()
    assert view.notice == "Waiting for a worker that has update_crm as it was when this run started."
    async with open_desk(client, bench.agent, task_queue=task_queue, user=desk.user) as desk:
        assert (await over(desk, reply.run)).state == "done"
    assert bench.names == ["update_crm"]
