"""Tools and callers that do what none should, and what becomes of the run (SPEC 4.4, 5.3, 8.4)."""

import asyncio
import dataclasses
import functools
import inspect
from collections.abc import Callable

import pytest
from amends.contract.errors import Conflict
from amends.contract.names import ANSWER_SIGNAL, STOP_SIGNAL
from amends.contract.question import LARGEST_SUPPLIED
from amends.contract.run import RunView
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tools.tool import Tool
from amends.worker.serving import make_worker
from amends.workflows import sending
from temporalio.client import Client

CHARGE = "charge_card(order_id=4411, amount=40.00)"


def nested(levels: int) -> dict[str, object]:
    return {"a": nested(levels - 1)} if levels else {}


async def over(desk: Desk, run: str) -> RunView:
    async with asyncio.timeout(20):
        while not (view := await desk.run(run)).over:
            await asyncio.sleep(0.02)
    return view


def with_function(bench: ToolBench, name: str, function: Callable[..., object]) -> ToolBench:
    """A bench whose agent has another body, not scripted, for one tool."""
    tool = bench.agent.tools[name]
    own = dataclasses.replace(tool.signature, context=None)
    changed: Tool = dataclasses.replace(
        tool, function=function, is_async=inspect.iscoroutinefunction(function), signature=own
    )
    bench.agent = dataclasses.replace(bench.agent, tools={**bench.agent.tools, name: changed})
    return bench


@pytest.mark.parametrize("how", ["stop", "cancel"])
async def test_a_stop_between_two_tries_sends_no_more_and_wedges_nothing(
    bench: ToolBench, client: Client, task_queue: str, monkeypatch: pytest.MonkeyPatch, how: str
):
    monkeypatch.setattr(sending, "PAUSES", (sending.PAUSES[0] * 50, sending.PAUSES[1]))
    bench.on("get_order").raises(TimeoutError())
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        chatting = asyncio.create_task(desk.chat("get_order(order_id=4411)", user=desk.user))
        while not bench.names:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        handle = client.get_workflow_handle((await desk.session(desk.user)).open_run)
        await (handle.signal(STOP_SIGNAL, {"by": "ana"}) if how == "stop" else handle.cancel())
        async with asyncio.timeout(10):
            reply = await chatting
    assert reply.over
    assert bench.names == ["get_order"]


async def test_a_stop_during_the_last_write_undoes_it(bench: ToolBench, desk: Desk, client: Client):
    async def stopped_meanwhile(call: BenchCall) -> object:
        await client.get_workflow_handle(call.context.run).signal(STOP_SIGNAL, {"by": "ana", "reason": "fraud"})
        await asyncio.sleep(0.2)
        return {"charge_id": "ch_1", "id": "ch_1"}

    bench.on("charge_card").does(stopped_meanwhile)
    reply = await desk.order(CHARGE)
    assert reply.text == (
        "This run stopped: stopped by ana: fraud. In flight when it was stopped: charge_card, which took effect. "
        "Undone, latest first: charge_card (by refund_card)."
    )


async def test_a_wrapper_that_runs_its_coroutine_itself_is_called_as_what_it_is(
    bench: ToolBench, client: Client, task_queue: str
):
    async def inner(**arguments: object) -> dict[str, object]:
        return {"charge_id": "ch_1", "id": "ch_1"}

    @functools.wraps(inner)
    def wrapped(**arguments: object) -> object:
        return asyncio.run(inner(**arguments))

    async with open_desk(client, with_function(bench, "charge_card", wrapped).agent, task_queue=task_queue) as desk:
        assert (await desk.order(CHARGE)).state == "done"


async def test_a_forgotten_await_still_runs(bench: ToolBench, client: Client, task_queue: str):
    ran: list[str] = []

    async def effect() -> dict[str, object]:
        ran.append("charged")
        return {"charge_id": "ch_1", "id": "ch_1"}

    def forgot(**arguments: object) -> object:
        return effect()

    async with open_desk(client, with_function(bench, "charge_card", forgot).agent, task_queue=task_queue) as desk:
        assert (await desk.order(CHARGE)).state == "done"
    assert ran == ["charged"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), StopIteration(), type("NotFoundError", (BaseException,), {})()])
async def test_an_error_of_any_class_is_an_outcome(
    bench: ToolBench, client: Client, task_queue: str, error: BaseException
):
    def raising(**arguments: object) -> object:
        raise error

    async with open_desk(client, with_function(bench, "charge_card", raising).agent, task_queue=task_queue) as desk:
        async with asyncio.timeout(10):
            reply = await desk.order(CHARGE)
    assert reply.over
    assert len(reply.steps) == 1
    assert reply.steps[0].attempts == 1


async def test_another_agents_worker_on_the_same_queue_does_not_do_its_work(
    bench: ToolBench, client: Client, task_queue: str
):
    stranger = ToolBench(dataclasses.replace(bench.agent, name="stranger"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.chat(CHARGE, user=desk.user)
    workers = [make_worker(client, [stranger.agent], task_queue=task_queue)]
    async with open_desk(client, bench.agent, task_queue=task_queue, user=desk.user, workers=workers) as desk:
        confirming = asyncio.create_task(desk.confirm(desk.user, "approve"))
        async with asyncio.timeout(10):
            while not (await desk.run(reply.run)).notice:
                await asyncio.sleep(0.02)
        confirming.cancel()
    assert stranger.names == []
    async with open_desk(client, bench.agent, task_queue=task_queue, user=desk.user) as desk:
        assert (await over(desk, reply.run)).state == "done"
    assert bench.names == ["charge_card"]


@pytest.mark.parametrize("result", [{"id": "x" * LARGEST_SUPPLIED}, nested(100)])
async def test_a_supplied_result_that_is_too_large_or_too_deep_changes_nothing(
    bench: ToolBench, desk: Desk, client: Client, result: object
):
    bench.on("charge_card").raises(TimeoutError())
    reply = await desk.chat(CHARGE, user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    answer = {"question_id": reply.waiting[0].id, "answer": "happened", "by": "ana", "result": result}
    await client.get_workflow_handle(reply.run).signal(ANSWER_SIGNAL, answer)
    view = await desk.run(reply.run)
    assert [told.reason for told in view.answers if not told.accepted] == ["malformed"]
    assert view.waiting == reply.waiting


async def test_a_turn_that_does_not_queue_is_told_at_once_though_others_wait(bench: ToolBench, desk: Desk):
    await desk.chat(CHARGE, user=desk.user)
    waiting = [
        asyncio.create_task(desk.chat(f"get_order(order_id={number})", user=desk.user, queue=True))
        for number in range(4411, 4414)
    ]
    await asyncio.sleep(0.2)
    async with asyncio.timeout(5):
        with pytest.raises(Conflict, match="still open"):
            await desk.chat("get_order(order_id=1)", user=desk.user)
    await desk.confirm(desk.user, "approve")
    async with asyncio.timeout(10):
        assert {reply.state for reply in await asyncio.gather(*waiting)} == {"done"}


@pytest.mark.parametrize("user", ["corp\\ana", 'a"b', "o'brien", "a:b"])
async def test_runs_are_listed_for_users_of_any_name(desk: Desk, user: str):
    reply = await desk.chat("get_order(order_id=4411)", user=user)
    async with asyncio.timeout(10):
        while reply.run not in [each.run for each in await desk.runs(user=user)]:
            await asyncio.sleep(0.05)
    assert {each.user for each in await desk.runs(user=user)} == {user}
