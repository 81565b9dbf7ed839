"""A confirmation that is waited for so long and no longer: edge case D5, SPEC 9.3."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from amends import Conflict
from amends.client.agent import AsyncAgent
from amends.contract.names import ANSWER_SIGNAL, ANSWER_UPDATE
from amends.contract.question import Answered, Expiry, Question
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.histories.recording import KeepHistory
from amends.tests.scenarios.stage import make_bench, run_of, settled, view_when
from temporalio.client import Client

CHARGE = "charge_card(order_id=4411, amount=40.00)"
SOON = 1
"""Seconds: long enough to answer in, short enough to wait for."""


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> ToolBench:
    return make_bench(expiry=getattr(request, "param", Expiry(seconds=SOON)))


@pytest.fixture
async def desk(client: Client, task_queue: str, bench: ToolBench) -> AsyncIterator[Desk]:
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        yield desk


ENDS = Expiry(seconds=SOON, then="cancel all")


async def until_expired(question: Question) -> None:
    assert question.expires_at is not None
    await asyncio.sleep((question.expires_at - datetime.now(UTC)).total_seconds() + 0.05)


@pytest.mark.parametrize("bench", [Expiry(seconds=60), Expiry(seconds=60, then="cancel all")], indirect=True)
async def test_in_time_it_is_as_ever(bench: ToolBench, desk: Desk):
    (question,) = (await desk.chat(CHARGE, user=desk.user)).waiting
    assert question.expires_at is not None
    assert (question.expires_at - question.asked_at).total_seconds() == 60
    assert (await desk.confirm(desk.user, "approve")).text == "Done: charge_card."
    assert bench.names == ["charge_card"]


@pytest.mark.recorded("approved_too_late_and_asked_anew")
async def test_an_approval_that_comes_too_late_is_not_taken_and_the_question_is_asked_anew(
    bench: ToolBench, desk: Desk, keep_history: KeepHistory
):
    (old,) = (await desk.chat(CHARGE, user=desk.user)).waiting
    await until_expired(old)
    with pytest.raises(Conflict) as late:
        await desk.confirm(desk.user, "approve", by="ana")
    assert old.expires_at is not None
    assert (late.value.code, late.value.status, late.value.question_id) == ("question_expired", 410, "q2")
    assert str(late.value) == (
        f"The question q1 expired at {old.expires_at:%Y-%m-%d %H:%M} UTC, so this answer changes nothing. "
        "It is asked anew as q2: look at it again, and answer that."
    )
    assert bench.names == []
    (new,) = (await desk.run(late.value.run_id or "")).waiting
    assert (new.id, new.arguments, new.text) == ("q2", old.arguments, old.text)
    assert new.digest != old.digest
    assert new.expires_at is not None
    assert new.expires_at > old.expires_at
    with pytest.raises(Conflict, match="No confirmation of"):
        await desk.confirm(desk.user, "approve", question="q1")
    reply = await desk.confirm(desk.user, "approve", question="q2", digest=new.digest, by="bo")
    assert reply.text == "Done: charge_card."
    assert bench.names == ["charge_card"]
    await settled(desk)
    record = await desk.record(desk.user)
    told = [(entry.by, entry.question, entry.text, entry.outcome) for entry in record.entries if entry.kind == "answer"]
    assert told == [("ana", "q1", "approve", "question_expired"), ("bo", "q2", "approve", "taken")]
    await keep_history(reply.run)


async def test_nobody_is_asked_anew_before_somebody_approves(bench: ToolBench, desk: Desk):
    reply = await desk.chat(CHARGE, user=desk.user)
    await until_expired(reply.waiting[0])
    await asyncio.sleep(0.2)
    view = await desk.run(reply.run)
    assert (view.state, view.waiting, len(view.asked)) == ("waiting", reply.waiting, 1)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("skip", "Nothing was done. Skipped: charge_card."),
        ("cancel all", "This run stopped: cancelled by xia."),
    ],
)
async def test_to_say_no_is_never_too_late(bench: ToolBench, desk: Desk, word, text):
    reply = await desk.chat(CHARGE, user=desk.user)
    await until_expired(reply.waiting[0])
    reply = await desk.confirm(desk.user, word, by="xia")
    assert reply.text == text
    assert bench.names == []
    await settled(desk)
    record = await desk.record(desk.user)
    assert [(e.by, e.text, e.outcome) for e in record.entries if e.kind == "answer"] == [("xia", word, "taken late")]


async def test_an_update_that_comes_too_late_has_it_asked_anew_as_well(bench: ToolBench, desk: Desk):
    reply = await desk.chat(CHARGE, user=desk.user)
    await until_expired(reply.waiting[0])
    handle = run_of(desk, reply.run)
    approval = {"question_id": "q1", "answer": "approve", "by": "ana"}
    told = await handle.execute_update(ANSWER_UPDATE, approval, result_type=Answered)
    assert (told.accepted, told.reason) == (False, "question_expired")
    view = await view_when(desk, reply.run, lambda view: view.waiting and view.waiting[0].id == "q2")
    assert [each.id for each in view.asked] == ["q1", "q2"]
    told = await handle.execute_update(ANSWER_UPDATE, {**approval, "question_id": "q2"}, result_type=Answered)
    assert told.accepted
    assert (await desk.attend(reply.run)).text == "Done: charge_card."


async def test_two_who_approve_too_late_have_it_asked_anew_once(bench: ToolBench, desk: Desk):
    reply = await desk.chat(CHARGE, user=desk.user)
    await until_expired(reply.waiting[0])
    handle = run_of(desk, reply.run)
    await asyncio.gather(
        *(handle.signal(ANSWER_SIGNAL, {"question_id": "q1", "answer": "approve", "by": by}) for by in ("ana", "bo"))
    )
    view = await view_when(desk, reply.run, lambda view: len(view.answers) == 2)
    assert {told.reason for told in view.answers} <= {"question_expired", "question_closed"}
    assert [each.id for each in view.asked] == ["q1", "q2"]
    with pytest.raises(Conflict, match="It is asked anew as q2"):
        await desk.confirm(desk.user, "approve", run=reply.run)
    assert (await desk.confirm(desk.user, "skip", run=reply.run)).text == "Nothing was done. Skipped: charge_card."


@pytest.mark.parametrize("bench", [ENDS], indirect=True)
@pytest.mark.parametrize(
    ("language", "stopped", "undone"),
    [
        (
            "en",
            "This run stopped: nobody confirmed update_crm in time.",
            "Undone, latest first: charge_card (by refund_card).",
        ),
        (
            "pt-BR",
            "Esta execução parou: ninguém confirmou update_crm a tempo.",
            "Desfeito, do mais recente: charge_card (por refund_card).",
        ),
    ],
)
async def test_where_the_agent_file_says_so_the_run_stops_by_itself_and_is_undone(
    bench: ToolBench, desk: Desk, language, stopped, undone
):
    reply = await desk.chat(f"{CHARGE}; update_crm(order_id=4411)", user=desk.user, language=language)
    reply = await desk.confirm(desk.user, "approve")
    assert reply.waiting[0].on_expiry == "cancel all"
    over = await view_when(desk, reply.run, lambda view: view.over)
    assert (over.state, over.text) == ("undone", f"{stopped} {undone}")
    assert bench.names == ["charge_card", "refund_card"]
    # A run shows its end a moment before Temporal closes it, and until then takes a late answer down as one.
    await settled(desk)
    with pytest.raises(Conflict) as late:
        await desk.confirm(desk.user, "approve", run=reply.run)
    assert late.value.code == "already_ended"


@pytest.mark.parametrize("bench", [ENDS], indirect=True)
@pytest.mark.parametrize("word", ["approve", "skip"])
@pytest.mark.recorded("nobody_confirmed_in_time")
async def test_an_answer_that_meets_the_end_of_time_sets_nothing_going(
    client: Client, task_queue: str, bench: ToolBench, word, keep_history: KeepHistory
):
    """No worker was there when time was up: it finds the answer and the end of time together."""
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.chat(f"{CHARGE}; update_crm(order_id=4411)", user=desk.user)
    await until_expired(reply.waiting[0])
    await run_of(desk, reply.run).signal(ANSWER_SIGNAL, {"question_id": "q1", "answer": word, "by": "ana"})
    async with open_desk(client, bench.agent, task_queue=task_queue, user=desk.user) as later:
        reply = await later.attend(reply.run)
        view = await later.run(reply.run)
    assert reply.text == "This run stopped: nobody confirmed charge_card in time."
    assert [(told.by, told.accepted, told.reason) for told in view.answers] == [("ana", False, "question_expired")]
    assert bench.names == []
    await keep_history(reply.run)


async def test_a_stop_comes_through_while_time_runs_and_after(bench: ToolBench, desk: Desk):
    for waits in (False, True):
        reply = await desk.chat(CHARGE, user=desk.user)
        if waits:
            await until_expired(reply.waiting[0])
        await desk.stop(reply.run, by="ops", reason="enough")
        over = await view_when(desk, reply.run, lambda view: view.over)
        assert over.text == "This run stopped: stopped by ops: enough."
        await settled(desk)


async def test_a_cold_worker_takes_an_update_as_one_that_has_the_run_in_memory(client: Client, task_queue: str):
    """The time of asking decides what becomes of an approval, so it must be the same on every worker."""
    bench = make_bench(expiry=Expiry(seconds=2))
    turn = f"{CHARGE}; update_crm(order_id=4411); label(add=x, remove=y)"
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        await desk.chat(turn, user=desk.user)
        await desk.confirm(desk.user, "skip")
        reply = await desk.confirm(desk.user, "skip")
    await until_expired(reply.waiting[0])
    for number in (3, 4):
        async with open_desk(client, bench.agent, task_queue=task_queue, user=desk.user) as later:
            approval = {"question_id": f"q{number}", "answer": "approve", "by": "ana"}
            told = await run_of(later, reply.run).execute_update(ANSWER_UPDATE, approval, result_type=Answered)
            assert (told.accepted, told.reason) == (False, "question_expired")
            view = await view_when(later, reply.run, lambda view: view.waiting[0].id == f"q{number + 1}")  # noqa: B023
        await until_expired(view.waiting[0])
    async with open_desk(client, bench.agent, task_queue=task_queue, user=desk.user) as later:
        assert (await AsyncAgent(later._home).run(reply.run)).waiting[0].id == "q5"
        reply = await later.confirm(desk.user, "skip", run=reply.run)
    assert reply.text == "Nothing was done. Skipped: charge_card, update_crm, label."
