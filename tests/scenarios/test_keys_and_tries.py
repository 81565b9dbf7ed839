"""Keys and tries: what is sent again, how often, and under which key (SPEC 5.1 to 5.4)."""

import re

import pytest
from amends.contract.keys import idempotency_key
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import ORDER, make_bench
from temporalio.client import Client

SLOT = "book_slot(order_id=4411)"
CHARGE = "charge_card(order_id=4411, amount=40.00)"
BOOKED = {"booking": {"slots": [{"id": "slot-9"}]}}


async def test_every_write_and_every_undo_has_a_key_of_its_own(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    await desk.order(ORDER)
    keys = [call.key for call in bench.calls]
    assert len(set(keys)) == len(keys) == 5
    assert all(re.fullmatch(r"[0-9a-f]{64}", key) for key in keys)


async def test_g088_a_key_is_made_of_the_session_the_step_the_tool_and_the_arguments(bench: ToolBench, desk: Desk):
    bench.on("update_crm").raises(RuntimeError("down"))
    reply = await desk.order(f"{CHARGE}; update_crm(order_id=4411)")
    session = bench.calls[0].context.session
    arguments = {"order_id": "4411", "amount": "40.00"}
    assert bench.calls[0].key == idempotency_key(session=session, step=1, tool="charge_card", arguments=arguments)
    assert reply.steps[0].key == bench.calls[0].key
    undo = reply.steps[0].undo
    assert undo is not None
    assert undo.key == bench.called("refund_card")[0].key
    assert undo.key == idempotency_key(
        session=session,
        step=1,
        tool="refund_card",
        arguments={"charge_id": "charge_card-1", "amount": "40.00"},
        undo=True,
    )


async def test_g054_the_same_call_said_twice_is_two_calls(bench: ToolBench, desk: Desk):
    await desk.order(f"{CHARGE}; {CHARGE}")
    await desk.order(CHARGE)
    assert len({call.key for call in bench.calls}) == 3


async def test_an_undo_that_is_the_write_itself_has_another_key(bench: ToolBench, desk: Desk):
    bench.on("get_order").raises(RuntimeError("down"))
    await desk.order("label(add=x, remove=x); get_order(order_id=4411)")
    write, undo = bench.called("label")
    assert (write.arguments, write.context.step) == (undo.arguments, undo.context.step)
    assert write.key != undo.key


async def test_step_numbers_never_go_back_over_the_runs_of_a_session(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    await desk.order(ORDER, "approve")
    await desk.order(ORDER, "cancel all")
    await desk.order(ORDER, "skip")
    reply = await desk.order("get_order(order_id=4411)")
    assert [step.number for step in reply.steps] == [10]
    assert [call.context.step for call in bench.calls] == [1, 2, 3, 2, 1, 10]


async def test_a_session_of_another_person_has_other_keys(bench: ToolBench, desk: Desk):
    await desk.order(CHARGE)
    await desk.order(CHARGE, user=f"{desk.user}-other")
    assert len({call.key for call in bench.calls}) == 2


@pytest.mark.recorded("read_tried_again")
async def test_a_read_in_doubt_is_tried_twice_more_under_one_key(bench: ToolBench, desk: Desk):
    bench.on("get_order").raises(TimeoutError("slow"), times=2).returns({"id": "4411"})
    reply = await desk.order("get_order(order_id=4411)")
    assert reply.text == "Done: get_order."
    assert reply.steps[0].attempts == 3
    assert len({call.key for call in bench.calls}) == 1
    assert [call.context.attempt for call in bench.calls] == [1, 2, 3]


async def test_a_read_in_doubt_three_times_fails_the_run(bench: ToolBench, desk: Desk):
    bench.on("get_order").raises(ConnectionError("reset"))
    reply = await desk.order(f"{CHARGE}; get_order(order_id=4411)")
    assert reply.text == (
        "This run stopped: get_order failed (ConnectionError). Undone, latest first: charge_card (by refund_card)."
    )
    assert bench.names == ["charge_card", "get_order", "get_order", "get_order", "refund_card"]


@pytest.mark.recorded("retry_safe_write_tried_again")
async def test_g122_a_retry_safe_write_in_doubt_is_tried_twice_more_under_one_key(bench: ToolBench, desk: Desk):
    bench.on("book_slot").raises(TimeoutError()).raises(ConnectionResetError()).returns(BOOKED)
    reply = await desk.order(SLOT)
    assert reply.text == "Done: book_slot."
    assert len({call.key for call in bench.calls}) == 1
    assert reply.steps[0].attempts == len(bench.calls) == 3
    view = await desk.run(reply.run)
    assert [asked.kind for asked in view.asked] == ["confirm"], "one approval holds for every try"


async def test_g056_a_retry_safe_write_in_doubt_three_times_is_a_question(bench: ToolBench, desk: Desk):
    bench.on("book_slot").raises(TimeoutError())
    await desk.chat(SLOT, user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    assert reply.waiting[0].text == "Did book_slot take effect? The call was sent and no answer came back."
    assert bench.names == ["book_slot"] * 3
    await desk.answer(desk.user, "happened", result=BOOKED)


@pytest.mark.parametrize("tool", ["get_order", "book_slot", "update_crm"])
async def test_a_definite_failure_is_never_sent_again(bench: ToolBench, desk: Desk, tool: str):
    bench.on(tool).raises(ValueError("no"))
    reply = await desk.order(f"{tool}(order_id=4411)")
    assert reply.text == f"This run stopped: {tool} failed (ValueError)."
    assert bench.names == [tool]


async def test_g057_g058_g060_any_other_write_is_sent_once(bench: ToolBench, desk: Desk):
    bench.on("update_crm").raises(TimeoutError())
    await desk.chat("update_crm(order_id=4411); send_receipt(order_id=4411)", user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    assert (bench.names, reply.waiting[0].kind) == (["update_crm"], "outcome")
    await desk.answer(desk.user, "happened")
    await desk.confirm(desk.user, "cancel all")


@pytest.mark.recorded("undo_tried_again")
async def test_an_undo_that_raises_is_tried_three_more_times_under_its_own_key(bench: ToolBench, desk: Desk):
    bench.on("refund_card").raises(RuntimeError("busy"), times=3).returns({"id": "rf-1"})
    reply = await desk.order(f"{CHARGE}; update_crm(order_id=4411)", "approve", "cancel all")
    assert reply.text == (
        f"This run stopped: cancelled by {desk.user}. Undone, latest first: charge_card (by refund_card)."
    )
    refunds = bench.called("refund_card")
    assert [call.context.attempt for call in refunds] == [1, 2, 3, 4]
    assert len({call.key for call in refunds}) == 1
    undo = reply.steps[0].undo
    assert undo is not None
    assert (undo.tries, undo.failure) == (4, None)


async def test_keys_are_the_same_from_another_worker(client: Client, task_queue: str):
    first, second = make_bench(), make_bench()
    for bench in (first, second):
        bench.on("refund_card").raises(RuntimeError("busy"))
    async with open_desk(client, first.agent, task_queue=task_queue) as desk:
        await desk.order(f"{CHARGE}; update_crm(order_id=4411)", "approve", "cancel all", "abandon")
        await desk.chat(f"{CHARGE}; update_crm(order_id=4411)", user=desk.user)
        await desk.confirm(desk.user, "approve")
        reply = await desk.confirm(desk.user, "cancel all")
        assert reply.state == "stuck"
        user = desk.user
    second._scripts.clear()
    async with open_desk(client, second.agent, task_queue=task_queue, user=user) as desk:
        reply = await desk.answer(user, "retry")
    assert reply.state == "undone"
    assert second.calls[0].key == first.calls[-1].key != first.calls[0].key
