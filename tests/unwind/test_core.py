"""Unwinding a run that is over: the cases G1 to G27 and N1 to N7 of the unwind, by their numbers (SPEC 8.2)."""

import pytest
from amends.contract.errors import NotFound
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import settled

THREE = "charge_card(order_id=4411, amount=40.00); book_slot(order_id=4411); update_crm(order_id=4411)"
BOOKED = {"booking": {"slots": [{"id": "s9"}]}}


@pytest.fixture
def three(bench: ToolBench) -> None:
    bench.on("charge_card").returns({"id": "ch_91"})
    bench.on("book_slot").returns(BOOKED)
    bench.on("update_crm").returns({"id": "was open"})


async def finished(desk: Desk, turn: str = THREE) -> str:
    reply = await desk.order(turn)
    assert reply.state == "done"
    await settled(desk)
    return reply.run


async def test_g001_a_finished_run_is_undone_latest_first(bench: ToolBench, desk: Desk, three: None):
    run = await finished(desk)
    report = await desk.unwind(run)
    assert report.condemned
    assert report.verdict == "unwound"
    assert [(entry.tool, entry.status) for entry in report.entries] == [
        ("update_crm", "compensated"),
        ("book_slot", "compensated"),
        ("charge_card", "compensated"),
    ]
    assert bench.names == ["charge_card", "book_slot", "update_crm", "restore_crm", "free_slot", "refund_card"]


async def test_g002_each_undo_gets_its_own_steps_arguments_and_result(bench: ToolBench, desk: Desk, three: None):
    await desk.unwind(await finished(desk))
    assert bench.called("refund_card")[0].arguments == {"charge_id": "ch_91", "amount": "40.00"}
    assert bench.called("free_slot")[0].arguments == {"slot": "s9", "order_id": "4411"}
    assert bench.called("restore_crm")[0].arguments == {"order_id": "4411", "previous": "was open"}


async def test_g004_a_run_that_was_unwound_is_unwound_no_second_time(bench: ToolBench, desk: Desk, three: None):
    run = await finished(desk)
    await desk.unwind(run)
    called = list(bench.names)
    report = await desk.unwind(run)
    assert report.statuses == ("already-compensated",) * 3
    assert report.verdict == "unwound"
    assert bench.names == called


async def test_g009_a_dry_run_sends_nothing_and_condemns_nothing(bench: ToolBench, desk: Desk, three: None):
    run = await finished(desk)
    called = list(bench.names)
    plan = await desk.undo(run, dry_run=True)
    assert plan.statuses == ("would-compensate",) * 3
    assert not plan.condemned
    assert bench.names == called
    assert (await desk.session(desk.user)).condemned == ()


async def test_n01_an_unknown_run_is_not_found_and_nothing_is_condemned(desk: Desk, three: None):
    run = await finished(desk)
    unknown = run.rpartition(":")[0] + ":99"
    with pytest.raises(NotFound) as told:
        await desk.unwind(unknown)
    assert told.value.code == "no_such_run"
    assert (await desk.session(desk.user)).condemned == ()
