"""A rollback that cannot go on: the question and its three answers (SPEC 6.2)."""

import pytest
from amends.contract.reply import Reply
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import ORDER

TURN = (
    "add_note(order_id=4411, text=x); charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411); "
    "get_stock(item=hat)"
)


@pytest.fixture
def undoing_fails(bench: ToolBench) -> None:
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("update_crm").returns({"id": "open"})
    bench.on("restore_crm").raises(ConnectionAbortedError("gone"))


async def stuck(desk: Desk) -> Reply:
    reply = await desk.chat(ORDER, user=desk.user)
    while reply.waiting and reply.waiting[0].kind == "confirm":
        reply = await desk.confirm(desk.user, "approve")
    return reply


async def test_an_undo_that_fails_four_times_stops_the_rollback_and_asks(bench: ToolBench, desk: Desk, undoing_fails):
    reply = await stuck(desk)
    (question,) = reply.waiting
    assert reply.state == "stuck"
    assert question.text == (
        "Undoing update_crm failed after 4 tries (ConnectionAbortedError). 2 step(s) still need undoing."
    )
    assert (question.kind, question.position, question.undo) == ("undo", 2, "restore_crm")
    assert question.answers == ("retry", "done by hand", "abandon")
    assert bench.names == ["charge_card", "update_crm", "provision_account", *["restore_crm"] * 4]
    assert [step.state for step in reply.steps] == ["done", "undo failed", "failed"]
    await desk.answer(desk.user, "abandon")


@pytest.mark.recorded("stuck_retry")
async def test_retry_sends_the_undo_again_under_its_key(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("restore_crm").raises(RuntimeError("busy"), times=4).returns({})
    await stuck(desk)
    reply = await desk.answer(desk.user, "retry")
    assert reply.text == (
        "This run stopped: provision_account failed (RuntimeError). "
        "Undone, latest first: update_crm (by restore_crm), charge_card (by refund_card)."
    )
    tries = bench.called("restore_crm")
    assert len(tries) == 5
    assert len({call.key for call in tries}) == 1
    assert bench.names[-1] == "refund_card"


async def test_a_retry_that_fails_asks_again_and_counts_every_try(bench: ToolBench, desk: Desk, undoing_fails):
    await stuck(desk)
    reply = await desk.answer(desk.user, "retry")
    assert reply.state == "stuck"
    assert reply.waiting[0].text == (
        "Undoing update_crm failed after 8 tries (ConnectionAbortedError). 2 step(s) still need undoing."
    )
    await desk.answer(desk.user, "abandon")


@pytest.mark.recorded("stuck_done_by_hand")
async def test_done_by_hand_goes_on_with_the_next_write(bench: ToolBench, desk: Desk, undoing_fails):
    await stuck(desk)
    reply = await desk.answer(desk.user, "done by hand", by="bo")
    assert reply.text == (
        "This run stopped: provision_account failed (RuntimeError). "
        "Undone, latest first: update_crm (by hand, bo), charge_card (by refund_card)."
    )
    assert (reply.state, reply.steps[1].state) == ("undone", "undone by hand")
    assert bench.names[-1] == "refund_card"


async def test_done_by_hand_is_told_in_portuguese(bench: ToolBench, desk: Desk, undoing_fails):
    reply = await desk.chat(ORDER, user=desk.user, language="pt-BR")
    while reply.waiting and reply.waiting[0].kind == "confirm":
        reply = await desk.confirm(desk.user, "approve")
    reply = await desk.answer(desk.user, "done by hand", by="bo")
    assert reply.text == (
        "Esta execução parou: provision_account failed (RuntimeError). "
        "Desfeito, do mais recente: update_crm (à mão, bo), charge_card (por refund_card)."
    )


@pytest.mark.recorded("stuck_abandon")
async def test_abandon_stops_there_and_lists_what_still_needs_undoing(bench: ToolBench, desk: Desk, undoing_fails):
    await stuck(desk)
    reply = await desk.answer(desk.user, "abandon")
    assert reply.text == (
        "This run stopped: provision_account failed (RuntimeError). "
        "Still to be undone by hand: update_crm, charge_card."
    )
    assert (reply.state, reply.undone) == ("abandoned", ())
    assert "refund_card" not in bench.names


async def test_abandon_after_some_undos_tells_them_apart(bench: ToolBench, desk: Desk):
    bench.on("get_stock").raises(RuntimeError("down"))
    bench.on("refund_card").raises(RuntimeError("closed"))
    reply = await desk.order(TURN, "approve", "approve", "approve", "abandon")
    assert reply.text == (
        "This run stopped: get_stock failed (RuntimeError). Undone, latest first: update_crm (by restore_crm). "
        "Not undoable, and left as they are: add_note. Still to be undone by hand: charge_card."
    )
    assert (reply.state, reply.undone) == ("abandoned", ("update_crm",))


async def test_abandon_also_lists_what_nothing_can_undo(bench: ToolBench, desk: Desk):
    bench.on("get_stock").raises(RuntimeError("down"))
    bench.on("refund_card").raises(RuntimeError("closed"))
    reply = await desk.order(TURN, "approve", "approve", "approve", "abandon")
    assert reply.left == ("add_note",)


async def test_abandon_is_told_in_portuguese(bench: ToolBench, desk: Desk, undoing_fails):
    reply = await desk.order(ORDER, "approve", "approve", "approve", "abandon", language="pt-BR")
    assert reply.text == (
        "Esta execução parou: provision_account failed (RuntimeError). "
        "Ainda falta desfazer à mão: update_crm, charge_card."
    )


@pytest.mark.recorded("stuck_missing_undo")
async def test_an_undo_that_the_agent_lacks_is_stuck_at_once(bench: ToolBench, desk: Desk):
    bench.on("get_order").raises(RuntimeError("down"))
    reply = await desk.chat("reserve_stock(item=hat); get_order(order_id=4411)", user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    assert reply.state == "stuck"
    assert reply.waiting[0].text == (
        "Undoing reserve_stock failed after 0 tries (UndoToolMissing). 1 step(s) still need undoing."
    )
    assert reply.waiting[0].undo == "release_stock"
    again = await desk.answer(desk.user, "retry")
    assert again.waiting[0].text == reply.waiting[0].text
    reply = await desk.answer(desk.user, "abandon")
    assert reply.text == (
        "This run stopped: get_order failed (RuntimeError). Still to be undone by hand: reserve_stock."
    )


@pytest.mark.recorded("stuck_unbound")
async def test_an_undo_whose_argument_the_result_lacks_is_stuck_at_once(bench: ToolBench, desk: Desk):
    bench.on("get_order").raises(RuntimeError("down"))
    bench.on("book_slot").returns({"booking": {"slots": []}})
    await desk.chat("book_slot(order_id=4411); get_order(order_id=4411)", user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    assert reply.waiting[0].text == (
        "Undoing book_slot failed after 0 tries (UnboundArgument). 1 step(s) still need undoing."
    )
    undo = reply.steps[0].undo
    assert undo is not None
    assert undo.failure is not None
    assert undo.failure.message == "slot <- $result.booking.slots.0.id: there is no 0 in it"
    await desk.answer(desk.user, "done by hand")
    assert "free_slot" not in bench.names
