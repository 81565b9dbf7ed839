"""Going on from a run as a new run, and undoing what goes on from what (SPEC 8.3)."""

import pytest
from amends.contract.errors import CondemnedRunError, Conflict, NotFound
from amends.contract.names import CONDEMN_UPDATE, session_workflow_id
from amends.contract.unwind import Condemned, CondemnRequest
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import eventually, run_of, settled
from amends.tests.unwind.stage import BOOKED, finished, waiting


@pytest.fixture(autouse=True)
def results(bench: ToolBench) -> None:
    bench.on("update_crm").returns({"id": "was open"})
    bench.on("book_slot").returns(BOOKED)
    bench.on("charge_card").returns({"id": "ch_91"})


async def forked(desk: Desk, run: str, at_step: int) -> str:
    """Fork a run, approve what it asks, and return the fork."""
    reply = await desk.fork(run, at_step)
    while reply.waiting:
        reply = await desk.confirm(desk.user, "approve")
    assert reply.state == "done", reply.text
    await settled(desk)
    return reply.run


async def test_g021_g051_g052_a_fork_keeps_the_first_steps_and_runs_the_rest_anew(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    fork = await forked(desk, run, 1)
    assert bench.names == ["charge_card", "book_slot", "update_crm", "book_slot", "update_crm"]
    view = await desk.run(fork)
    assert [step.tool for step in view.steps] == ["book_slot", "update_crm"]
    assert view.forked_from == run
    assert len({call.key for call in bench.calls}) == 5
    turn = next(entry for entry in (await desk.record(desk.user)).entries if entry.kind == "turn" and entry.run == fork)
    assert turn.note == f"fork of {run} after step 1"


async def test_a_failed_fork_undoes_its_own_steps_alone(bench: ToolBench, desk: Desk):
    run = await finished(
        desk, "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411); get_stock(item=hat)"
    )
    bench.on("get_stock").raises(RuntimeError("down"))
    bench.calls.clear()
    reply = await desk.fork(run, 1)
    reply = await desk.confirm(desk.user, "approve")
    assert reply.text.endswith("Undone, latest first: update_crm (by restore_crm).")
    assert "refund_card" not in bench.names


async def test_g022_a_condemned_run_cannot_be_forked_nor_can_what_goes_on_from_it(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    fork = await forked(desk, run, 2)
    await desk.unwind(run)
    sent = list(bench.names)
    for each in (run, fork):
        with pytest.raises(CondemnedRunError) as told:
            await desk.fork(each, 0)
        assert told.value.code == "run_condemned"
    assert bench.names == sent


async def test_n08_a_run_and_its_fork_are_undone_once_each_and_the_fork_first(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    fork = await forked(desk, run, 2)
    bench.calls.clear()
    report = await desk.unwind(run)
    assert report.forks == (fork,)
    assert (report.verdict, report.statuses) == ("unwound", ("compensated",) * 3)
    assert bench.names == ["restore_crm", "restore_crm", "free_slot", "refund_card"]
    assert (await desk.unwind(fork)).statuses == ("already-compensated",)
    assert bench.names == ["restore_crm", "restore_crm", "free_slot", "refund_card"]


async def test_n08_a_fork_that_is_open_when_its_run_is_condemned_cannot_go_on(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    reply = await desk.fork(run, 1)
    reply = await desk.confirm(desk.user, "approve")
    assert reply.waiting
    bench.calls.clear()
    report = await desk.unwind(run)
    assert report.verdict == "unwound"
    assert bench.names == ["free_slot", "restore_crm", "free_slot", "refund_card"]
    with pytest.raises(CondemnedRunError):
        await desk.confirm(desk.user, "approve", run=reply.run)


async def test_a_run_and_its_open_fork_are_undone_though_nobody_follows(bench: ToolBench, desk: Desk):
    """Whoever gave the word is gone at once: the session sees it through by itself."""
    run = await finished(desk)
    await desk.fork(run, 1)
    fork = (await desk.confirm(desk.user, "approve")).run
    bench.calls.clear()
    session = run_of(desk, session_workflow_id(desk.name, desk.user))
    order = CondemnRequest(run=run, by="ana", reason="x")
    told = await session.execute_update(CONDEMN_UPDATE, order, result_type=Condemned)
    assert (told.status, told.before) == ("first", (fork,))

    async def both_are_undone() -> bool:
        plan = await desk.undo(run, dry_run=True)
        return plan.statuses == ("already-compensated",) * 3

    await eventually(both_are_undone)
    assert bench.names == ["free_slot", "restore_crm", "free_slot", "refund_card"]


async def test_a_fork_that_is_stuck_keeps_its_run_from_being_undone_out_of_order(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    fork = await forked(desk, run, 2)
    bench.on("restore_crm").raises(RuntimeError("down"), times=4).returns({})
    bench.calls.clear()
    report = await desk.unwind(run)
    assert (report.verdict, report.unwind) == ("stuck", f"unwind:{fork}")
    assert report.waiting[0].kind == "undo"
    assert set(bench.names) == {"restore_crm"}
    again = await desk.unwind(run)
    assert (again.verdict, again.statuses) == ("unwound", ("compensated",) * 3)


async def test_undoing_a_fork_leaves_the_run_it_goes_on_from(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    fork = await forked(desk, run, 1)
    bench.calls.clear()
    await desk.unwind(fork)
    assert bench.names == ["restore_crm", "free_slot"]
    assert not (await desk.undo(run, dry_run=True)).condemned


async def test_where_a_run_cannot_be_forked_is_said(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    for at_step, said in ((3, "at_step is 0 to 2, not 3"), (-1, "not -1")):
        with pytest.raises(Conflict, match=said):
            await desk.fork(run, at_step)
    bench.on("provision_account").raises(RuntimeError("down"))
    turn = "charge_card(order_id=4411, amount=40.00); provision_account(order_id=4411); update_crm(order_id=4411)"
    failed = (await desk.order(turn)).run
    with pytest.raises(Conflict, match=r"step 1 of .*, charge_card, is undone, so nothing can go on from it"):
        await desk.fork(failed, 1)
    with pytest.raises(NotFound):
        await desk.fork("run:other:u:abc:1", 1)
    open_run = await waiting(desk, approve=1)
    with pytest.raises(Conflict) as told:
        await desk.fork(run, 1)
    assert told.value.code == "thread_is_waiting"
    await desk.stop(open_run)


async def test_the_same_request_for_a_fork_makes_one(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    first = await desk.fork(run, 2, key="once")
    again = await desk.fork(run, 2, key="once")
    assert again.run == first.run
    await desk.confirm(desk.user, "approve")
