"""Stopping from outside: one run, a session, an agent, everything (SPEC 8.4)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from amends.client.stopping import Stopped
from amends.contract.errors import NotFound
from amends.contract.names import READ_TURN_ACTIVITY, STOP_SIGNAL, session_workflow_id
from amends.contract.reply import Reply
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import ORDER, eventually, make_bench, run_of, settled
from amends.worker.plugin import AmendsPlugin
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor, Worker

NOTE = "add_note(order_id=4411, text=x)"
UNDONE = "Undone, latest first: charge_card (by refund_card)."


class Held(Interceptor):
    """Holds the reading of turns until a test lets it go on."""

    def __init__(self) -> None:
        self.began, self.may_end = asyncio.Event(), asyncio.Event()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - theirs
        held = self

        class Holding(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - theirs
                if getattr(input.fn, "__name__", "") == READ_TURN_ACTIVITY.split(".")[1]:
                    held.began.set()
                    await held.may_end.wait()
                return await self.next.execute_activity(input)

        return Holding(next)


async def kinds_of_record(desk: Desk) -> list[str]:
    return [entry.kind for entry in (await desk.record(desk.user)).entries]


@pytest.mark.recorded("stopped_while_waiting")
async def test_g040_g044_a_stopped_run_sends_nothing_more_and_undoes_what_it_did(bench: ToolBench, desk: Desk):
    await desk.chat(ORDER, user=desk.user)
    reply = await desk.confirm(desk.user, "approve")
    stopped = await desk.stop(reply.run, by="ops", reason="the wrong customer")
    (run,) = stopped.runs
    assert (run.run, run.state, run.tool, run.found) == (reply.run, "undone", "update_crm", "before dispatch")
    assert run.text == f"This run stopped: stopped by ops: the wrong customer. {UNDONE}"
    assert bench.names == ["charge_card", "refund_card"]


async def test_g039_a_second_stop_changes_nothing_about_the_first(bench: ToolBench, desk: Desk):
    hold = asyncio.Event()

    async def slowly(_: BenchCall) -> object:
        await hold.wait()
        return {}

    bench.on("refund_card").does(slowly)
    await desk.chat(ORDER, user=desk.user)
    run = (await desk.confirm(desk.user, "approve")).run
    first = asyncio.ensure_future(desk.stop(run, by="ops", reason="the wrong customer"))
    await eventually(lambda: bench.called("refund_card"))
    second = asyncio.ensure_future(desk.stop(run, by="ana", reason="another reason"))
    await asyncio.sleep(0)
    hold.set()
    told = await asyncio.gather(first, second, return_exceptions=True)
    expected = f"This run stopped: stopped by ops: the wrong customer. {UNDONE}"
    assert next(stopped.runs[0].text for stopped in told if isinstance(stopped, Stopped)) == expected
    assert (await desk.run(run)).text == expected
    assert bench.names == ["charge_card", "refund_card"]


async def test_g045_a_run_that_is_over_or_unknown_cannot_be_stopped(bench: ToolBench, desk: Desk):
    reply = await desk.order(NOTE)
    for run in (reply.run, "run:desk:nobody:abc:1"):
        with pytest.raises(NotFound, match="There is no open run run:desk:"):
            await desk.stop(run)


@pytest.mark.recorded("stopped_session", of="session")
async def test_g043_a_stopped_session_stops_its_run_and_drops_the_turns_that_wait(bench: ToolBench, desk: Desk):
    await desk.chat(ORDER, user=desk.user)
    opened = await desk.confirm(desk.user, "approve")
    waiting = asyncio.create_task(desk.chat(NOTE, user=desk.user, queue=True))
    await eventually(lambda: _queued(desk, 1))
    stopped = await desk.stop_session(desk.user, by="ops")
    assert (stopped.sessions, [run.run for run in stopped.runs]) == (1, [opened.run])
    assert stopped.runs[0].text == f"This run stopped: stopped by ops. {UNDONE}"
    told: Reply = await waiting
    assert (told.state, told.text) == ("refused", "This turn was not begun: stopped by ops.")
    await settled(desk)
    assert await _queued(desk, 0)
    assert bench.names == ["charge_card", "refund_card"]
    assert (await kinds_of_record(desk))[:4] == ["turn", "stop", "turn", "end"]
    # It is an act and no state: a turn that comes later is a new one.
    assert (await desk.order(NOTE)).text == "Done: add_note."


async def _queued(desk: Desk, count: int) -> bool:
    return (await desk.session(desk.user)).queued == count


async def test_a_turn_that_is_being_read_when_its_session_is_stopped_sends_nothing(
    client: Client, task_queue: str, bench: ToolBench
):
    held = Held()
    worker = Worker(client, task_queue=task_queue, plugins=[AmendsPlugin(bench.agent)], interceptors=[held])
    async with open_desk(client, bench.agent, task_queue=task_queue, workers=[worker]) as desk:
        turn = asyncio.create_task(desk.chat("get_order(order_id=4411)", user=desk.user))
        await held.began.wait()
        handle = client.get_workflow_handle(session_workflow_id(desk.name, desk.user))
        await handle.signal(STOP_SIGNAL, {"by": "ops", "reason": ""})
        held.may_end.set()
        reply = await turn
    assert "stopped by ops" in reply.text


async def test_a_session_is_stopped_by_whatever_comes_with_the_signal(client: Client, bench: ToolBench, desk: Desk):
    opened = await desk.chat(NOTE, user=desk.user)
    handle = client.get_workflow_handle(session_workflow_id(desk.name, desk.user))
    await handle.signal(STOP_SIGNAL, args=[17, "x"])
    assert (await run_of(desk, opened.run).result())["text"] == "This run stopped: stopped by an operator."
    await handle.signal(STOP_SIGNAL)
    assert not (await settled(desk)).open_run
    assert bench.names == []


async def test_a_user_without_a_session_is_told_so(desk: Desk):
    with pytest.raises(NotFound, match="nobody has no session with desk"):
        await desk.stop_session("nobody")


@pytest.fixture
async def apart(client: Client) -> Client:
    """A client of a namespace of its own: stopping everything must not stop what other tests left open."""
    name = f"apart-{uuid4().hex[:8]}"
    request = RegisterNamespaceRequest(
        namespace=name, workflow_execution_retention_period=Duration(seconds=int(timedelta(days=1).total_seconds()))
    )
    await client.workflow_service.register_namespace(request)
    address = client.service_client.config.target_host
    connected = await Client.connect(address, namespace=name, data_converter=pydantic_data_converter)

    async def known() -> bool:
        try:
            return [execution async for execution in connected.list_workflows()] == []
        except RPCError:
            return False

    await eventually(known, 30)
    return connected


async def test_g041_stopping_an_agent_leaves_others_alone_and_everything_means_everything(apart: Client):
    first, second = make_bench(name="first"), make_bench(name="second")

    async def charged(desk: Desk, user: str) -> str:
        await desk.chat("charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)", user=user)
        return (await desk.confirm(user, "approve")).run

    async with (
        open_desk(apart, first.agent, task_queue="first", attributes=False) as one,
        open_desk(apart, second.agent, task_queue="second", attributes=False) as two,
    ):
        runs = {await charged(one, "ana"), await charged(one, "bia")}
        other = await charged(two, "ana")
        stopped: Stopped = await one.stop_all(by="ops", reason="runaway")
        assert ({run.run for run in stopped.runs}, stopped.sessions) == (runs, 2)
        assert {run.text for run in stopped.runs} == {f"This run stopped: stopped by ops: runaway. {UNDONE}"}
        assert [question.tool for question in (await two.run(other)).waiting] == ["update_crm"]
        assert second.names == ["charge_card"]
        everything = await one.stop_all(everything=True, by="ops")
        assert [(run.run, run.agent, run.state) for run in everything.runs] == [(other, "second", "undone")]
        assert second.names == ["charge_card", "refund_card"]
        assert (await two.stop_all()).runs == ()


async def test_a_run_that_no_worker_serves_is_stopped_by_the_next_worker(client: Client, task_queue: str):
    first, second = make_bench(), make_bench()
    async with open_desk(client, first.agent, task_queue=task_queue) as desk:
        await desk.chat(ORDER, user=desk.user)
        opened = await desk.confirm(desk.user, "approve")
    stopped = await desk.stop(opened.run, by="ops", patience=0.5)
    assert [(run.run, run.state) for run in stopped.runs] == [(opened.run, None)]
    async with open_desk(client, second.agent, task_queue=task_queue, user=desk.user) as later:
        assert (await later.attend(opened.run)).text == f"This run stopped: stopped by ops. {UNDONE}"
    assert (first.names, second.names) == (["charge_card"], ["refund_card"])


async def test_a_doubtful_call_is_found_unknown_and_asked_about(bench: ToolBench, desk: Desk):
    sent, fails = asyncio.Event(), asyncio.Event()

    async def in_doubt(_: BenchCall) -> object:
        sent.set()
        await fails.wait()
        raise TimeoutError

    bench.on("charge_card").does(in_doubt)
    opened = await desk.chat("charge_card(order_id=4411, amount=40.00)", user=desk.user)
    answering = asyncio.create_task(desk.confirm(desk.user, "approve"))
    await sent.wait()
    stopping = asyncio.create_task(desk.stop(opened.run, by="ops"))
    await eventually(lambda: _stop_is_recorded(desk, opened.run))
    fails.set()
    (run,) = (await stopping).runs
    assert (run.tool, run.found) == ("charge_card", "unknown")
    assert [question.text for question in run.waiting] == [
        "Did charge_card take effect? The call was sent and no answer came back."
    ]
    await answering
    assert (await desk.answer(desk.user, "happened", result={"id": "ch-1"})).state == "undone"


async def _stop_is_recorded(desk: Desk, run: str) -> bool:
    history = await run_of(desk, run).fetch_history()
    return any(
        event.workflow_execution_signaled_event_attributes.signal_name == STOP_SIGNAL for event in history.events
    )
