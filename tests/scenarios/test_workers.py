"""Runs outlive what serves them: no worker, another worker, a worker that forgets (SPEC 5.6)."""

import gc
import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest
from amends import Unreachable
from amends.client import patience
from amends.contract.errors import NotFound
from amends.contract.reply import Reply
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import ORDER, make_bench, run_of, settled, view_when
from amends.worker.plugin import AmendsPlugin
from temporalio.client import Client
from temporalio.worker import Worker

FAILED = (
    "This run stopped: provision_account failed (RuntimeError). "
    "Undone, latest first: update_crm (by restore_crm), charge_card (by refund_card)."
)


def forgetful(client: Client, bench: ToolBench, task_queue: str, *, remembers: int) -> Worker:
    return Worker(client, task_queue=task_queue, plugins=[AmendsPlugin(bench.agent)], max_cached_workflows=remembers)


class TestAWorkerWithoutACache:
    """Every workflow task replays the run from its first event."""

    async def test_undoes_the_failed_order(self, client: Client, task_queue: str, bench: ToolBench):
        bench.on("provision_account").raises(RuntimeError("down"))
        worker = forgetful(client, bench, task_queue, remembers=0)
        async with open_desk(client, bench.agent, task_queue=task_queue, workers=[worker]) as desk:
            reply = await desk.order(ORDER)
            assert reply.text == FAILED
            assert bench.names == ["charge_card", "update_crm", "provision_account", "restore_crm", "refund_card"]
            assert (await settled(desk)).runs[0].text == FAILED

    async def test_gets_a_stuck_rollback_unstuck(self, client: Client, task_queue: str, bench: ToolBench):
        bench.on("provision_account").raises(RuntimeError("down"))
        bench.on("restore_crm").raises(RuntimeError("busy"), times=4).returns({})
        worker = forgetful(client, bench, task_queue, remembers=0)
        async with open_desk(client, bench.agent, task_queue=task_queue, workers=[worker]) as desk:
            reply = await desk.order(ORDER, "approve", "approve", "approve", "retry")
        assert reply.text == FAILED
        assert len(bench.called("restore_crm")) == 5
        assert len(bench.called("refund_card")) == 1

    async def test_settles_a_doubt_and_a_cancellation(self, client: Client, task_queue: str, bench: ToolBench):
        bench.on("charge_card").raises(TimeoutError())
        worker = forgetful(client, bench, task_queue, remembers=0)
        async with open_desk(client, bench.agent, task_queue=task_queue, workers=[worker]) as desk:
            await desk.chat(ORDER, user=desk.user)
            await desk.confirm(desk.user, "approve")
            reply = await desk.answer(desk.user, "happened", result={"id": "ch-1"})
            await run_of(desk, reply.run).cancel()
            await view_when(desk, reply.run, lambda view: view.over)
            reply = await desk.attend(reply.run)
        assert reply.text == (
            "This run stopped: it was cancelled from outside. Undone, latest first: charge_card (by refund_card)."
        )


async def test_a_run_that_is_evicted_while_it_waits_goes_on_and_nothing_is_logged(
    client: Client, task_queue: str, bench: ToolBench, caplog: pytest.LogCaptureFixture
):
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("restore_crm").raises(RuntimeError("busy"), times=4).returns({})
    worker = forgetful(client, bench, task_queue, remembers=1)
    with caplog.at_level(logging.WARNING):
        async with open_desk(client, bench.agent, task_queue=task_queue, workers=[worker]) as desk:
            await desk.chat(ORDER, user=desk.user)
            for number in range(3):
                await desk.chat("get_order(order_id=4411)", user=f"{desk.user}-{number}")
                reply = await desk.confirm(desk.user, "approve")
            assert reply.state == "stuck"
            for number in range(3):
                await desk.chat("get_order(order_id=4411)", user=f"{desk.user}-{number}")
            reply = await desk.answer(desk.user, "retry")
    assert reply.text == FAILED
    assert [record.getMessage() for record in caplog.records] == []


async def test_another_worker_takes_over_what_a_closed_one_left(client: Client, task_queue: str):
    first, second = make_bench(), make_bench()
    second.on("provision_account").raises(RuntimeError("down"))
    async with open_desk(client, first.agent, task_queue=task_queue) as desk:
        await desk.chat(ORDER, user=desk.user)
        await desk.confirm(desk.user, "approve")
        user = desk.user
    async with open_desk(client, second.agent, task_queue=task_queue, user=user) as desk:
        await desk.confirm(user, "approve")
        reply = await desk.confirm(user, "approve")
        assert reply.text == FAILED
        assert (await desk.order("get_order(order_id=4411)")).state == "done"
        assert len((await settled(desk)).runs) == 2
    assert first.names == ["charge_card"]
    assert second.names == ["update_crm", "provision_account", "restore_crm", "refund_card", "get_order"]


# Nobody serves


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(patience, "LOOK_EVERY", 0.2)
    yield
    # A request that was given up leaves a future of the SDK behind, which logs an error when it is collected. Python
    # before 3.11.8 cannot have that happen while it parses a module, so it is made to happen here.
    gc.collect()


async def test_a_turn_that_no_worker_serves_is_told_so(
    client: Client, task_queue: str, bench: ToolBench, impatient: None
):
    async with open_desk(client, bench.agent, task_queue=task_queue, workers=[]) as desk:
        with pytest.raises(Unreachable, match=f"No worker polls the queue {task_queue}") as told:
            await desk.chat(ORDER, user=desk.user)
    assert told.value.code == "no_worker_polling"


async def test_a_turn_that_was_given_up_is_not_taken_later(
    client: Client, task_queue: str, bench: ToolBench, impatient: None
):
    async with open_desk(client, bench.agent, task_queue=task_queue, workers=[]) as desk:
        with pytest.raises(Unreachable):
            await desk.chat("get_order(order_id=4411)", user=desk.user)
        user = desk.user
    async with open_desk(client, bench.agent, task_queue=task_queue, user=user) as desk:
        await desk.chat("get_stock(item=hat)", user=user, queue=True)
        assert bench.names == ["get_stock"]


async def test_g111_an_answer_that_no_worker_takes_yet_is_kept(client: Client, task_queue: str, impatient: None):
    first, second = make_bench(), make_bench()
    async with open_desk(client, first.agent, task_queue=task_queue) as desk:
        opened: Reply = await desk.chat("add_note(order_id=4411, text=x)", user=desk.user)
    with pytest.MonkeyPatch.context() as patch:
        # The closed worker polled a moment ago, which counts as being there for a minute.
        patch.setattr(patience, "STALE", timedelta(0))
        with pytest.raises(Unreachable, match="No worker polls"):
            await desk.confirm(desk.user, "approve")
    async with open_desk(client, second.agent, task_queue=task_queue, user=desk.user) as later:
        assert (await later.attend(opened.run)).text == "Done: add_note."
    assert (first.names, second.names) == ([], ["add_note"])


async def test_a_session_that_does_not_exist_is_told_so(desk: Desk):
    with pytest.raises(NotFound, match="has no session with desk"):
        await desk.session("nobody")
    with pytest.raises(NotFound, match="There is no run run:nothing:1"):
        await desk.run("run:nothing:1")
