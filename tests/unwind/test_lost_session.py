"""A session that was ended by force while one of its runs was being undone (SPEC 8.2)."""

from amends.contract.names import session_workflow_id, unwind_id
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import eventually, run_of, settled

ORDER = "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)"


async def test_an_unwind_that_a_lost_session_started_is_joined_by_whoever_asks_the_next_one(
    bench: ToolBench, desk: Desk
):
    done = await desk.order(ORDER)
    await settled(desk)
    down = True

    async def refund(call: BenchCall) -> object:
        if down:
            raise RuntimeError("the bank is down")
        return {"id": "re_1"}

    bench.on("refund_card").does(refund)
    assert (await desk.unwind(done.run)).verdict == "stuck"
    await run_of(desk, session_workflow_id(desk.name, desk.user)).terminate("by hand")
    down = False
    report = await desk.unwind(done.run)
    assert (report.verdict, report.unwind, report.condemned) == ("unwound", unwind_id(done.run), True)
    assert bench.names.count("restore_crm") == 1
    (key,) = {call.key for call in bench.called("refund_card")}
    assert key == report.entries[1].key

    async def taken_in() -> bool:
        return (await desk.unwind(done.run)).statuses == ("already-compensated", "already-compensated")

    await eventually(taken_in)
    assert bench.names.count("refund_card") == 5, "four tries that failed, and the one that did not"
    (retried,) = [entry for entry in (await desk.record(desk.user)).entries if entry.kind == "answer"]
    assert (retried.by, retried.outcome) == ("on-call", "taken")
