"""What took effect, and what did not: edge cases D1, D6, D7 and D12 (docs/cases.md)."""

import pytest
from amends import OutcomeUnknown, Refused
from amends.rulebook.effects import Never
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.testing.witness import Witness
from amends.tests.scenarios.stage import make_bench, run_of
from temporalio.client import Client

CHARGE = "charge_card(order_id=4411, amount=40.00)"
LARGEST_HISTORY = 400_000


@pytest.mark.parametrize("error", [OutcomeUnknown("dead line"), ConnectionResetError("reset"), TimeoutError("late")])
async def test_d1_the_step_failed_after_it_did_the_thing(bench: ToolBench, desk: Desk, tmp_path, error: Exception):
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


async def test_d1_the_step_failed_with_an_ordinary_error_is_definite_and_named(bench: ToolBench, desk: Desk):
    """An ordinary error says that nothing took effect (SPEC 5.3): a tool that raises one after its effect lies."""
    bench.on("charge_card").raises(KeyError("receipt"))
    reply = await desk.order(f"update_crm(order_id=4411); {CHARGE}")
    assert reply.text == (
        "This run stopped: charge_card failed (KeyError). Undone, latest first: update_crm (by restore_crm)."
    )


async def test_d6_what_changed_nothing_uses_up_no_undo(bench: ToolBench, desk: Desk):
    await desk.order("update_crm(order_id=1)")
    bench.calls.clear()
    bench.on("provision_account").raises(RuntimeError("down"))
    turn = (
        "get_order(order_id=4411); update_crm(order_id=4411); label(add=paid, remove=open); "
        f"{CHARGE}; provision_account(order_id=4411)"
    )
    reply = await desk.order(turn, "skip", "approve")
    assert reply.text == (
        "This run stopped: provision_account failed (RuntimeError). "
        "Undone, latest first: charge_card (by refund_card), label (by label)."
    )
    assert bench.names == ["get_order", "label", "charge_card", "provision_account", "refund_card", "label"]


async def test_d7_the_rules_would_refuse_the_undo_and_its_credential_is_gone(client: Client, task_queue: str):
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


async def test_d12_a_write_returned_three_megabytes(bench: ToolBench, desk: Desk):
    bench.on("charge_card").returns({"id": "ch-1", "receipt": "x" * 3_000_000})
    reply = await desk.chat(f"{CHARGE}; update_crm(order_id=4411)", user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    reply = await desk.confirm(desk.user, "cancel all")
    assert reply.undone == ("charge_card",)
    assert bench.called("refund_card")[0].arguments == {"charge_id": "ch-1", "amount": "40.00"}
    description = await run_of(desk, reply.run).describe()
    assert description.raw_description.workflow_execution_info.history_size_bytes < LARGEST_HISTORY


async def test_d12_a_turn_of_three_megabytes_is_refused_by_its_size(bench: ToolBench, desk: Desk):
    with pytest.raises(ValueError, match="the turn has 3000030 characters; 2000 is the most a turn may have"):
        await desk.chat(f"add_note(order_id=4411, text={'x' * 3_000_000})", user=desk.user)
    assert bench.names == []
