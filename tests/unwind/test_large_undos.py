"""Undos that are called with large results: what a run or an unwind returns is one payload (SPEC 13.3)."""

from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import settled
from amends.tests.unwind.stage import finished, waiting

LARGE = "x" * 120_000
SIX = "; ".join(["charge_card(order_id=4411, amount=1.00)"] * 6)


async def test_an_unwind_of_large_undos_comes_to_its_end(bench: ToolBench, desk: Desk):
    bench.on("charge_card").returns({"id": LARGE})
    run = await finished(desk, SIX)
    plan = await desk.undo(run, dry_run=True)
    assert {entry.arguments["charge_id"] for entry in plan.entries} == {LARGE}
    report = await desk.unwind(run)
    assert (report.verdict, report.statuses, report.digest) == ("unwound", ("compensated",) * 6, plan.digest)
    assert report.entries[0].arguments["bytes"] == len(LARGE) + len('{"amount":"1.00","charge_id":""}')
    assert {call.arguments["charge_id"] for call in bench.called("refund_card")} == {LARGE}
    await settled(desk)
    assert (await desk.unwind(run)).statuses == ("already-compensated",) * 6


async def test_an_open_run_with_large_undos_comes_to_its_end(bench: ToolBench, desk: Desk):
    bench.on("charge_card").returns({"id": LARGE})
    run = await waiting(desk, f"{SIX}; update_crm(order_id=4411)", approve=6)
    report = await desk.unwind(run)
    assert (report.verdict, report.statuses) == ("unwound", ("compensated",) * 6)
    await settled(desk)
