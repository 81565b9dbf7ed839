"""A session that continues as new while a run is open still learns of its end, and loses nothing (SPEC 7.1)."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import timedelta

import pytest
from amends import Conflict
from amends.activities.follow import pause
from amends.contract.names import LANGUAGE_UPDATE, SUBMIT_UPDATE
from amends.contract.session import Submitted, Turn
from amends.rulebook.effects import AtMost
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import eventually, make_bench, run_of, settled
from amends.tests.session.session_stage import CHARGE, LOOK, NOTE, ORDER, executions, language, session_of
from temporalio.client import Client

Overdue = Callable[[int], None]


async def carried_over(desk: Desk, turn: str, overdue_after: Overdue) -> str:
    """Give a turn that asks, and make the session continue as new while it waits; return the run."""
    overdue_after(4)
    reply = await desk.chat(turn, user=desk.user)
    before = await executions(desk)
    await language(desk, times=3)

    async def continued() -> bool:
        return await executions(desk) > before

    await eventually(continued)
    return reply.run


async def test_the_end_of_a_run_is_learned_in_a_later_execution(desk: Desk, bench: ToolBench, overdue_after: Overdue):
    bench.on("provision_account").raises(RuntimeError("down"))
    run = await carried_over(desk, ORDER, overdue_after)
    assert (await desk.session(desk.user)).open_run == run
    with pytest.raises(Conflict) as told:
        await desk.chat(LOOK, user=desk.user)
    assert (told.value.code, told.value.run_id, told.value.question_id) == ("thread_is_waiting", run, "q1")
    await desk.confirm(desk.user, "approve")
    reply = await desk.confirm(desk.user, "approve")
    assert reply.state == "undone"
    session = await settled(desk)
    assert [(line.run, line.state, line.text) for line in session.runs] == [(run, "undone", reply.text)]
    assert [message.text for message in session.memory] == [ORDER, reply.text]
    record = await desk.record(desk.user)
    assert record.verify() is None
    kinds = [(entry.kind, entry.tool) for entry in record.entries if entry.kind in ("call", "undo")]
    assert kinds == [("call", "charge_card"), ("call", "provision_account"), ("undo", "refund_card")]


async def test_the_next_turn_need_not_wait_for_the_session_to_look(desk: Desk, overdue_after: Overdue):
    await carried_over(desk, NOTE, overdue_after)
    await asyncio.sleep(1.1)  # a look has just been taken, and the next is a second away
    await desk.confirm(desk.user, "approve")
    began = asyncio.get_running_loop().time()
    assert (await desk.chat(LOOK, user=desk.user)).text == "Done: get_order."
    assert asyncio.get_running_loop().time() - began < 0.8


async def test_a_run_that_is_terminated_in_a_later_execution_is_noted(desk: Desk, overdue_after: Overdue):
    run = await carried_over(desk, ORDER, overdue_after)
    await desk.confirm(desk.user, "approve")
    await run_of(desk, run).terminate("by hand")
    line = (await settled(desk)).runs[-1]
    assert (line.run, line.state) == (run, "left")
    assert line.text.endswith("What it did is still done: charge_card.")
    assert (await desk.order(LOOK)).steps[0].number == 3


async def test_rules_count_what_a_run_did_across_executions(client: Client, task_queue: str, overdue_after: Overdue):
    bench = make_bench(AtMost(id="one_note", actions=("add_note",), calls=1, say="one note is enough"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        await carried_over(desk, NOTE, overdue_after)
        assert (await desk.confirm(desk.user, "approve")).state == "done"
        reply = await desk.order(NOTE)
    assert reply.text == "This run stopped: add_note was refused (one_note: one note is enough)."


async def test_a_run_may_be_carried_over_many_times(desk: Desk, overdue_after: Overdue):
    run = await carried_over(desk, NOTE, overdue_after)
    await language(desk, times=12)
    assert await executions(desk) >= 4
    assert (await desk.confirm(desk.user, "approve")).text == "Done: add_note."
    session = await settled(desk)
    assert [(line.run, line.state) for line in session.runs] == [(run, "done")]


async def test_queued_turns_are_carried_over_in_their_order(bench: ToolBench, desk: Desk, overdue_after: Overdue):
    overdue_after(4)
    await desk.chat(NOTE, user=desk.user)
    turns = [f"get_order(order_id={number})" for number in range(1, 7)]
    queued: list[asyncio.Task[object]] = []
    for place, turn in enumerate(turns, 1):
        queued.append(asyncio.create_task(desk.chat(turn, user=desk.user, queue=True)))

        async def is_in_line(place: int = place) -> bool:
            return (await desk.session(desk.user)).queued == place

        await eventually(is_in_line)
    assert await executions(desk) >= 2
    await desk.confirm(desk.user, "approve")
    await asyncio.gather(*queued)
    assert [call.arguments["order_id"] for call in bench.calls[1:]] == ["1", "2", "3", "4", "5", "6"]
    assert [call.context.step for call in bench.calls] == list(range(1, 8))


async def test_a_queued_turn_begins_though_nobody_waits_for_it(bench: ToolBench, desk: Desk, overdue_after: Overdue):
    run = await carried_over(desk, NOTE, overdue_after)
    told = await session_of(desk).execute_update(
        SUBMIT_UPDATE, Turn(text=LOOK, queue=True, request_id="gone"), result_type=Submitted
    )
    assert (told.status, told.run) == ("queued", run)
    await desk.confirm(desk.user, "approve")

    async def both_are_over() -> bool:
        return (await desk.session(desk.user)).turns == 2

    await eventually(both_are_over)
    assert bench.names == ["add_note", "get_order"]
    again = await desk.chat(LOOK, user=desk.user, key="gone")
    assert again.text == "Done: get_order."
    assert bench.names == ["add_note", "get_order"]


async def test_no_update_is_lost_or_answered_twice_while_it_continues_as_new(
    bench: ToolBench, desk: Desk, overdue_after: Overdue
):
    await carried_over(desk, NOTE, overdue_after)
    stop = asyncio.Event()
    answers: list[str] = []

    async def keep_asking(number: int) -> None:
        while not stop.is_set():
            if number == 0:
                turn = Turn(text=LOOK, request_id=f"{number}-{len(answers)}")
                told = await session_of(desk).execute_update(SUBMIT_UPDATE, turn, result_type=Submitted)
                answers.append(told.status)
            elif number == 1:
                with pytest.raises(Conflict) as waiting:
                    await desk.chat(LOOK, user=desk.user)
                answers.append(waiting.value.code)
            else:
                answers.append(await session_of(desk).execute_update(LANGUAGE_UPDATE, "pt-BR"))

    asking = [asyncio.create_task(keep_asking(number)) for number in range(4)]
    queued = [asyncio.create_task(desk.chat(LOOK, user=desk.user, queue=True, language="en")) for _ in range(5)]
    await asyncio.sleep(2)
    stop.set()
    await asyncio.gather(*asking)
    assert len(answers) > 20
    assert set(answers) <= {"pt-BR", "busy", "again", "thread_is_waiting"}
    assert await executions(desk) > 4
    assert bench.names == []
    await desk.confirm(desk.user, "approve")
    replies = await asyncio.gather(*queued)
    assert bench.names == ["add_note", *["get_order"] * 5]
    assert len({reply.run for reply in replies}) == 5
    record = await desk.record(desk.user)
    assert record.verify() is None
    assert sum(entry.kind == "language" for entry in record.entries) == 3 + answers.count("pt-BR")


async def test_a_caller_who_wrongly_says_that_the_run_is_over_does_not_keep_the_session(
    desk: Desk, overdue_after: Overdue
):
    run = await carried_over(desk, NOTE, overdue_after)
    lie = Turn(text=LOOK, request_id="lie", settled=run)
    lying = asyncio.create_task(session_of(desk).execute_update(SUBMIT_UPDATE, lie, result_type=Submitted))
    before = await executions(desk)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(asyncio.shield(lying), 0.3)
    assert not lying.done()
    await language(desk, times=6)
    assert (await lying).status == "again"
    assert await executions(desk) > before
    await desk.confirm(desk.user, "skip")


async def test_in_the_common_case_nothing_is_paid(desk: Desk):
    """A run that ends in the execution that began it costs the session its child's three events and no activity."""
    await desk.order(CHARGE)
    await settled(desk)
    events = [str(event.WhichOneof("attributes")) for event in (await session_of(desk).fetch_history()).events]
    assert not [event for event in events if event.startswith(("activity", "timer", "external", "signal"))]
    assert len(events) == 16


@pytest.mark.parametrize(
    ("waited", "pauses"),
    [(0, 1), (10, 1), (100, 2), (600, 12), (3_000, 60), (1_000_000, 60)],
)
def test_a_session_looks_the_less_often_the_longer_it_waits(waited: int, pauses: int):
    assert pause(timedelta(seconds=waited)) == timedelta(seconds=pauses)
