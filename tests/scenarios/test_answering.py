"""Answers: the first one counts, a repeat is told the same, and whatever else arrives changes nothing (SPEC 4.4)."""

import asyncio
import json
from collections.abc import Sequence

import pytest
from amends import Conflict
from amends.client.agent import AsyncAgent
from amends.contract.names import ANSWER_SIGNAL, ANSWER_UPDATE
from amends.contract.question import Answer, Answered
from amends.contract.reply import Reply
from amends.contract.run import RunView
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import ORDER, run_of, settled, view_when
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError


def another_client(desk: Desk) -> AsyncAgent:
    """Return the same agent as a second person's browser has it, with nothing remembered."""
    return AsyncAgent(desk._home)


async def test_an_answer_to_an_unknown_question_is_a_conflict(bench: ToolBench, desk: Desk):
    await desk.chat(ORDER, user=desk.user)
    with pytest.raises(Conflict, match=r"No confirmation of .* is open") as told:
        await desk.confirm(desk.user, "approve", question="q9")
    assert told.value.code == "no_open_question"
    assert bench.names == []


async def test_a_word_that_is_no_answer_is_refused_before_anything_is_sent(bench: ToolBench, desk: Desk):
    await desk.chat(ORDER, user=desk.user)
    with pytest.raises(ValueError, match="'yes' is no answer; the answers are 'approve', 'skip', 'cancel all'"):
        await desk.confirm(desk.user, "yes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'happened' is no answer"):
        await desk.confirm(desk.user, "happened")
    with pytest.raises(Conflict, match="The answer 'retry' changed nothing: answer not offered") as told:
        await desk.answer(desk.user, "retry")
    assert told.value.code == "answer_not_offered"
    assert bench.names == []


async def test_an_answer_with_nothing_open_is_a_conflict(desk: Desk):
    await desk.order("get_order(order_id=4411)")
    with pytest.raises(Conflict) as told:
        await desk.confirm(desk.user, "approve")
    assert told.value.code == "no_open_question"


async def test_g119_an_answer_that_comes_after_the_end_is_told_so(bench: ToolBench, desk: Desk):
    await desk.chat("add_note(order_id=4411, text=x)", user=desk.user)
    late = another_client(desk)
    assert (await late.attend((await late.session(desk.user)).open_run)).waiting
    late._open_runs._latest[desk.user] = await late.run((await late.session(desk.user)).open_run)
    await desk.confirm(desk.user, "approve")
    await settled(desk)
    with pytest.raises(Conflict, match="is over") as told:
        await late.confirm(desk.user, "cancel all")
    assert told.value.code == "already_ended"
    assert bench.names == ["add_note"]


async def test_of_two_people_the_slower_one_is_told_who_won(bench: ToolBench, desk: Desk):
    reply = await desk.chat(ORDER, user=desk.user)
    other = another_client(desk)
    other._open_runs._latest[desk.user] = await other.run(reply.run)
    await desk.confirm(desk.user, "approve", by="ana")
    with pytest.raises(Conflict, match=r"ana answered approve at \d\d:\d\d UTC; that answer stands\.") as told:
        await other.confirm(desk.user, "cancel all", by="bo")
    assert told.value.code == "question_closed"
    assert bench.names == ["charge_card"]


async def test_of_two_people_at_once_exactly_one_wins(bench: ToolBench, desk: Desk):
    reply = await desk.chat(ORDER, user=desk.user)
    other = another_client(desk)
    other._open_runs._latest[desk.user] = await other.run(reply.run)
    answers = await asyncio.gather(
        desk.confirm(desk.user, "approve", by="ana"),
        other.confirm(desk.user, "skip", by="bo"),
        return_exceptions=True,
    )
    lost = [told for told in answers if isinstance(told, Conflict)]
    assert len(lost) == 1
    winner = "ana answered approve" if isinstance(answers[1], Conflict) else "bo answered skip"
    assert winner in str(lost[0])
    assert bench.names == (["charge_card"] if "ana" in winner else [])


async def test_people_who_answer_through_one_client_do_not_wait_for_each_other(bench: ToolBench, desk: Desk):
    async def take_a_moment(_: object) -> object:
        await asyncio.sleep(0.02)
        return {"id": "1"}

    async def answer(number: int) -> object:
        await asyncio.sleep(number * 0.01)
        return await desk.confirm(desk.user, "approve", by=f"person {number}")

    for tool in ("charge_card", "update_crm", "provision_account"):
        bench.on(tool).does(take_a_moment)
    for _ in range(4):
        await desk.chat(ORDER, user=desk.user)
        while (await desk.session(desk.user)).open_run:
            # Far less than a client waits that missed an event, and more than a workflow task that is given again.
            async with asyncio.timeout(30):
                told = await asyncio.gather(*map(answer, range(4)), return_exceptions=True)
            assert {type(one) for one in told} <= {Reply, Conflict}


async def test_g120_the_same_answer_again_from_the_same_person_is_told_the_same(bench: ToolBench, desk: Desk):
    reply = await desk.chat(ORDER, user=desk.user)
    other = another_client(desk)
    other._open_runs._latest[desk.user] = await other.run(reply.run)
    first = await desk.confirm(desk.user, "approve", by="ana")
    again = await other.confirm(desk.user, "approve", by="ana")
    assert first.waiting == again.waiting
    assert bench.names == ["charge_card"]


async def test_an_answer_to_a_question_as_it_was_not_shown_is_refused(bench: ToolBench, desk: Desk):
    reply = await desk.chat(ORDER, user=desk.user)
    with pytest.raises(Conflict) as told:
        await desk.confirm(desk.user, "approve", digest="0" * 64)
    assert (told.value.code, bench.names) == ("digest_mismatch", [])
    await desk.confirm(desk.user, "approve", digest=reply.waiting[0].digest)
    assert bench.names == ["charge_card"]


MALFORMED: list[object] = [
    None, True, 0, -1.5, 10**30, "approve", "", [], {}, [[]], [1, {"a": None}],
    {"question_id": "q1"}, {"question_id": 1, "answer": "approve", "by": "ana"},
    {"question_id": "q1", "answer": ["approve"], "by": "ana"}, {"question_id": "q1", "answer": "approve"},
    {"question_id": "q1", "answer": "approve", "by": ""}, {"question_id": "q1", "answer": "approve", "by": None},
    {"question_id": "q1", "answer": "approve", "by": "ana", "note": "x" * 501},
    {"question_id": "q1" * 100, "answer": "approve", "by": "ana"},
    {"question_id": "q1", "answer": "x" * 41, "by": "ana"},
]  # fmt: skip


async def shown_after(desk: Desk, run: str, signals: int) -> RunView:
    return await view_when(desk, run, lambda view: len(view.answers) >= signals)


@pytest.mark.recorded("malformed_answers")
async def test_g121_a_signal_of_any_shape_changes_nothing_and_is_recorded(bench: ToolBench, desk: Desk):
    reply = await desk.chat(ORDER, user=desk.user)
    run = run_of(desk, reply.run)
    for payload in MALFORMED:
        await run.signal(ANSWER_SIGNAL, payload)
    view = await shown_after(desk, reply.run, len(MALFORMED))
    assert [told.reason for told in view.answers] == ["malformed"] * len(MALFORMED)
    assert (view.state, view.waiting) == ("waiting", reply.waiting)
    assert (await desk.order(ORDER, user=f"{desk.user}-2", by="ana")).state == "done"
    bench.calls.clear()
    for _ in range(3):
        reply = await desk.confirm(desk.user, "approve")
    assert (reply.state, len(bench.names)) == ("done", 3)


def raw(data: bytes, encoding: bytes = b"json/plain") -> RawValue:
    return RawValue(Payload(metadata={"encoding": encoding}, data=data))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        [{"question_id": "q1", "answer": "no", "by": "ana"}, "and another"],
        [raw(b"\xff\xfe not json")],
        [raw(b"")],
        [raw(b"\x00\x01", b"binary/plain")],
        [raw(b"?", b"no/such-encoding")],
        [raw(b"", b"binary/null")],
        [raw(b"[" * 100_000 + b"]" * 100_000)],
        [raw(b'{"question_id":"q1","answer":"approve","by":"ana","result":' + b"[" * 500 + b"]" * 500 + b"}")],
        [raw(b'{"question_id":"q1","answer":"\\ud800","by":"ana"}')],
        [raw(b'{"question_id":"\\u0000","answer":"approve","by":"ana"}')],
        [raw(json.dumps({"question_id": "q8", "answer": "approve", "by": "x", "result": float("nan")}).encode())],
    ],
    ids=[
        "none", "two", "no-json", "empty", "binary", "unknown-encoding", "null", "deep", "deep-result", "surrogate",
        "nul", "nan",
    ],
)  # fmt: skip
async def test_a_signal_that_is_hardly_one_does_not_wedge_the_run(
    bench: ToolBench, desk: Desk, arguments: Sequence[object]
):
    reply = await desk.chat("add_note(order_id=4411, text=x)", user=desk.user)
    await run_of(desk, reply.run).signal(ANSWER_SIGNAL, args=list(arguments))
    async with asyncio.timeout(5):
        view = await desk.run(reply.run)
        if view.waiting:
            reply = await desk.confirm(desk.user, "approve")
        else:
            reply = await desk.attend(reply.run)
    assert (reply.state, bench.names) == ("done", ["add_note"])


async def test_a_flood_of_answers_is_not_kept_whole(desk: Desk):
    reply = await desk.chat("add_note(order_id=4411, text=x)", user=desk.user)
    run = run_of(desk, reply.run)
    await asyncio.gather(*(run.signal(ANSWER_SIGNAL, number) for number in range(250)))
    view = await shown_after(desk, reply.run, 200)
    assert len(view.answers) == 200
    assert (await desk.confirm(desk.user, "approve")).state == "done"


# The update


@pytest.mark.recorded("answered_by_update")
async def test_an_update_takes_an_answer_and_says_so_at_once(bench: ToolBench, desk: Desk):
    reply = await desk.chat(ORDER, user=desk.user)
    run = run_of(desk, reply.run)
    answer = Answer(question_id="q1", answer="approve", by="ana")
    told: Answered = await run.execute_update(ANSWER_UPDATE, answer, result_type=Answered)
    assert (told.accepted, told.by, told.answer) == (True, "ana", "approve")
    again: Answered = await run.execute_update(ANSWER_UPDATE, answer, result_type=Answered)
    assert again == told
    view = await view_when(desk, reply.run, lambda view: view.waiting and view.waiting[0].id == "q2")
    assert view.steps[0].confirmed_by == "ana"
    await another_client(desk).confirm(desk.user, "approve")
    reply = await another_client(desk).confirm(desk.user, "skip")
    assert reply.text == "Done: charge_card, update_crm. Skipped: provision_account."


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"question_id": "q7", "answer": "approve", "by": "ana"}, "unknown_question"),
        ({"question_id": "q1", "answer": "retry", "by": "ana"}, "answer_not_offered"),
        ({"question_id": "q1", "answer": "approve", "by": "ana", "digest": "0"}, "digest_mismatch"),
    ],
)
async def test_an_update_that_would_change_nothing_is_refused_and_leaves_no_trace(
    desk: Desk, answer: dict[str, str], reason: str
):
    reply = await desk.chat("add_note(order_id=4411, text=x)", user=desk.user)
    run = run_of(desk, reply.run)
    before = (await run.describe()).history_length
    with pytest.raises(WorkflowUpdateFailedError) as told:
        await run.execute_update(ANSWER_UPDATE, answer)
    assert isinstance(told.value.cause, ApplicationError)
    assert told.value.cause.type == reason
    assert (await run.describe()).history_length == before
    assert (await desk.confirm(desk.user, "skip")).state == "done"


async def test_an_update_of_another_person_after_the_first_is_refused(desk: Desk):
    reply = await desk.chat(ORDER, user=desk.user)
    run = run_of(desk, reply.run)
    await run.execute_update(ANSWER_UPDATE, Answer(question_id="q1", answer="approve", by="ana"))
    with pytest.raises(WorkflowUpdateFailedError) as told:
        await run.execute_update(ANSWER_UPDATE, Answer(question_id="q1", answer="approve", by="bo"))
    assert isinstance(told.value.cause, ApplicationError)
    assert told.value.cause.type == "question_closed"
    await another_client(desk).confirm(desk.user, "cancel all")


async def test_a_client_that_was_told_who_won_knows_the_next_question(bench: ToolBench, desk: Desk):
    await desk.chat(ORDER, user=desk.user)
    await another_client(desk).confirm(desk.user, "approve")
    with pytest.raises(Conflict, match="that answer stands"):
        await desk.confirm(desk.user, "skip", by="bo")
    assert (await desk.confirm(desk.user, "cancel all")).undone == ("charge_card",)


@pytest.mark.parametrize(
    "answer", [(), (None,), (3,), ("approve",), ([],), ({},), ({"question_id": 4},), ({}, {})], ids=str
)
async def test_a_malformed_update_fails_and_the_run_lives(desk: Desk, answer: tuple[object, ...]):
    reply = await desk.chat("add_note(order_id=4411, text=x)", user=desk.user)
    with pytest.raises(WorkflowUpdateFailedError):
        async with asyncio.timeout(5):
            await run_of(desk, reply.run).execute_update(ANSWER_UPDATE, args=answer)
    assert (await desk.confirm(desk.user, "skip")).state == "done"
