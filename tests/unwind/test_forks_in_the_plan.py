"""A plan names the forks that are undone with a run, and does not call what they wrote a leftover (SPEC 8.2, 8.3)."""

from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import settled
from amends.tests.unwind.stage import finished

TWO = "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)"


async def test_forks_are_named_and_later_runs_that_stay_are_others(bench: ToolBench, desk: Desk):
    run = await finished(desk, TWO)
    fork = (await desk.fork(run, 1)).run
    assert (await desk.confirm(desk.user, "approve")).state == "done"
    await settled(desk)
    later = await finished(desk, "label(add=paid, remove=open)")

    plan = await desk.undo(run, dry_run=True)
    assert plan.forks == (fork,)
    assert [(each.run, each.tools) for each in plan.later] == [(later, ("label",))]
    of_fork = await desk.undo(fork, dry_run=True)
    assert (of_fork.forks, [each.run for each in of_fork.later]) == ((), [later])

    report = await desk.unwind(run)
    assert (report.run, report.verdict, report.forks) == (run, "unwound", (fork,))
    assert [each.run for each in report.later] == [later]
    assert bench.names[-3:] == ["restore_crm", "restore_crm", "refund_card"], "the fork's first, then its own"
