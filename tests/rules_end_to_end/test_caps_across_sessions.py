"""Caps per user and day, and per day over all users: one ledger, however many sessions race for its last room."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from amends.activities import caps
from amends.contract.errors import OutcomeUnknown
from amends.contract.names import caps_workflow_id, session_workflow_id
from amends.contract.reply import Reply
from amends.rulebook.ledger import LedgerState
from amends.testing.desk import Desk, open_desk
from temporalio.client import Client

TWO_A_DAY = """\
rules:
  - {id: two-a-day, action: charge_card, at_most: {calls: 2, per: all_day}}
"""
NEVER_OVER_FIVE = "  - {id: five, action: charge_card, when: {amount_over: 5}, never: true, say: Five at most.}\n"
HUNDRED_A_DAY = """\
rules:
  - {id: hundred-a-day, action: charge_card, at_most: {total: amount, limit: 100, per: user_day}}
"""
BOTH = """\
rules:
  - {id: user-total, action: charge_card, at_most: {total: amount, limit: 100, per: user_day}}
  - {id: all-calls, action: charge_card, at_most: {calls: 2, per: all_day}}
"""
FULL = "the cap of charge_card per day over all users has no room left"
UNASKED = "nobody could say whether the cap of charge_card per day over all users has room left"


def charge(amount: str, order: str = "4411") -> str:
    return f"charge_card(order_id={order}, amount={amount})"


async def events(client: Client, workflow: str) -> list[str]:
    history = await client.get_workflow_handle(workflow).fetch_history()
    attributes = [str(event.WhichOneof("attributes")) for event in history.events]
    return [one.removesuffix("_event_attributes") for one in attributes]


async def activities(client: Client, run: str) -> list[str]:
    history = await client.get_workflow_handle(run).fetch_history()
    scheduled = [event.activity_task_scheduled_event_attributes for event in history.events]
    return [each.activity_id for each in scheduled if each.activity_id]


def refused(replies: Sequence[Reply]) -> list[str]:
    return [reply.text for reply in replies if reply.state == "refused"]


async def test_of_two_sessions_that_race_for_the_last_room_exactly_one_gets_it(client, ruled, task_queue):
    bench = ruled(TWO_A_DAY)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        assert (await desk.order(charge("1.00"))).state == "done"
        racing = await asyncio.gather(*(desk.order(charge("1.00"), user=f"u-{number}") for number in range(4)))
    assert sorted(reply.state for reply in racing) == ["done", "refused", "refused", "refused"]
    assert len(bench.called("charge_card")) == 2
    assert refused(racing)[0] == f"This run stopped: charge_card was refused (two-a-day, rules.yaml:2: {FULL})."


async def test_a_user_has_room_of_their_own_in_a_cap_per_user(client, ruled, task_queue):
    bench = ruled(HUNDRED_A_DAY)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        replies = [await desk.order(charge(amount), user=user) for amount, user in (("60", "a"), ("60", "b"))]
        replies += [await desk.order(charge(amount), user="a") for amount in ("40.01", "40.00")]
    assert [reply.state for reply in replies] == ["done", "done", "refused", "done"]


async def test_a_session_that_was_lost_does_not_give_its_user_new_room(client, ruled, task_queue):
    bench = ruled(HUNDRED_A_DAY)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        await desk.order(charge("60.00"), user="a")
        await client.get_workflow_handle(session_workflow_id(desk.name, "a")).terminate("lost")
        assert (await desk.order(charge("60.00"), user="a")).state == "refused"


@pytest.mark.parametrize("answer", ["skip", "cancel all"])
async def test_a_call_that_is_declined_gives_its_room_back(client, ruled, task_queue, answer):
    bench = ruled(TWO_A_DAY)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        for number in range(3):
            await desk.order(charge("1.00"), answer, user=f"u-{number}")
        assert (await desk.order(charge("1.00"))).state == "done"
        assert (await room(client, desk)).open == {}


async def test_a_call_that_failed_without_effect_gives_its_room_back(client, ruled, task_queue):
    bench = ruled(TWO_A_DAY)
    bench.on("charge_card").raises(RuntimeError("no"), times=3).returns({"id": "ch-2"})
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        states = [(await desk.order(charge("1.00"))).state for _ in range(6)]
    assert states == ["undone", "undone", "undone", "done", "done", "refused"]


async def test_a_call_that_is_refused_by_another_rule_asks_for_no_room(client, ruled, task_queue):
    bench = ruled(f"{TWO_A_DAY}{NEVER_OVER_FIVE}")
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.order(charge("6.00"))
    assert reply.text == "This run stopped: charge_card was refused (five, rules.yaml:3: Five at most)."
    assert await activities(client, reply.run) == []


async def test_a_refunded_charge_keeps_its_room(client, ruled, task_queue):
    bench = ruled(TWO_A_DAY)
    bench.on("update_crm").raises(RuntimeError("down"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        for _ in range(2):
            assert (await desk.order(f"{charge('1.00')}; update_crm(order_id=4411)")).undone == ("charge_card",)
        assert (await desk.order(charge("1.00"))).state == "refused"


async def test_a_call_in_doubt_keeps_its_room_until_somebody_says_that_it_did_not_happen(client, ruled, task_queue):
    bench = ruled(TWO_A_DAY)
    bench.on("charge_card").raises(OutcomeUnknown("no answer"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        for user in ("a", "b"):
            await desk.chat(charge("1.00"), user=user)
            asked = await desk.answer(user, "approve")
            assert asked.waiting[0].kind == "outcome"
        assert (await desk.order(charge("1.00"), user="c")).state == "refused"
        await desk.answer("a", "did not happen")
        await desk.answer("b", "happened")
        await desk.chat(charge("1.00"), user="c")
        assert (await desk.answer("c", "approve")).waiting[0].kind == "outcome"
        assert (await desk.order(charge("1.00"), user="d")).state == "refused"


async def test_where_one_of_two_ledgers_is_full_the_other_is_given_back(client, ruled, task_queue):
    bench = ruled(BOTH)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        for user in ("a", "b"):
            assert (await desk.order(charge("10.00"), user=user)).state == "done"
        reply = await desk.order(charge("10.00"), user="a")
        decision = reply.steps[0].decision
        assert decision is not None
        assert [hit.rule for hit in decision.hits if hit.effect == "refuse"] == ["all-calls"]
        assert [str(sums["charge_card total amount"]) for sums in (await room(client, desk, "a")).taken.values()] == [
            "10.00"
        ]


async def room(client: Client, desk: Desk, user: str = "") -> LedgerState:
    """What a ledger would continue as new with, worked out from its history as a replay would."""
    handle = client.get_workflow_handle(caps_workflow_id(desk.name, user))
    return LedgerState.model_validate(await handle.query("view", result_type=LedgerState))


async def test_a_ledger_that_cannot_be_asked_refuses(client, ruled, task_queue, monkeypatch):
    bench = ruled(TWO_A_DAY)
    monkeypatch.setattr("amends.workflows.room._PATIENCE", impatient())
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        monkeypatch.setattr(caps, "RESERVE_UPDATE", "nobody-answers-to-this")
        reply = await desk.order(charge("1.00"))
    assert reply.text == f"This run stopped: charge_card was refused (two-a-day, rules.yaml:2: {UNASKED})."
    assert bench.calls == []


def impatient() -> Any:
    from temporalio.common import RetryPolicy

    return RetryPolicy(maximum_attempts=1)


async def test_a_run_without_such_caps_has_no_event_more(client, ruled, task_queue):
    bench = ruled("rules: [{id: three, action: charge_card, at_most: 3}]\n")
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        plain = await desk.order(charge("1.00"))
        assert await activities(client, plain.run) == ["step-1"]
        other = await desk.order("update_crm(order_id=4411)")
        assert len(await events(client, plain.run)) == len(await events(client, other.run))


async def test_a_call_that_no_such_cap_concerns_asks_nobody(client, ruled, task_queue):
    bench = ruled(TWO_A_DAY)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.order(f"update_crm(order_id=4411); {charge('1.00')}")
    assert await activities(client, reply.run) == ["step-1", "step-2.room", "step-2", "step-2.settled"]
