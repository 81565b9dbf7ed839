"""An unwind that waits for an answer goes on without it, where a later word of an operator says so (SPEC 8.2)."""

import pytest
from amends.contract.names import CONDEMN_SIGNAL
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import run_of
from amends.tests.unwind.test_stopped_short import ended_in_the_middle


async def test_a_second_word_may_say_not_to_wait_for_an_answer(bench: ToolBench, desk: Desk):
    run = await ended_in_the_middle(bench, desk)
    stopped = await desk.unwind(run)
    assert (stopped.verdict, stopped.statuses) == ("stuck", ("uncertain", "not-attempted"))
    joined = await desk.unwind(run)
    assert (joined.verdict, joined.statuses) == ("stuck", stopped.statuses), "the same word again waits as before"

    gone_on = await desk.unwind(run, continue_past_uncertain=True)
    assert (gone_on.verdict, gone_on.statuses) == ("unwound-with-leftovers", ("uncertain", "compensated"))
    assert (gone_on.unwind, gone_on.waiting) == (stopped.unwind, ())
    assert bench.names == ["update_crm", "charge_card", "restore_crm"]
    assert gone_on.tombstone == stopped.tombstone


@pytest.mark.parametrize("junk", [(), ("nonsense",), ({"by": 7, "reason": None},), ({"by": "x" * 9000},)])
async def test_a_later_word_that_makes_no_sense_changes_nothing(junk: tuple[object, ...], bench: ToolBench, desk: Desk):
    run = await ended_in_the_middle(bench, desk)
    stopped = await desk.unwind(run)
    await run_of(desk, stopped.unwind).signal(CONDEMN_SIGNAL, args=list(junk))
    view = await desk.run(stopped.unwind)
    assert view.unwinding is not None
    assert (view.unwinding.statuses, view.condemned) == (stopped.statuses, stopped.tombstone)
    await desk.answer(desk.user, "did not happen", run=stopped.unwind)
    assert bench.names == ["update_crm", "charge_card", "restore_crm"]
