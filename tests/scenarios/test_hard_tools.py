"""Tools as people write them: that block, exit, and return anything (SPEC 5.3, 13.3)."""

import asyncio
import dataclasses
import threading
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import make_bench, settled
from temporalio.client import Client

CHARGE_THEN_CRM = "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)"
MEGABYTES = "x" * 3_000_000


async def test_a_tool_that_is_not_async_runs_in_a_thread_and_may_block(client: Client, task_queue: str):
    seen: list[str] = []
    together = threading.Barrier(3)

    def get_order(order_id: str) -> dict[str, str]:
        seen.append(threading.current_thread().name)
        together.wait(timeout=30)
        return {"id": order_id}

    bench = make_bench()
    tool = bench.agent.tools["get_order"]
    signature = dataclasses.replace(tool.signature, context=None)
    unhurried = tool.contract.model_copy(update={"timeout_ms": 60_000})
    blocking = dataclasses.replace(tool, contract=unhurried, function=get_order, is_async=False, signature=signature)
    agent = dataclasses.replace(bench.agent, tools={**bench.agent.tools, "get_order": blocking})
    async with open_desk(client, agent, task_queue=task_queue) as desk:
        replies = await asyncio.gather(
            *(desk.chat("get_order(order_id=4411)", user=f"{desk.user}-{number}") for number in range(3))
        )
    assert {reply.state for reply in replies} == {"done"}
    assert all(name.startswith("amends-tool") for name in seen)


async def test_a_tool_that_ends_the_program_ends_neither_worker_nor_run(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(SystemExit(1))
    await desk.chat(CHARGE_THEN_CRM, user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    assert reply.waiting[0].text == "Did charge_card take effect? The call was sent and no answer came back."
    await desk.answer(desk.user, "did not happen")
    assert (await desk.order("get_order(order_id=4411)")).state == "done"


class Unprintable:
    """An object no library knows, and whose text is none."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def itself() -> list[object]:
    endless: list[object] = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    "junk",
    [
        None, 1, 0.1, float("nan"), float("inf"), "", "\ud800", b"\xff", object(), Unprintable(), {1: 2}, {(1, 2): {3}},
        {"id": Unprintable()}, [object()] * 3, itself(), Decimal("NaN"), Decimal("40.00"),
        datetime(2026, 1, 1, tzinfo=UTC), threading.Lock(), Exception, iter([1]), 10**400, "\0",
    ],
    ids=lambda junk: type(junk).__name__,
)  # fmt: skip
async def test_whatever_a_write_returns_it_took_effect(bench: ToolBench, desk: Desk, junk: object):
    bench.on("add_note").returns(junk)
    reply = await desk.order("add_note(order_id=4411, text=x)")
    assert (reply.state, reply.text) == ("done", "Done: add_note.")
    assert bench.names == ["add_note"]
    assert (await settled(desk)).runs[-1].state == "done"


async def test_an_error_that_cannot_be_printed_fails_the_run_and_no_more(bench: ToolBench, desk: Desk):
    class Mute(Exception):  # noqa: N818 - it says nothing
        def __str__(self) -> str:
            raise RuntimeError("no")

    bench.on("update_crm").raises(Mute())
    reply = await desk.order(CHARGE_THEN_CRM)
    assert (
        reply.text == "This run stopped: update_crm failed (Mute). Undone, latest first: charge_card (by refund_card)."
    )


async def test_a_result_of_three_megabytes_is_cut_to_what_its_undo_needs(bench: ToolBench, desk: Desk):
    bench.on("charge_card").returns({"id": "ch-1", "receipt": MEGABYTES})
    bench.on("update_crm").raises(RuntimeError(MEGABYTES))
    reply = await desk.order(CHARGE_THEN_CRM)
    assert reply.undone == ("charge_card",)
    assert bench.called("refund_card")[0].arguments["charge_id"] == "ch-1"
    assert reply.steps[0].result == {"id": "ch-1", "amends_left_out": 3_000_000 + len('{"id": "ch-1", "receipt": ""}')}


async def test_many_large_results_do_not_wedge_the_run(bench: ToolBench, desk: Desk):
    bench.on("get_order").returns({"id": "1", "text": "x" * 250_000})
    turn = "; ".join(["get_order(order_id=4411)"] * 9)
    async with asyncio.timeout(3):
        assert (await desk.chat(turn, user=desk.user)).state == "done"


async def test_g085_a_slow_tool_is_not_taken_for_a_lost_worker(bench: ToolBench, desk: Desk):
    async def slow(_: object) -> object:
        await asyncio.sleep(0.8)
        return {"id": "1"}

    bench.on("charge_card").does(slow)
    assert (await desk.order("charge_card(order_id=4411, amount=40.00)")).state == "done"
