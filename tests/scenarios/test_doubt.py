"""Doubt: a write was sent, and nobody knows whether it took effect (SPEC 5.5)."""

import asyncio

import pytest
from amends import NotSent, OutcomeUnknown, Refused
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk

CHARGE_THEN_CRM = "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)"
CRM_THEN_CHARGE = "update_crm(order_id=4411); charge_card(order_id=4411, amount=40.00)"
ASKED = "Did charge_card take effect? The call was sent and no answer came back."


async def asked_about_the_charge(desk: Desk, turn: str, *, approvals: int = 1) -> None:
    reply = await desk.chat(turn, user=desk.user)
    for _ in range(approvals):
        reply = await desk.confirm(desk.user, "approve")
    (question,) = reply.waiting
    assert (question.kind, question.text, reply.state) == ("outcome", ASKED, "waiting")
    assert question.answers == ("happened", "did not happen")
    assert question.arguments == {"order_id": "4411", "amount": "40.00"}


@pytest.mark.recorded("doubt_happened")
async def test_happened_goes_on_and_is_undone_later_with_the_result_a_person_gave(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(TimeoutError("no answer"))
    await asked_about_the_charge(desk, CHARGE_THEN_CRM)
    reply = await desk.answer(desk.user, "happened", result={"id": "ch-77"})
    assert reply.waiting[0].text == "Run update_crm?"
    reply = await desk.confirm(desk.user, "cancel all")
    assert reply.text == (
        f"This run stopped: cancelled by {desk.user}. Undone, latest first: charge_card (by refund_card)."
    )
    assert bench.names == ["charge_card", "refund_card"]
    assert bench.calls[1].arguments == {"charge_id": "ch-77", "amount": "40.00"}


async def test_happened_without_the_result_its_undo_needs_is_a_stuck_undo(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(TimeoutError("no answer"))
    await asked_about_the_charge(desk, CHARGE_THEN_CRM)
    await desk.answer(desk.user, "happened")
    reply = await desk.confirm(desk.user, "cancel all")
    assert reply.waiting[0].text == (
        "Undoing charge_card failed after 0 tries (UnboundArgument). 1 step(s) still need undoing."
    )
    reply = await desk.answer(desk.user, "done by hand", by="bo")
    assert reply.text == (
        f"This run stopped: cancelled by {desk.user}. Undone, latest first: charge_card (by hand, bo)."
    )


async def test_happened_as_the_last_step_ends_the_run_well(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(OutcomeUnknown("the gateway hung up"))
    await asked_about_the_charge(desk, CRM_THEN_CHARGE, approvals=2)
    reply = await desk.answer(desk.user, "happened")
    assert reply.text == "Done: update_crm, charge_card."


@pytest.mark.recorded("doubt_did_not_happen")
async def test_did_not_happen_stops_and_undoes_the_rest_but_not_itself(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(ConnectionResetError("reset"))
    await asked_about_the_charge(desk, CRM_THEN_CHARGE, approvals=2)
    reply = await desk.answer(desk.user, "did not happen", by="ana")
    assert reply.text == (
        "This run stopped: charge_card did not happen, said ana. Undone, latest first: update_crm (by restore_crm)."
    )
    assert [step.state for step in reply.steps] == ["undone", "did not happen"]
    assert bench.names == ["update_crm", "charge_card", "restore_crm"]


async def test_did_not_happen_of_the_first_write_leaves_nothing_to_undo(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(TimeoutError())
    await desk.chat(CHARGE_THEN_CRM, user=desk.user, language="pt-BR")
    reply = await desk.confirm(desk.user, "approve")
    assert reply.waiting[0].text == ASKED
    reply = await desk.answer(desk.user, "did not happen", by="ana")
    assert reply.text == "Esta execução parou: charge_card não aconteceu, disse ana."
    assert (reply.state, bench.names) == ("undone", ["charge_card"])


@pytest.mark.recorded("doubt_hanging")
async def test_g085_a_write_that_hangs_past_its_timeout_is_in_doubt(bench: ToolBench, desk: Desk):
    bench.on("charge_card").hangs()
    await asked_about_the_charge(desk, CHARGE_THEN_CRM)
    reply = await desk.answer(desk.user, "happened", result={"id": "ch-1"})
    assert reply.steps[0].failure is not None
    assert reply.steps[0].failure.type == "TimeoutError"
    assert reply.steps[0].state == "done"
    await desk.confirm(desk.user, "skip")


async def test_did_not_happen_is_not_settled_while_the_call_can_still_land(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(TimeoutError("at once, but its timeout is a second"))
    await asked_about_the_charge(desk, CRM_THEN_CHARGE, approvals=2)
    sent = (await desk.session(desk.user)).open_run
    view = await desk.run(sent)
    reply = await desk.answer(desk.user, "did not happen")
    undone = reply.steps[0].undo
    assert undone is not None
    assert undone.ended_at is not None
    assert view.steps[1].sent_at is not None
    assert (undone.ended_at - view.steps[1].sent_at).total_seconds() >= 1


async def test_an_irreversible_write_in_doubt_that_happened_is_left(bench: ToolBench, desk: Desk):
    bench.on("send_receipt").raises(TimeoutError())
    await desk.chat("send_receipt(order_id=4411); update_crm(order_id=4411)", user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    assert reply.waiting[0].text == "Did send_receipt take effect? The call was sent and no answer came back."
    await desk.answer(desk.user, "happened")
    reply = await desk.confirm(desk.user, "cancel all")
    assert reply.text == (
        f"This run stopped: cancelled by {desk.user}. Not undoable, and left as they are: send_receipt."
    )


@pytest.mark.parametrize(("error", "name"), [(Refused("declined"), "Refused"), (NotSent("no route"), "NotSent")])
async def test_an_error_that_says_what_it_means_leaves_no_doubt(
    bench: ToolBench, desk: Desk, error: Exception, name: str
):
    bench.on("charge_card").raises(error)
    reply = await desk.order(CHARGE_THEN_CRM)
    assert reply.text == f"This run stopped: charge_card failed ({name})."
    assert bench.names == ["charge_card"]


# An undo in doubt (SPEC 5.7)


@pytest.mark.recorded("undo_in_doubt")
async def test_an_undo_in_doubt_is_a_question_about_the_undo(bench: ToolBench, desk: Desk):
    bench.on("refund_card").raises(TimeoutError("no answer"))
    await desk.chat(CHARGE_THEN_CRM, user=desk.user)
    await desk.confirm(desk.user, "approve")
    reply = await desk.confirm(desk.user, "cancel all")
    (question,) = reply.waiting
    assert question.text == "Did refund_card take effect? The call was sent and no answer came back."
    assert (question.kind, question.position, reply.state) == ("outcome", 1, "stuck")
    assert question.arguments == {"charge_id": "charge_card-1", "amount": "40.00"}
    reply = await desk.answer(desk.user, "happened")
    assert reply.text == (
        f"This run stopped: cancelled by {desk.user}. Undone, latest first: charge_card (by refund_card)."
    )
    assert bench.names == ["charge_card", "refund_card"]


async def test_an_undo_that_did_not_happen_is_sent_again_under_its_key(bench: ToolBench, desk: Desk):
    bench.on("refund_card").raises(TimeoutError("no answer")).returns({"id": "rf-1"})
    await desk.chat(CHARGE_THEN_CRM, user=desk.user)
    await desk.confirm(desk.user, "approve")
    await desk.confirm(desk.user, "cancel all")
    reply = await desk.answer(desk.user, "did not happen")
    assert (reply.state, bench.names) == ("undone", ["charge_card", "refund_card", "refund_card"])
    assert bench.calls[1].key == bench.calls[2].key


async def test_an_undo_that_did_not_happen_is_not_sent_again_while_it_can_still_land(bench: ToolBench, desk: Desk):
    sent: list[float] = []

    async def unanswered(_: object) -> object:
        sent.append(asyncio.get_running_loop().time())
        if len(sent) == 1:
            raise TimeoutError("at once, but its timeout is a second")
        return {"id": "rf-1"}

    bench.on("refund_card").does(unanswered)
    await desk.chat(CHARGE_THEN_CRM, user=desk.user)
    await desk.confirm(desk.user, "approve")
    await desk.confirm(desk.user, "cancel all")
    await desk.answer(desk.user, "did not happen")
    assert sent[1] - sent[0] >= 1


async def test_a_retry_safe_undo_in_doubt_is_sent_again_without_a_question(bench: ToolBench, desk: Desk):
    bench.on("restore_crm").raises(TimeoutError(), times=2).returns({})
    reply = await desk.order(CRM_THEN_CHARGE, "approve", "cancel all")
    assert (reply.state, bench.names) == ("undone", ["update_crm", "restore_crm", "restore_crm", "restore_crm"])
