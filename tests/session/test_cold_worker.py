"""A worker that comes to a session without having it in memory takes the next turn as the replay after it will.

The SDK gives such a worker what it missed since the last command all at once, and an update in front of it. The worker
after it is given the same in two parts. A session that answers differently then never replays again, and a run goes
on that was asked to stop.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from amends.contract.names import ANSWER_UPDATE, REFUSAL_SIGNAL, STOP_SIGNAL, WITHDRAW_SIGNAL, session_workflow_id
from amends.contract.question import Answer
from amends.testing.desk import Desk, open_desk
from amends.testing.replay import replay
from amends.tests.scenarios.stage import eventually, make_bench, run_of, settled, view_when
from temporalio.client import Client, WorkflowHandle

Session = WorkflowHandle[Any, Any]
TURN, READ = "charge_card(order_id=4411, amount=40.00)", "get_order(order_id=4411)"


async def cancel(session: Session) -> None:
    await session.cancel()


async def stop(session: Session) -> None:
    await session.signal(STOP_SIGNAL, {"by": "ops"})


async def withdraw(session: Session) -> None:
    await session.signal(WITHDRAW_SIGNAL, "some-update")


async def refuse(session: Session) -> None:
    await session.signal(REFUSAL_SIGNAL, {"run": "some run", "by": "ana", "code": "operator_required"})


async def know_nothing(session: Session) -> None:
    await session.signal("no such signal")


async def quiet(session: Session, since: int) -> bool:
    description = await session.describe()
    return description.history_length > since and not description.raw_description.HasField("pending_workflow_task")


@pytest.mark.parametrize("disturb", [cancel, stop, withdraw, refuse, know_nothing], ids=lambda each: each.__name__)
async def test_the_turn_after_a_session_was_disturbed_is_taken_by_a_worker_that_was_just_started(
    client: Client, task_queue: str, disturb: Callable[[Session], Awaitable[None]]
):
    async with open_desk(client, make_bench().agent, task_queue=task_queue) as desk:
        await desk.chat(TURN, user=desk.user)
        session: Session = client.get_workflow_handle(session_workflow_id(desk.name, desk.user))
        since = (await session.describe()).history_length
        await disturb(session)
        await eventually(lambda: quiet(session, since))
        if disturb is not stop:
            assert (await desk.confirm(desk.user, "approve")).text == "Done: charge_card."
        await settled(desk)
    await two_new_workers_take_a_turn_each(client, desk, session, task_queue)


async def two_new_workers_take_a_turn_each(client: Client, desk: Desk, session: Session, task_queue: str) -> None:
    for _ in range(2):
        async with (
            open_desk(client, make_bench().agent, task_queue=task_queue, user=desk.user) as later,
            asyncio.timeout(20),
        ):
            assert (await later.order(READ)).text == "Done: get_order."
            await settled(later)
    assert await replay(await session.fetch_history()) == ()


async def test_the_turn_after_one_that_waited_is_taken_by_a_worker_that_was_just_started(
    client: Client, task_queue: str
):
    async with open_desk(client, make_bench().agent, task_queue=task_queue) as desk:
        await desk.chat(TURN, user=desk.user)
        waiting = asyncio.create_task(desk.chat(READ, user=desk.user, queue=True))
        session: Session = client.get_workflow_handle(session_workflow_id(desk.name, desk.user))

        async def is_in_line() -> bool:
            return (await desk.session(desk.user)).queued == 1

        await eventually(is_in_line)
        await desk.confirm(desk.user, "approve")
        assert (await waiting).text == "Done: get_order."
        await settled(desk)
    await two_new_workers_take_a_turn_each(client, desk, session, task_queue)


@pytest.mark.parametrize("over", [True, False], ids=["finished", "open"])
async def test_the_turn_after_an_unwind_is_taken_by_a_worker_that_was_just_started(
    client: Client, task_queue: str, *, over: bool
):
    bench = make_bench()
    bench.on("charge_card").returns({"id": "ch_91"})
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        reply = await desk.chat(f"{TURN}; add_note(order_id=4411, text=x)", user=desk.user)
        for _ in range(2 if over else 1):
            await desk.confirm(desk.user, "approve")
        if over:
            await settled(desk)
        await desk.unwind(reply.run)
        session: Session = client.get_workflow_handle(session_workflow_id(desk.name, desk.user))
        await settled(desk)
        since = (await session.describe()).history_length
        await refuse(session)
        await eventually(lambda: quiet(session, since))
    assert bench.names[-1] == "refund_card"
    await two_new_workers_take_a_turn_each(client, desk, session, task_queue)


async def test_an_answer_after_a_run_was_cancelled_starts_nothing_on_a_worker_that_was_just_started(
    client: Client, task_queue: str
):
    bench = make_bench()
    bench.on("charge_card").raises(ConnectionResetError("gone"))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        await desk.chat(f"{TURN}; {READ}", user=desk.user)
        reply = await desk.confirm(desk.user, "approve")
        run = run_of(desk, reply.run)
        since = (await run.describe()).history_length
        await cancel(run)
        await eventually(lambda: quiet(run, since))
    async with open_desk(client, bench.agent, task_queue=task_queue, user=desk.user) as later:
        answer = Answer(question_id="q2", answer="happened", by="ana", result={"id": "ch_1"})
        await run.execute_update(ANSWER_UPDATE, answer)
        view = await view_when(later, reply.run, lambda view: view.ended_at)
        assert [step.tool for step in view.steps] == ["charge_card"]
        assert [call.tool for call in bench.calls] == ["charge_card", "refund_card"]
    assert await replay(await run.fetch_history()) == ()
