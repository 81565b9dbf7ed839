"""Runs that fail: what is undone, what is left, and the one reply that says so (SPEC 4.3, 4.5, 4.6, 6.1, 6.3)."""

import pytest
from amends.contract.wording import IRREVERSIBLE, NOTHING_UNDOES
from amends.rulebook.effects import Never, NotAfter
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import ORDER, make_bench
from temporalio.client import Client

FAILED = "This run stopped: provision_account failed (RuntimeError). "
PROVISION = "provision_account(order_id=4411)"
CHARGE = "charge_card(order_id=4411, amount=40.00)"
RECEIPT = "send_receipt(order_id=4411)"


@pytest.fixture
def provisioning_is_down(bench: ToolBench) -> None:
    bench.on("provision_account").raises(RuntimeError("down"))


@pytest.mark.recorded("failed_and_undone")
async def test_a_failed_run_is_undone_last_write_first(bench: ToolBench, desk: Desk, provisioning_is_down):
    reply = await desk.order(ORDER)
    assert reply.text == FAILED + "Undone, latest first: update_crm (by restore_crm), charge_card (by refund_card)."
    assert (reply.state, reply.undone, reply.left) == ("undone", ("update_crm", "charge_card"), ())
    assert bench.names == ["charge_card", "update_crm", "provision_account", "restore_crm", "refund_card"]
    assert bench.calls[3].arguments == {"order_id": "4411", "previous": "update_crm-2"}
    assert bench.calls[4].arguments == {"charge_id": "charge_card-1", "amount": "40.00"}


async def test_a_failed_run_is_told_in_portuguese(desk: Desk, provisioning_is_down):
    reply = await desk.order(ORDER, language="pt-BR")
    assert reply.text == (
        "Esta execução parou: provision_account failed (RuntimeError). "
        "Desfeito, do mais recente: update_crm (por restore_crm), charge_card (por refund_card)."
    )


@pytest.mark.recorded("failed_first")
async def test_a_run_whose_first_write_fails_says_what_failed_and_nothing_else(
    bench: ToolBench, desk: Desk, provisioning_is_down
):
    reply = await desk.order(f"get_order(order_id=4411); {PROVISION}; {RECEIPT}")
    assert reply.text == "This run stopped: provision_account failed (RuntimeError)."
    assert reply.state == "undone"
    assert bench.names == ["get_order", "provision_account"]


@pytest.mark.recorded("failed_read")
async def test_a_read_that_fails_after_a_write_undoes_it(bench: ToolBench, desk: Desk):
    bench.on("get_order").raises(LookupError("no such order"))
    reply = await desk.order(f"{CHARGE}; get_order(order_id=4411)")
    assert reply.text == (
        "This run stopped: get_order failed (LookupError). Undone, latest first: charge_card (by refund_card)."
    )
    assert bench.names == ["charge_card", "get_order", "refund_card"]


@pytest.mark.recorded("irreversible_left")
async def test_an_irreversible_write_is_skipped_and_listed(bench: ToolBench, desk: Desk, provisioning_is_down):
    reply = await desk.order(f"{CHARGE}; {RECEIPT}; {PROVISION}")
    assert reply.text == (
        FAILED + "Undone, latest first: charge_card (by refund_card). Not undoable, and left as they are: send_receipt."
    )
    assert (reply.state, reply.left) == ("left", ("send_receipt",))
    assert bench.names == ["charge_card", "send_receipt", "provision_account", "refund_card"]


async def test_what_is_left_is_told_in_portuguese(desk: Desk, provisioning_is_down):
    reply = await desk.order(f"{CHARGE}; {RECEIPT}; {PROVISION}", language="pt-BR")
    assert reply.text == (
        "Esta execução parou: provision_account failed (RuntimeError). "
        "Desfeito, do mais recente: charge_card (por refund_card). "
        "Não dá para desfazer, e ficaram como estão: send_receipt."
    )


async def test_writes_that_need_no_undo_or_name_none_are_left_and_listed(bench: ToolBench, desk: Desk):
    bench.on("get_stock").raises(RuntimeError("down"))
    reply = await desk.order(f"add_note(order_id=4411, text=paid); {PROVISION}; get_stock(item=hat)")
    assert reply.text == (
        "This run stopped: get_stock failed (RuntimeError). "
        "Not undoable, and left as they are: provision_account, add_note."
    )
    assert reply.state == "left"


async def test_a_write_that_is_its_own_inverse_is_undone_with_its_arguments_exchanged(
    bench: ToolBench, desk: Desk, provisioning_is_down
):
    reply = await desk.order(f"label(add=paid, remove=open); {PROVISION}")
    assert reply.text == FAILED + "Undone, latest first: label (by label)."
    assert [call.arguments for call in bench.called("label")] == [
        {"add": "paid", "remove": "open"},
        {"add": "open", "remove": "paid"},
    ]


async def test_an_undo_is_bound_to_fields_deep_inside_the_result(bench: ToolBench, desk: Desk, provisioning_is_down):
    bench.on("book_slot").returns({"booking": {"slots": [{"id": "slot-9"}, {"id": "slot-10"}]}})
    await desk.order(f"book_slot(order_id=4411); {PROVISION}")
    assert bench.called("free_slot")[0].arguments == {"slot": "slot-9", "order_id": "4411"}


# The two warnings


async def question_before_the_receipt(desk: Desk, *before: str) -> tuple[str, tuple[str, ...]]:
    reply = await desk.chat("; ".join((*before, RECEIPT)), user=desk.user)
    for _ in before:
        reply = await desk.confirm(desk.user, "approve")
    (question,) = reply.waiting
    assert question.undo is None
    await desk.confirm(desk.user, "skip")
    return question.text, question.warnings


async def test_an_irreversible_write_warns_that_nothing_undoes_it(desk: Desk):
    alone = ("Run send_receipt?", ("Nothing can undo this step once it runs.",))
    assert await question_before_the_receipt(desk) == alone
    assert await question_before_the_receipt(desk, "add_note(order_id=4411, text=paid)") == alone
    assert await question_before_the_receipt(desk, PROVISION) == alone
    assert await question_before_the_receipt(desk, RECEIPT) == alone


async def test_it_warns_of_the_steps_after_it_once_the_run_holds_a_write_that_would_be_undone(desk: Desk):
    said, warnings = await question_before_the_receipt(desk, CHARGE)
    assert said == "Run send_receipt? Nothing undoes this step, and the steps after it cannot undo it."
    assert warnings == (IRREVERSIBLE,)
    later, _ = await question_before_the_receipt(desk, CHARGE, RECEIPT)
    assert later.endswith(NOTHING_UNDOES)


async def test_a_skipped_write_is_none_that_would_be_undone(desk: Desk):
    await desk.chat(f"{CHARGE}; {RECEIPT}", user=desk.user)
    reply = await desk.confirm(desk.user, "skip")
    assert reply.waiting[0].text == "Run send_receipt?"
    await desk.confirm(desk.user, "skip")


# Agents whose runs are independent


class TestIndependentRuns:
    @pytest.fixture
    def bench(self) -> ToolBench:
        return make_bench(atomic=False)

    @pytest.mark.recorded("independent")
    async def test_a_failed_run_keeps_what_it_did_and_says_so(self, bench: ToolBench, desk: Desk):
        bench.on("provision_account").raises(RuntimeError("down"))
        reply = await desk.order(ORDER)
        assert reply.text == FAILED + "Kept, because runs of this agent are independent: charge_card, update_crm."
        assert reply.state == "left"
        assert bench.names == ["charge_card", "update_crm", "provision_account"]
        portuguese = await desk.order(ORDER, language="pt-BR")
        assert portuguese.text == (
            "Esta execução parou: provision_account failed (RuntimeError). "
            "Ficaram feitos, porque as execuções deste agente são independentes: charge_card, update_crm."
        )

    async def test_an_irreversible_write_has_the_first_warning_alone(self, desk: Desk):
        assert await question_before_the_receipt(desk, CHARGE) == ("Run send_receipt?", (IRREVERSIBLE,))


# Refused by the check


class TestRefused:
    @pytest.fixture
    def bench(self) -> ToolBench:
        return make_bench(
            Never(id="frozen", actions=("provision_account",), say="accounts are frozen"),
            NotAfter(id="no_twice", actions=("send_receipt",), tools=("send_receipt",), say="one receipt is enough."),
        )

    @pytest.mark.recorded("refused_after_a_write")
    async def test_a_step_refused_after_a_write_undoes_it(self, bench: ToolBench, desk: Desk):
        reply = await desk.order(f"{CHARGE}; {PROVISION}; {RECEIPT}")
        assert reply.text == (
            "This run stopped: provision_account was refused (frozen: accounts are frozen). "
            "Undone, latest first: charge_card (by refund_card)."
        )
        assert reply.state == "undone"
        assert [step.state for step in reply.steps] == ["undone", "refused"]
        assert bench.names == ["charge_card", "refund_card"]

    @pytest.mark.recorded("refused_first")
    async def test_a_first_step_that_is_refused_ends_the_run(self, bench: ToolBench, desk: Desk):
        reply = await desk.order(f"get_order(order_id=4411); {PROVISION}")
        assert reply.text == "This run stopped: provision_account was refused (frozen: accounts are frozen)."
        assert (reply.state, bench.names) == ("refused", ["get_order"])

    async def test_a_refusal_is_told_in_portuguese(self, desk: Desk):
        reply = await desk.order(PROVISION, language="pt-BR")
        assert reply.text == "Esta execução parou: provision_account foi recusada (frozen: accounts are frozen)."

    async def test_rules_see_the_earlier_runs_of_the_session(self, bench: ToolBench, desk: Desk):
        await desk.order(RECEIPT)
        reply = await desk.order(f"{CHARGE}; {RECEIPT}")
        assert reply.text == (
            "This run stopped: send_receipt was refused (no_twice: one receipt is enough). "
            "Undone, latest first: charge_card (by refund_card)."
        )


async def test_a_rule_sees_that_a_charge_was_refunded_by_a_rollback(client: Client, task_queue: str):
    bench = make_bench(NotAfter(id="refunded", actions=("update_crm",), tools=("refund_card",), say="it was refunded"))
    bench.on("provision_account").raises(RuntimeError("down"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        await desk.order(f"{CHARGE}; {PROVISION}")
        assert bench.names[-1] == "refund_card"
        reply = await desk.order("update_crm(order_id=4411)")
    assert reply.text == "This run stopped: update_crm was refused (refunded: it was refunded)."


async def test_no_worker_is_told_of_a_call_that_the_check_refused(client: Client, task_queue: str):
    bench = make_bench(Never(id="closed", actions=("*",), say="the shop is closed"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.order("get_order(order_id=4411)")
    assert reply.text == "This run stopped: get_order was refused (closed: the shop is closed)."
    assert bench.calls == []
