"""Unwinds, forks and sessions that were ended by force, and what the next unwind knows of them (SPEC 8.2, 8.3)."""

import asyncio
from collections.abc import Sequence

import pytest
from amends.activities import loading
from amends.activities.unbegun import given_of
from amends.contract.errors import CondemnedRunError
from amends.contract.loaded import LoadedRun
from amends.contract.names import CONDEMN_UPDATE, RUN_WORKFLOW, session_workflow_id, unwind_id
from amends.contract.session import Remains
from amends.contract.unwind import Condemned, CondemnRequest
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import eventually, run_of, settled, view_when
from amends.tests.session.session_stage import client_of
from amends.tests.unwind.stage import BOOKED, finished, terminated, waiting
from temporalio.client import Client

TWO = "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)"


@pytest.fixture(autouse=True)
def results(bench: ToolBench) -> None:
    bench.on("update_crm").returns({"id": "was open"})
    bench.on("book_slot").returns(BOOKED)
    bench.on("charge_card").returns({"id": "ch_91"})


async def remaining(desk: Desk) -> tuple[Remains, ...]:
    return (await desk.session(desk.user)).remains


async def abandoned_half_way(bench: ToolBench, desk: Desk) -> str:
    """Have the later of two writes undone, and the undo of the other abandoned; return the run."""
    bench.on("refund_card").raises(RuntimeError("down"), times=4).returns({})
    run = await finished(desk, TWO)
    stuck = await desk.unwind(run)
    assert stuck.verdict == "stuck"
    await desk.answer(desk.user, "abandon", run=stuck.unwind)
    await eventually(lambda: remaining(desk))
    return run


async def test_an_unwind_that_was_joined_and_abandoned_is_gone_on_with(bench: ToolBench, desk: Desk):
    """The session that started it is gone; the next one joined it, and does not know its Temporal run id."""
    bench.on("refund_card").raises(RuntimeError("down"), times=8).returns({})
    run = await finished(desk, TWO)
    assert (await desk.unwind(run)).verdict == "stuck"
    await run_of(desk, session_workflow_id(desk.name, desk.user)).terminate()
    joined = await desk.unwind(run)
    assert joined.verdict == "stuck"
    await desk.answer(desk.user, "abandon", run=joined.unwind)
    await eventually(lambda: remaining(desk))
    report = await desk.unwind(run)
    assert (report.verdict, report.statuses) == ("unwound", ("already-compensated", "compensated"))
    assert bench.names.count("restore_crm") == 1


async def test_what_an_unwind_of_a_lost_session_undid_is_not_undone_again(bench: ToolBench, desk: Desk):
    run = await abandoned_half_way(bench, desk)
    await run_of(desk, session_workflow_id(desk.name, desk.user)).terminate()
    plan = await desk.undo(run, dry_run=True)
    assert plan.statuses == ("already-compensated", "would-compensate")
    report = await desk.unwind(run)
    assert (report.verdict, report.statuses) == ("unwound", ("already-compensated", "compensated"))
    assert bench.names.count("restore_crm") == 1


async def ended_before_it_knew(desk: Desk, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Terminate an unwind that does not yet know what its run did."""
    really = loading._loaded
    may_be_read = False

    async def later(client: Client, run: str, unwinds: Sequence[str]) -> LoadedRun | None:
        if not may_be_read:
            raise ConnectionError("a test wants it")
        return await really(client, run, unwinds)

    monkeypatch.setattr(loading, "_loaded", later)
    order = CondemnRequest(run=run, by="bo", reason="ended at once")
    session = run_of(desk, session_workflow_id(desk.name, desk.user))
    told = await session.execute_update(CONDEMN_UPDATE, order, result_type=Condemned)
    await client_of(desk).get_workflow_handle(unwind_id(run), run_id=told.execution).terminate()
    may_be_read = True

    async def is_known() -> bool:
        latest = (await desk.record(desk.user)).entries[-1]
        return (latest.kind, latest.outcome) == ("unwind", "")

    await eventually(is_known)


async def test_an_unwind_that_was_ended_before_it_began_settles_nothing(
    bench: ToolBench, desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    run = await finished(desk, TWO)
    await ended_before_it_knew(desk, run, monkeypatch)
    assert "rewind" not in {entry.kind for entry in (await desk.record(desk.user)).entries}
    report = await desk.unwind(run)
    assert (report.verdict, report.statuses) == ("unwound", ("compensated", "compensated"))


async def test_the_one_before_it_still_counts(bench: ToolBench, desk: Desk, monkeypatch: pytest.MonkeyPatch):
    run = await abandoned_half_way(bench, desk)
    await ended_before_it_knew(desk, run, monkeypatch)
    assert [remains.tools for remains in await remaining(desk)] == [("charge_card",)]
    report = await desk.unwind(run)
    assert (report.verdict, report.statuses) == ("unwound", ("already-compensated", "compensated"))
    assert bench.names.count("restore_crm") == 1


async def test_a_run_that_was_ended_before_its_first_task_did_nothing(desk: Desk):
    """Temporal answers no query of such a run. It would be asked for ever."""
    run = await waiting(desk, TWO, approve=0)
    given = await given_of(client_of(desk), run)
    await desk.stop(run)
    unserved = f"{run}0"
    started = await client_of(desk).start_workflow(RUN_WORKFLOW, given, id=unserved, task_queue=f"nobody-{run}")
    await started.terminate()
    view = await desk.run(unserved)
    assert (view.state, view.steps, view.planned, view.turn) == ("undone", (), 2, TWO)
    plan = await desk.undo(unserved, dry_run=True)
    assert (plan.verdict, plan.entries) == ("nothing-to-undo", ())


async def test_n08_a_fork_in_doubt_is_gone_past_once(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    fork = (await desk.fork(run, 1)).run
    bench.on("book_slot").hangs()
    confirming = asyncio.ensure_future(desk.confirm(desk.user, "approve"))
    await eventually(lambda: len(bench.called("book_slot")) > 1)
    await terminated(desk, fork)
    await asyncio.gather(confirming, return_exceptions=True)
    report = await desk.unwind(run, continue_past_uncertain=True)
    assert (report.verdict, report.statuses) == ("unwound", ("compensated",) * 3)

    async def both_are_over() -> bool:
        ended = [entry for entry in (await desk.record(desk.user)).entries if entry.kind == "unwind"]
        assert len(ended) <= 2, "the fork's is not begun again and again"
        return len(ended) == 2

    await eventually(both_are_over)


async def test_n08_a_run_goes_on_to_be_undone_when_its_fork_is_abandoned(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    fork = (await desk.fork(run, 2)).run
    await desk.confirm(desk.user, "approve")
    await settled(desk)
    bench.on("restore_crm").raises(RuntimeError("down"), times=4).returns({})
    assert (await desk.unwind(run)).unwind == unwind_id(fork)
    await desk.answer(desk.user, "abandon", run=unwind_id(fork))

    async def is_undone() -> bool:
        return (await desk.undo(run, dry_run=True)).statuses == ("already-compensated",) * 3

    await eventually(is_undone)
    assert len(bench.called("restore_crm")) == 5


async def test_n08_a_fork_that_is_begun_while_its_run_is_condemned_is_refused_or_condemned_too(desk: Desk):
    for pause in range(8):
        run = await finished(desk, TWO)
        forking = asyncio.ensure_future(desk.fork(run, 1))
        await asyncio.sleep(pause / 1000)  # whichever comes first: both ends are right
        await asyncio.gather(forking, desk.unwind(run), return_exceptions=True)
        forks = (await desk.undo(run, dry_run=True)).forks
        if isinstance(error := forking.exception(), CondemnedRunError):
            assert forks == ()
        else:
            assert error is None
            assert forks == (forking.result().run,)
            assert (await view_when(desk, forks[0], lambda view: view.over)).state == "condemned"
        await settled(desk)


async def test_a_plan_changes_with_the_forks_that_would_be_undone_with_it(desk: Desk):
    run = await finished(desk)
    before = await desk.undo(run, dry_run=True)
    await desk.fork(run, 2)
    await desk.confirm(desk.user, "approve")
    await settled(desk)
    after = await desk.undo(run, dry_run=True)
    assert before.entries == after.entries
    assert before.digest != after.digest


async def test_a_run_that_undid_itself_and_was_undone_again_is_listed_once(bench: ToolBench, desk: Desk):
    """And its stuck undo is answered, though the client remembers the confirmation that was open before."""
    run = await waiting(desk, approve=2)
    bench.on("free_slot").raises(RuntimeError("down"), times=4).returns({})
    assert (await desk.unwind(run)).verdict == "stuck"
    await desk.answer(desk.user, "abandon", run=run)
    await settled(desk)
    assert (await desk.unwind(run)).verdict == "unwound"

    async def listed() -> list[str]:
        return [each.run for each in await desk.runs(user=desk.user, state="condemned")]

    async def is_listed() -> bool:
        unwinds = [each.run for each in await desk.unwinds(open_only=False)]
        return bool(await listed()) and unwind_id(run) in unwinds

    await eventually(is_listed)
    assert await listed() == [run]
