"""What took effect, and what did not: edge cases D1, D6 and D7 (docs/cases.md)."""

import pytest
from amends import OutcomeUnknown, Refused, Unchanged
from amends.rulebook.effects import Never
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.testing.witness import Witness
from amends.tests.histories.recording import KeepHistory
from amends.tests.scenarios.stage import make_bench, settled
from temporalio.client import Client

CHARGE = "charge_card(order_id=4411, amount=40.00)"


@pytest.mark.parametrize("error", [OutcomeUnknown("dead line"), ConnectionResetError("reset"), TimeoutError("late")])
async def test_d01_the_step_failed_after_it_did_the_thing(bench: ToolBench, desk: Desk, tmp_path, error: Exception):
    witness = Witness(tmp_path / "witness.db")

    async def charge_then_raise(call: BenchCall) -> object:
        witness.take_effect(witness.begin("charge_card", "4411", call.context), keeps_keys=False)
        raise error

    async def refund(call: BenchCall) -> object:
        undoes = int(str(call.arguments["charge_id"]))
        return {"id": witness.take_effect(witness.begin("refund_card", "4411", call.context), keeps_keys=False,
                                          undoes=undoes)}  # fmt: skip

    bench.on("charge_card").does(charge_then_raise)
    bench.on("refund_card").does(refund)
    await desk.chat(f"{CHARGE}; update_crm(order_id=4411)", user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    assert reply.waiting[0].text == "Did charge_card take effect? The call was sent and no answer came back."
    (charge,) = witness.standing()
    await desk.answer(desk.user, "happened", result={"id": str(charge.id)})
    reply = await desk.confirm(desk.user, "cancel all")
    assert reply.text == (
        f"This run stopped: cancelled by {desk.user}. Undone, latest first: charge_card (by refund_card)."
    )
    assert (witness.tools(), witness.standing()) == (["charge_card", "refund_card"], [])
    assert bench.calls[1].arguments == {"charge_id": str(charge.id), "amount": "40.00"}


async def test_d01_the_step_failed_with_an_ordinary_error_is_definite_and_named(bench: ToolBench, desk: Desk):
    """An ordinary error says that nothing took effect (SPEC 5.3): a tool that raises one after its effect lies."""
    bench.on("charge_card").raises(KeyError("receipt"))
    reply = await desk.order(f"update_crm(order_id=4411); {CHARGE}")
    assert reply.text == (
        "This run stopped: charge_card failed (KeyError). Undone, latest first: update_crm (by restore_crm)."
    )


@pytest.mark.recorded("already_so")
async def test_d06_what_changed_nothing_uses_up_no_undo(bench: ToolBench, desk: Desk):
    await desk.order("update_crm(order_id=1)")
    bench.calls.clear()
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("book_slot").raises(Unchanged("booked before", result={"booking": {"slots": [{"id": "slot-9"}]}}))
    turn = (
        "get_order(order_id=4411); update_crm(order_id=4411); book_slot(order_id=4411); label(add=paid, remove=open); "
        f"{CHARGE}; provision_account(order_id=4411)"
    )
    reply = await desk.order(turn, "skip", "approve")
    assert reply.text == (
        "This run stopped: provision_account failed (RuntimeError). "
        "Undone, latest first: charge_card (by refund_card), label (by label)."
    )
    assert bench.names == [
        "get_order", "book_slot", "label", "charge_card", "provision_account", "refund_card", "label"
    ]  # fmt: skip
    booked = reply.steps[2]
    assert (booked.state, booked.unchanged, booked.landed) == ("done", True, 0)
    assert booked.result == {"booking": {"slots": [{"id": "slot-9"}]}}


async def test_d06_a_run_of_what_was_already_so_has_nothing_to_undo(bench: ToolBench, desk: Desk):
    bench.on("update_crm").raises(Unchanged())
    bench.on("provision_account").raises(RuntimeError("down"))
    reply = await desk.order("update_crm(order_id=4411); provision_account(order_id=4411)")
    assert reply.text == "This run stopped: provision_account failed (RuntimeError)."
    reply = await desk.order("update_crm(order_id=4411)")
    assert reply.text == "Done: update_crm."
    await settled(desk)
    calls = [
        each for each in (await desk.record(desk.user)).entries if each.kind == "call" and each.tool == "update_crm"
    ]
    assert [(each.outcome, each.note) for each in calls] == [("done", "it was already so")] * 2


@pytest.mark.recorded("undo_refused")
async def test_d07_the_rules_would_refuse_the_undo_and_its_credential_is_gone(
    client: Client, task_queue: str, keep_history: KeepHistory
):
    bench = make_bench(Never(id="no_refunds", actions=("refund_card",), say="refunds are closed"))
    gone = Refused("401: the credential k-17 was withdrawn")
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("refund_card").raises(gone).returns({"id": "rf-1"})
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.chat(f"{CHARGE}; provision_account(order_id=4411)", user=desk.user)
        reply = await desk.confirm(desk.user, "approve")
        reply = await desk.confirm(desk.user, "approve")
        assert reply.waiting[0].text == (
            "Undoing charge_card failed after 1 tries (Refused). 1 step(s) still need undoing."
        ), "a no is not asked for three more times"
        undo = reply.steps[0].undo
        assert undo is not None
        assert undo.failure is not None
        assert undo.failure.message == str(gone)
        reply = await desk.answer(desk.user, "retry")
    assert reply.text.endswith("Undone, latest first: charge_card (by refund_card).")
    first, second = bench.called("refund_card")
    assert first.key == second.key
    await keep_history(reply.run)
