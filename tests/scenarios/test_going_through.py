"""Runs that go through: approved, skipped, read only, cancelled by a person (SPEC 4.2)."""

import pytest
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import ORDER


@pytest.mark.recorded("done")
async def test_g125_every_write_that_is_approved_runs_with_exactly_the_arguments_shown(bench: ToolBench, desk: Desk):
    reply = await desk.chat(ORDER, user=desk.user)
    assert [(q.tool, q.arguments) for q in reply.waiting] == [
        ("charge_card", {"order_id": "4411", "amount": "40.00"}),
    ]
    assert reply.waiting[0].text == "Run charge_card?"
    assert reply.waiting[0].answers == ("approve", "skip", "cancel all")
    assert (reply.waiting[0].undo, reply.waiting[0].warnings) == ("refund_card", ())
    assert (reply.state, reply.text, bench.names) == ("waiting", "", [])
    for _ in range(3):
        reply = await desk.confirm(desk.user, "approve")
    assert reply.text == "Done: charge_card, update_crm, provision_account."
    assert reply.state == "done"
    assert bench.names == ["charge_card", "update_crm", "provision_account"]
    assert bench.calls[0].arguments == {"order_id": "4411", "amount": "40.00"}
    assert [(step.state, step.confirmed_by, step.landed) for step in reply.steps] == [
        ("done", desk.user, 1),
        ("done", desk.user, 2),
        ("done", desk.user, 3),
    ]


async def test_the_reply_is_in_the_language_of_the_turn(bench: ToolBench, desk: Desk):
    reply = await desk.order(ORDER, language="pt-BR")
    assert reply.text == "Feito: charge_card, update_crm, provision_account."


@pytest.mark.recorded("reads_only")
async def test_reads_run_without_a_person(bench: ToolBench, desk: Desk):
    reply = await desk.chat("get_order(order_id=4411); get_stock(item=hat)", user=desk.user)
    assert reply.text == "Done: get_order, get_stock."
    assert reply.waiting == ()
    assert bench.names == ["get_order", "get_stock"]
    assert [step.writes for step in reply.steps] == [False, False]


@pytest.mark.recorded("skip")
async def test_g123_a_skipped_call_says_it_was_declined_and_the_run_goes_on(bench: ToolBench, desk: Desk):
    reply = await desk.order(ORDER, "approve", "skip", "approve")
    assert reply.text == "Done: charge_card, provision_account. Skipped: update_crm."
    assert bench.names == ["charge_card", "provision_account"]
    assert reply.steps[1].state == "declined"
    assert reply.steps[1].result == {"declined": "The person declined this call."}


async def test_a_skipped_call_is_not_undone_later(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    reply = await desk.order(ORDER, "approve", "skip", "approve")
    assert reply.text == (
        "This run stopped: provision_account failed (RuntimeError). Undone, latest first: charge_card (by refund_card)."
    )
    assert bench.names == ["charge_card", "provision_account", "refund_card"]


async def test_a_run_in_which_everything_is_skipped_does_nothing_and_says_so(bench: ToolBench, desk: Desk):
    reply = await desk.order(ORDER, "skip")
    assert reply.text == "Nothing was done. Skipped: charge_card, update_crm, provision_account."
    assert (reply.state, bench.names) == ("done", [])


async def test_skipping_is_told_in_portuguese(bench: ToolBench, desk: Desk):
    reply = await desk.order(ORDER, "skip", "approve", "skip", language="pt-BR")
    assert reply.text == "Feito: update_crm. Pulado: charge_card, provision_account."
    assert reply.steps[0].result == {"declined": "A pessoa recusou esta chamada."}
    nothing = await desk.order(ORDER, "skip", language="pt-BR")
    assert nothing.text == "Nada foi feito. Pulado: charge_card, update_crm, provision_account."


@pytest.mark.recorded("cancel_all_first")
async def test_cancel_all_at_the_first_question_does_nothing(bench: ToolBench, desk: Desk):
    reply = await desk.order(ORDER, "cancel all", by="ana")
    assert reply.text == "This run stopped: cancelled by ana."
    assert (reply.state, bench.names) == ("undone", [])


@pytest.mark.recorded("cancel_all_later")
async def test_cancel_all_at_a_later_question_undoes_what_was_done(bench: ToolBench, desk: Desk):
    reply = await desk.order(ORDER, "approve", "approve", "cancel all", by="ana")
    assert reply.text == (
        "This run stopped: cancelled by ana. "
        "Undone, latest first: update_crm (by restore_crm), charge_card (by refund_card)."
    )
    assert reply.state == "undone"
    assert bench.names == ["charge_card", "update_crm", "restore_crm", "refund_card"]
    assert [step.state for step in reply.steps] == ["undone", "undone", "declined"]


async def test_cancel_all_is_told_in_portuguese(bench: ToolBench, desk: Desk):
    reply = await desk.order(ORDER, "approve", "cancel all", by="ana", language="pt-BR")
    assert reply.text == (
        "Esta execução parou: cancelada por ana. Desfeito, do mais recente: charge_card (por refund_card)."
    )
