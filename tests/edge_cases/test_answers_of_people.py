"""What people say, twice, too late or all at once: edge cases D2, D3, D5, G112 to G118 (docs/cases.md)."""

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from amends import Conflict
from amends.client.agent import AsyncAgent
from amends.contract.decision import Call
from amends.contract.keys import idempotency_key
from amends.contract.names import ANSWER_SIGNAL, STOP_SIGNAL
from amends.contract.question import Expiry
from amends.rulebook.check import check
from amends.rulebook.record import Record
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.histories.recording import KeepHistory
from amends.tests.scenarios.stage import make_bench, run_of, settled, view_when
from amends.tools.loader import load_agent
from amends.tools.wire import wire_argument
from pydantic import JsonValue
from temporalio.client import Client

TILL = Path(__file__).parents[1] / "chaos" / "till" / "agent.yaml"
CHARGE = "charge_card(order_id=4411, amount=40.00)"


def test_d02_what_was_approved_is_what_runs_whatever_the_spelling(bench: ToolBench):
    def verdict(arguments: dict[str, JsonValue], approved: str | None = None) -> tuple[str, str]:
        call = Call(
            agent="desk", tool="charge_card", arguments=arguments, run="r", step=1, day="2026-11-30", approved=approved
        )
        decision = check(
            bench.agent.rulebook, call, tools=bench.agent.contracts, facts={}, record=Record(None), reserved={}
        )
        return decision.verdict, decision.digest

    def amount(said: str) -> JsonValue:
        return wire_argument(Decimal(said), money=True)

    asked, digest = verdict({"order_id": "Müller", "amount": amount("40.00")})
    assert asked == "confirm"
    same: list[dict[str, JsonValue]] = [
        {"order_id": "Müller", "amount": amount("40.0")},
        {"amount": amount("40"), "order_id": "Müller"},
        {"amount": amount("40.000"), "order_id": "Mu\u0308ller"},
    ]
    assert [verdict(each, digest) for each in same] == [("allow", digest)] * 3
    assert verdict({"order_id": "Müller", "amount": amount("400")}, digest)[0] == "confirm"


@pytest.mark.parametrize("spelling", ["charge order 4411 40", "charge order 4411 $40", "charge order 4411 40.00"])
async def test_d02_on_a_server_another_spelling_is_the_same_call_and_another_amount_is_asked_anew(
    client: Client, task_queue: str, spelling: str
):
    bench = ToolBench(load_agent(TILL))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        shown = await desk.chat(spelling, user=desk.user)
        digest = shown.waiting[0].digest
        assert (await desk.answer(desk.user, "approve", digest=digest)).text == "Done: charge_card."
        (call,) = bench.calls
        arguments: dict[str, JsonValue] = {"amount": "40.00", "order_id": "4411"}
        assert shown.waiting[0].arguments == arguments
        assert call.arguments == {**arguments, "amount": Decimal("40.00")}
        session = call.context.session
        assert call.key == idempotency_key(session=session, step=1, tool="charge_card", arguments=arguments)

        other = await desk.chat("charge order 4411 $400", user=desk.user)
        assert other.waiting[0].arguments == {**arguments, "amount": "400.00"}
        with pytest.raises(Conflict):
            await desk.answer(desk.user, "approve", digest=digest)
        assert bench.names == ["charge_card"]
        await desk.confirm(desk.user, "skip")


@pytest.mark.recorded("answered_by_three")
async def test_d03_one_approval_three_redeemers(bench: ToolBench, desk: Desk):
    reply = await desk.chat(CHARGE, user=desk.user)
    run = run_of(desk, reply.run)
    said = [("approve", "ana"), ("approve", "bo"), ("cancel all", "operator")] * 2
    await asyncio.gather(
        *(run.signal(ANSWER_SIGNAL, {"question_id": "q1", "answer": word, "by": by}) for word, by in said)
    )
    view = await view_when(desk, reply.run, lambda view: view.over)
    taken = [told for told in view.answers if told.accepted]
    assert len(taken) == 1
    (winner,) = taken
    others = {told.by for told in view.answers if not told.accepted}
    assert others <= {"ana", "bo", "operator"} - {winner.by}
    assert {told.reason for told in view.answers if not told.accepted} <= {"question_closed"}
    assert bench.names == ([] if winner.answer == "cancel all" else ["charge_card"])
    assert view.steps[0].confirmed_by == winner.by


async def test_d03_the_others_are_told_who_won_and_the_winner_the_same_again(bench: ToolBench, desk: Desk):
    reply = await desk.chat(f"{CHARGE}; update_crm(order_id=4411)", user=desk.user)
    people = [AsyncAgent(desk._home) for _ in range(3)]
    for person in people:
        person._open_runs._latest[desk.user] = await person.run(reply.run)
    first = await people[0].confirm(desk.user, "approve", by="ana")
    assert (await people[1].confirm(desk.user, "approve", by="ana")).waiting == first.waiting
    with pytest.raises(Conflict, match="ana answered approve"):
        await people[2].confirm(desk.user, "cancel all", by="operator")
    assert bench.names == ["charge_card"]


@pytest.mark.recorded("answered_while_no_worker_was_there")
async def test_d05_nobody_answered(client: Client, task_queue: str, keep_history: KeepHistory):
    """A poll decides nothing, nor does a dead worker. A no counts however late it comes, a yes only in its time."""
    expiry = Expiry(seconds=1)
    first, second = make_bench(expiry=expiry), make_bench(expiry=expiry)
    async with open_desk(client, first.agent, task_queue=task_queue) as desk:
        reply = await desk.chat(CHARGE, user=desk.user)
        async with asyncio.timeout(5):
            polled = await AsyncAgent(desk._home).attend(reply.run)
        assert (polled.state, polled.waiting) == ("waiting", reply.waiting)
    # No worker is there when the approval expires.
    await asyncio.sleep(1.1)
    handle = run_of(desk, reply.run)
    await handle.signal(ANSWER_SIGNAL, {"question_id": "q1", "answer": "skip", "by": "xia"})
    await handle.signal(ANSWER_SIGNAL, {"question_id": "q1", "answer": "approve", "by": "yan"})
    async with open_desk(client, second.agent, task_queue=task_queue, user=desk.user) as later:
        reply = await later.attend(reply.run)
        view = await later.run(reply.run)
        with pytest.raises(Conflict) as late:
            await later.confirm(desk.user, "approve", run=reply.run, question="q1", by="zoe")
        await settled(later)
        record = await later.record(desk.user)
    assert (late.value.code, late.value.hint) == ("already_ended", "Say the turn again to start another run.")
    told = [(entry.by, entry.text, entry.outcome) for entry in record.entries if entry.kind == "answer"]
    assert told == [("xia", "skip", "taken late"), ("yan", "approve", "question_closed")]
    assert reply.text == "Nothing was done. Skipped: charge_card."
    assert [(told.by, told.answer, told.accepted, told.reason) for told in view.answers] == [
        ("xia", "skip", True, ""),
        ("yan", "approve", False, "question_closed"),
    ]
    assert (first.names, second.names) == ([], [])
    await keep_history(reply.run)


async def test_g112_a_no_outlives_the_worker_it_was_told(client: Client, task_queue: str):
    first, second = make_bench(), make_bench()
    async with open_desk(client, first.agent, task_queue=task_queue) as desk:
        await desk.chat(f"{CHARGE}; update_crm(order_id=4411)", user=desk.user)
        await desk.confirm(desk.user, "skip")
    async with open_desk(client, second.agent, task_queue=task_queue, user=desk.user) as later:
        reply = await later.confirm(desk.user, "approve")
    assert reply.text == "Done: update_crm. Skipped: charge_card."
    assert (first.names, second.names) == ([], ["update_crm"])


async def test_g114_a_no_that_comes_while_the_call_runs_changes_nothing(bench: ToolBench, desk: Desk):
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def take_time(_: BenchCall) -> object:
        entered.set()
        await go_on.wait()
        return {"id": "ch-1"}

    bench.on("charge_card").does(take_time)
    reply = await desk.chat(CHARGE, user=desk.user)
    other = AsyncAgent(desk._home)
    other._open_runs._latest[desk.user] = await other.run(reply.run)
    approving = asyncio.create_task(desk.confirm(desk.user, "approve", by="ana"))
    await entered.wait()
    refusing = asyncio.create_task(other.confirm(desk.user, "skip", by="bo"))
    await view_when(desk, reply.run, lambda view: len(view.answers) == 2)
    go_on.set()
    assert (await approving).text == "Done: charge_card."
    with pytest.raises(Conflict, match=r"ana answered approve|is over"):
        await refusing


@pytest.mark.recorded("approved_and_stopped")
async def test_g113_g115_approved_and_never_begun_a_no_comes_too_late_and_a_stop_does_not(
    client: Client, task_queue: str, keep_history: KeepHistory
):
    """The first answer stands, whatever died since; who wants it otherwise stops the run before it goes on."""
    first, second = make_bench(), make_bench()
    async with open_desk(client, first.agent, task_queue=task_queue) as desk:
        reply = await desk.chat(CHARGE, user=desk.user)
    run = run_of(desk, reply.run)
    await run.signal(ANSWER_SIGNAL, {"question_id": "q1", "answer": "approve", "by": "ana"})
    await run.signal(ANSWER_SIGNAL, {"question_id": "q1", "answer": "skip", "by": "bo"})
    await run.signal(STOP_SIGNAL, {"by": "bo", "reason": "not this one."})
    async with open_desk(client, second.agent, task_queue=task_queue, user=desk.user) as later:
        reply = await later.attend(reply.run)
        view = await later.run(reply.run)
    assert reply.text == "This run stopped: stopped by bo: not this one."
    assert [(told.by, told.answer, told.accepted) for told in view.answers] == [
        ("ana", "approve", True),
        ("bo", "skip", False),
    ]
    assert (first.names, second.names) == ([], [])
    await keep_history(reply.run)


async def test_g118_an_answer_is_kept_with_who_gave_it_and_when(desk: Desk):
    begun = datetime.now(UTC)
    reply = await desk.chat(CHARGE, user=desk.user)
    await desk.confirm(desk.user, "approve", by="ana", note="the customer is in the shop")
    view = await desk.run(reply.run)
    (told,) = view.answers
    assert (told.by, told.note, view.steps[0].confirmed_by) == ("ana", "the customer is in the shop", "ana")
    assert 0 <= (told.at - begun).total_seconds() < 60


async def test_an_answer_may_name_a_question_that_its_client_has_not_seen(bench: ToolBench, desk: Desk):
    reply = await desk.chat(f"{CHARGE}; update_crm(order_id=4411)", user=desk.user)
    await AsyncAgent(desk._home).confirm(desk.user, "approve")
    reply = await desk.confirm(desk.user, "approve", run=reply.run, question="q2")
    assert (reply.text, bench.names) == ("Done: charge_card, update_crm.", ["charge_card", "update_crm"])
