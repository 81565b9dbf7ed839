"""A rule file that changes: a run keeps its rules, and the next one asks the new rules of the whole past."""

import pytest
from amends.activities import fold
from amends.contract.names import session_workflow_id
from amends.testing.desk import Desk, open_desk
from amends.workflows import ledger
from temporalio.client import Client

NO_RULES = "rules: []\n"
NEVER = "rules: [{id: closed, action: [charge_card, update_crm], never: true, say: The till is closed.}]\n"
HUNDRED = "rules: [{id: hundred, action: charge_card, at_most: {total: amount, limit: 100}}]\n"
SAME_ORDER = "rules: [{id: paid, action: send_receipt, after: [charge_card], same: [order_id]}]\n"
USER = "ana"
TOO_NEW = (
    "of the calls of charge_card so far: this rule is newer, and not all of their runs can be read any more. "
    "Take the rule back, or terminate the session's workflow: the next turn begins a new session"
)


def charge(amount: str, order: str = "4411") -> str:
    return f"charge_card(order_id={order}, amount={amount})"


async def test_a_run_that_waits_keeps_its_rules_and_the_next_has_the_new_ones(client, ruled, task_queue):
    async with open_desk(client, ruled(NO_RULES).agent, task_queue=task_queue) as desk:
        waiting = await desk.chat(f"{charge('40.00')}; update_crm(order_id=4411)", user=USER)
        assert waiting.state == "waiting"
    changed = ruled(NEVER)
    async with open_desk(client, changed.agent, task_queue=task_queue) as desk:
        assert (await desk.confirm(USER, "approve")).state == "waiting"
        done = await desk.confirm(USER, "approve")
        assert (done.state, changed.names) == ("done", ["charge_card", "update_crm"])
        assert len({step.decision.rulebook for step in done.steps if step.decision}) == 1
        refused = await desk.order(charge("1.00"), user=USER)
        assert refused.text == "This run stopped: charge_card was refused (closed, rules.yaml:1: The till is closed)."
        assert changed.names == ["charge_card", "update_crm"]
        assert refused.steps[0].decision is not None
        assert done.steps[0].decision is not None
        assert refused.steps[0].decision.rulebook != done.steps[0].decision.rulebook


async def test_a_new_cap_counts_the_calls_of_before_it(client, ruled, task_queue):
    async with open_desk(client, ruled(NO_RULES).agent, task_queue=task_queue) as desk:
        for amount in ("20.00", "30.00"):
            await desk.order(charge(amount), user=USER)
        await desk.order(charge("10.00"), "cancel all", user=USER)
        await desk.order("what is this", user=USER)
    async with open_desk(client, ruled(HUNDRED).agent, task_queue=task_queue) as desk:
        too_much = await desk.order(charge("50.01"), user=USER)
        assert too_much.text == (
            "This run stopped: charge_card was refused "
            "(hundred, rules.yaml:1: amount of charge_card would reach 100.01, and 100 is the most per session)."
        )
        assert (await desk.order(charge("50.00"), user=USER)).state == "done"
        assert await folds(client, desk) == 1


async def test_a_new_order_rule_knows_which_orders_were_charged(client, ruled, task_queue):
    async with open_desk(client, ruled(NO_RULES).agent, task_queue=task_queue) as desk:
        await desk.order(charge("20.00", order="4411"), user=USER)
    async with open_desk(client, ruled(SAME_ORDER).agent, task_queue=task_queue) as desk:
        assert (await desk.order("send_receipt(order_id=4412)", user=USER)).state == "refused"
        assert (await desk.order("send_receipt(order_id=4411)", user=USER)).state == "done"


@pytest.mark.parametrize(
    ("rules", "turn", "refused"),
    [
        (HUNDRED, charge("1.00"), "charge_card was refused (hundred, rules.yaml:1: nobody kept the amount"),
        (
            SAME_ORDER,
            "send_receipt(order_id=4411)",
            "send_receipt was refused (paid, rules.yaml:1: nobody kept the order_id",
        ),
    ],
)
async def test_where_a_page_of_the_record_is_gone_the_refusal_says_so_and_the_way_out(  # noqa: PLR0917 - fixtures
    client, ruled, task_queue, monkeypatch, rules, turn, refused
):
    monkeypatch.setattr(ledger, "PAGE_BYTES", 500)
    async with open_desk(client, ruled(NO_RULES).agent, task_queue=task_queue) as desk:
        await desk.order(charge("20.00"), user=USER)
    # As when somebody deleted it: the server does not know the page.
    look = fold._page
    monkeypatch.setattr(fold, "_page", lambda client, name: look(client, f"gone:{name}"))
    async with open_desk(client, ruled(rules).agent, task_queue=task_queue) as desk:
        assert (await desk.order(turn, user=USER)).text == f"This run stopped: {refused} {TOO_NEW})."
        await client.get_workflow_handle(session_workflow_id(desk.name, USER)).terminate("as the refusal says")
        await desk.order(charge("1.00"), user=USER)
        assert (await desk.order(turn, user=USER)).state == "done"


async def test_a_run_that_was_terminated_counts_as_if_its_calls_had_run(client, ruled, task_queue):
    bench = ruled(HUNDRED)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        waiting = await desk.chat(charge("60.00"), user=USER)
        await client.get_workflow_handle(waiting.run).terminate("by hand")
        assert (await desk.order(charge("40.01"), user=USER)).state == "refused"
        assert (await desk.order(charge("40.00"), user=USER)).state == "done"


async def folds(client: Client, desk: Desk) -> int:
    """How often the session had its record folded anew."""
    history = await client.get_workflow_handle(session_workflow_id(desk.name, USER)).fetch_history()
    scheduled = [event.activity_task_scheduled_event_attributes.activity_type.name for event in history.events]
    return scheduled.count("amends.fold_record")
