"""A run that is cancelled or terminated from outside: the same world, and a truthful end (SPEC 6.4)."""

import asyncio
from datetime import timedelta

import pytest
from amends.contract.names import session_workflow_id
from amends.rulebook.effects import NotAfter
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import ORDER, eventually, make_bench, run_of, settled, view_when
from amends.workflows import rollback
from temporalio.client import Client

CHARGE_THEN_CRM = "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)"
FROM_OUTSIDE = "This run stopped: it was cancelled from outside."


class Gate:
    """A tool's body that tells when a call is in it, and ends when it is let go."""

    def __init__(self, result: object = None, *, error: Exception | None = None) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()
        self._result = result
        self._error = error

    async def __call__(self, call: BenchCall) -> object:
        self.entered.set()
        await self.open.wait()
        if self._error is not None:
            raise self._error
        return self._result or {"id": f"{call.tool}-{call.context.step}"}


async def cancel(desk: Desk, run: str) -> None:
    """Ask for the cancellation, and wait until the run's workflow has heard of it."""
    handle = run_of(desk, run)
    before = (await handle.describe()).history_length
    await handle.cancel()
    await eventually(lambda: heard(desk, run, before))


async def heard(desk: Desk, run: str, before: int) -> bool:
    description = await run_of(desk, run).describe()
    return description.history_length > before and not description.raw_description.HasField("pending_workflow_task")


@pytest.mark.recorded("cancelled_while_waiting")
async def test_g049_cancelled_while_waiting_it_undoes_what_it_did(bench: ToolBench, desk: Desk):
    await desk.chat(ORDER, user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    await cancel(desk, reply.run)
    reply = await desk.attend(reply.run)
    assert reply.text == f"{FROM_OUTSIDE} Undone, latest first: charge_card (by refund_card)."
    assert (reply.state, bench.names) == ("undone", ["charge_card", "refund_card"])
    assert [step.state for step in reply.steps] == ["undone", "declined"]
    assert reply.waiting == ()


async def test_cancelled_before_anything_was_done_it_says_so_and_no_more(bench: ToolBench, desk: Desk):
    reply = await desk.chat(ORDER, user=desk.user, language="pt-BR")
    await cancel(desk, reply.run)
    reply = await desk.attend(reply.run)
    assert reply.text == "Esta execução parou: foi cancelada de fora."
    assert (reply.state, bench.names) == ("undone", [])


@pytest.mark.recorded("cancelled_in_flight")
async def test_cancelled_while_a_call_is_in_flight_it_waits_for_the_call_and_undoes_it(bench: ToolBench, desk: Desk):
    gate = Gate()
    bench.on("charge_card").does(gate)
    reply = await desk.chat(CHARGE_THEN_CRM, user=desk.user)
    confirming = asyncio.create_task(desk.confirm(desk.user, "approve"))
    await gate.entered.wait()
    await cancel(desk, reply.run)
    assert bench.names == ["charge_card"]
    gate.open.set()
    reply = await confirming
    assert reply.text == (
        f"{FROM_OUTSIDE} In flight when it was stopped: charge_card, which took effect. "
        "Undone, latest first: charge_card (by refund_card)."
    )
    assert bench.names == ["charge_card", "refund_card"]


async def test_g047_cancelled_while_the_last_call_is_in_flight_it_tells_what_is_so(bench: ToolBench, desk: Desk):
    gate = Gate()
    bench.on("charge_card").does(gate)
    reply = await desk.chat("charge_card(order_id=4411, amount=40.00)", user=desk.user)
    confirming = asyncio.create_task(desk.confirm(desk.user, "approve"))
    await gate.entered.wait()
    await cancel(desk, reply.run)
    gate.open.set()
    reply = await confirming
    done = (reply.text, bench.names) == ("Done: charge_card.", ["charge_card"])
    undone = reply.state == "undone" and bench.names == ["charge_card", "refund_card"]
    assert done or undone


async def test_cancelled_while_in_doubt_it_still_asks(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(TimeoutError())
    await desk.chat(CHARGE_THEN_CRM, user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    await cancel(desk, reply.run)
    reply = await desk.attend(reply.run)
    assert reply.waiting[0].kind == "outcome"
    reply = await desk.answer(desk.user, "happened", result={"id": "ch-1"})
    assert reply.text == f"{FROM_OUTSIDE} Undone, latest first: charge_card (by refund_card)."
    assert bench.names == ["charge_card", "refund_card"]


async def test_cancelled_while_a_read_is_tried_again_it_stops_trying(bench: ToolBench, desk: Desk):
    gate = Gate(error=TimeoutError())
    bench.on("get_order").does(gate)
    chatting = asyncio.create_task(desk.chat("get_order(order_id=4411)", user=desk.user))
    await gate.entered.wait()
    await cancel(desk, (await desk.session(desk.user)).open_run)
    gate.open.set()
    reply = await chatting
    assert reply.state == "undone"
    assert bench.names == ["get_order"]


# At every wait of the rollback


FULLY_UNDONE = "Undone, latest first: update_crm (by restore_crm), charge_card (by refund_card)."


async def rolling_back(desk: Desk) -> "tuple[str, asyncio.Task[object]]":
    reply = await desk.chat(ORDER, user=desk.user)
    for _ in range(2):
        await desk.confirm(desk.user, "approve")
    return reply.run, asyncio.create_task(desk.confirm(desk.user, "approve"))


@pytest.mark.parametrize(
    "undo", [pytest.param("restore_crm", marks=pytest.mark.recorded("cancelled_in_rollback")), "refund_card"]
)
async def test_cancelled_while_an_undo_is_in_flight_the_rollback_goes_on(bench: ToolBench, desk: Desk, undo: str):
    gate = Gate()
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on(undo).does(gate)
    run, confirming = await rolling_back(desk)
    await gate.entered.wait()
    await cancel(desk, run)
    gate.open.set()
    await confirming
    reply = await desk.attend(run)
    assert reply.text == f"This run stopped: provision_account failed (RuntimeError). {FULLY_UNDONE}"
    assert bench.names[3:] == ["restore_crm", "refund_card"]


async def test_cancelled_between_two_tries_of_an_undo_it_is_tried_again(
    bench: ToolBench, desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(rollback, "WAITS", (timedelta(seconds=0.5),) * 3)
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("restore_crm").raises(RuntimeError("busy")).returns({})
    run, confirming = await rolling_back(desk)
    await eventually(lambda: bench.called("restore_crm"))
    await view_when(desk, run, lambda view: view.state == "undoing")
    await cancel(desk, run)
    await confirming
    reply = await desk.attend(run)
    assert reply.text == f"This run stopped: provision_account failed (RuntimeError). {FULLY_UNDONE}"
    assert bench.names[3:] == ["restore_crm", "restore_crm", "refund_card"]


async def test_cancelled_while_stuck_it_still_asks(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("restore_crm").raises(RuntimeError("busy"))
    run, confirming = await rolling_back(desk)
    await confirming
    await cancel(desk, run)
    assert (await desk.attend(run)).state == "stuck"
    reply = await desk.answer(desk.user, "done by hand", by="bo")
    assert reply.text == (
        "This run stopped: provision_account failed (RuntimeError). "
        "Undone, latest first: update_crm (by hand, bo), charge_card (by refund_card)."
    )


async def test_cancelled_while_an_undo_is_in_doubt_it_still_asks(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("refund_card").raises(TimeoutError())
    run, confirming = await rolling_back(desk)
    await confirming
    await cancel(desk, run)
    assert (await desk.attend(run)).waiting[0].tool == "refund_card"
    reply = await desk.answer(desk.user, "happened")
    assert reply.text == f"This run stopped: provision_account failed (RuntimeError). {FULLY_UNDONE}"


async def test_cancelled_while_it_waits_until_a_call_can_no_longer_land_it_waits_on(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(TimeoutError())
    turn = "update_crm(order_id=4411); charge_card(order_id=4411, amount=40.00)"
    reply = await desk.chat(turn, user=desk.user)
    for _ in range(2):
        await desk.confirm(desk.user, "approve")
    answering = asyncio.create_task(desk.answer(desk.user, "did not happen", by="ana"))
    await view_when(desk, reply.run, lambda view: not view.waiting)
    await cancel(desk, reply.run)
    assert bench.names == ["update_crm", "charge_card"]
    reply = await answering
    assert reply.text == (
        "This run stopped: charge_card did not happen, said ana. Undone, latest first: update_crm (by restore_crm)."
    )


# Terminated: no code of the run's gets to run


@pytest.mark.recorded("session_of_a_terminated_run", of="session")
async def test_a_terminated_run_is_noted_and_told_as_what_it_is(bench: ToolBench, desk: Desk):
    await desk.chat(ORDER, user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    await run_of(desk, reply.run).terminate("by hand")
    over = await desk.attend(reply.run)
    told = "This run was ended from outside before it was over. What it did is still done: charge_card."
    assert (over.text, over.state, over.waiting) == (told, "left", ())
    assert [step.state for step in over.steps] == ["done", "proposed"]

    session = await settled(desk)
    assert [(line.run, line.state, line.text, line.turn) for line in session.runs] == [
        (reply.run, "left", told, ORDER),
    ]
    assert (await desk.order("get_order(order_id=4411)")).state == "done"


async def test_rules_see_what_a_terminated_run_did(client: Client, task_queue: str):
    charged = NotAfter(id="charged", actions=("update_crm",), tools=("charge_card",), say="the card was charged")
    bench = make_bench(charged)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        await desk.chat("charge_card(order_id=4411, amount=40.00); send_receipt(order_id=4411)", user=desk.user)
        reply = await desk.confirm(desk.user, "approve")
        await run_of(desk, reply.run).terminate("by hand")
        await desk.attend(reply.run)
        reply = await desk.order("update_crm(order_id=4411)")
    assert reply.text == "This run stopped: update_crm was refused (charged: the card was charged)."


async def test_cancelling_a_session_loses_nothing(bench: ToolBench, desk: Desk):
    await desk.chat(ORDER, user=desk.user)
    await run_of(desk, session_workflow_id(desk.name, desk.user)).cancel()
    for _ in range(3):
        reply = await desk.confirm(desk.user, "approve")
    assert reply.state == "done"
    assert (await desk.order("get_order(order_id=4411)")).state == "done"
    assert len((await settled(desk)).runs) == 2


async def test_terminating_a_session_leaves_its_open_run_alone(bench: ToolBench, desk: Desk):
    bench.on("update_crm").raises(RuntimeError("down"))
    reply = await desk.chat(CHARGE_THEN_CRM, user=desk.user)
    await run_of(desk, session_workflow_id(desk.name, desk.user)).terminate()
    reply = await desk.confirm(desk.user, "approve")
    reply = await desk.confirm(desk.user, "approve")
    assert reply.text.endswith("Undone, latest first: charge_card (by refund_card).")
    again = await desk.order("get_order(order_id=4411)")
    assert again.run != reply.run
