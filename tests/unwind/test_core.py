"""Unwinding a run that is over: order, arguments, keys, dry runs, what has no undo (SPEC 8.2)."""

import dataclasses

import pytest
from amends.contract.errors import Conflict, NotFound
from amends.contract.unwind import UndoReason, UndoStatus
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import eventually, make_bench, settled
from amends.tests.unwind.stage import BOOKED, THREE, finished, waiting
from temporalio.client import Client


@pytest.fixture(autouse=True)
def three(bench: ToolBench) -> None:
    bench.on("charge_card").returns({"id": "ch_91"})
    bench.on("book_slot").returns(BOOKED)
    bench.on("update_crm").returns({"id": "was open"})


@pytest.mark.recorded("unwind_finished", of="unwind")
async def test_g001_a_finished_run_is_undone_latest_first(bench: ToolBench, desk: Desk):
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


async def test_g002_each_undo_gets_its_own_steps_arguments_and_result(bench: ToolBench, desk: Desk):
    await desk.unwind(await finished(desk))
    assert bench.called("refund_card")[0].arguments == {"charge_id": "ch_91", "amount": "40.00"}
    assert bench.called("free_slot")[0].arguments == {"slot": "s9", "order_id": "4411"}
    assert bench.called("restore_crm")[0].arguments == {"order_id": "4411", "previous": "was open"}


async def test_g003_the_key_of_an_undo_is_its_own_and_the_one_that_was_planned(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    planned = {entry.undo: entry.key for entry in (await desk.undo(run, dry_run=True)).entries}
    report = await desk.unwind(run)
    assert {entry.undo: entry.key for entry in report.entries} == planned
    sent = {call.tool: call.key for call in bench.calls}
    assert {undo: sent[undo] for undo in planned} == planned
    assert len({*sent.values()}) == 6


async def test_g004_a_run_that_was_unwound_is_unwound_no_second_time(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    await desk.unwind(run)
    called = list(bench.names)
    report = await desk.unwind(run)
    assert report.statuses == ("already-compensated",) * 3
    assert report.verdict == "unwound"
    assert bench.names == called


async def test_g009_a_dry_run_sends_nothing_and_condemns_nothing(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    called = list(bench.names)
    plan = await desk.undo(run, dry_run=True)
    assert plan.statuses == ("would-compensate",) * 3
    assert not plan.condemned
    assert plan.verdict == "unwound"
    assert bench.names == called
    assert (await desk.session(desk.user)).condemned == ()


async def test_g010_a_run_that_was_only_planned_to_be_undone_goes_on_as_ever(bench: ToolBench, desk: Desk):
    run = await waiting(desk, approve=1)
    plan = await desk.undo(run, dry_run=True)
    assert [(entry.tool, entry.status) for entry in plan.entries] == [("charge_card", "would-compensate")]
    await desk.confirm(desk.user, "approve")
    reply = await desk.confirm(desk.user, "approve")
    assert reply.text == "Done: charge_card, book_slot, update_crm."
    assert bench.names == ["charge_card", "book_slot", "update_crm"]


async def test_g011_a_write_without_an_undo_is_listed_and_left(bench: ToolBench, desk: Desk):
    run = await finished(desk, "charge_card(order_id=4411, amount=40.00); provision_account(order_id=4411)")
    report = await desk.unwind(run)
    assert [(entry.tool, entry.status, entry.reason) for entry in report.entries] == [
        ("provision_account", "skipped-no-hook", "no-undo"),
        ("charge_card", "compensated", ""),
    ]
    assert report.verdict == "unwound-with-leftovers"
    assert bench.names[-1] == "refund_card"


async def test_g012_a_call_that_was_never_approved_is_no_entry(bench: ToolBench, desk: Desk):
    report = await desk.unwind(await waiting(desk, approve=1))
    assert [entry.tool for entry in report.entries] == ["charge_card"]
    assert bench.names == ["charge_card", "refund_card"]


async def test_g018_the_same_call_twice_is_undone_twice_under_two_keys(bench: ToolBench, desk: Desk):
    twice = "charge_card(order_id=4411, amount=40.00); charge_card(order_id=4411, amount=40.00)"
    report = await desk.unwind(await finished(desk, twice))
    assert report.statuses == ("compensated", "compensated")
    assert len({call.key for call in bench.called("refund_card")}) == 2


async def test_g023_a_half_undone_run_plans_the_rest(bench: ToolBench, desk: Desk):
    bench.on("free_slot").raises(RuntimeError("down"))
    run = await finished(desk)
    await desk.unwind(run)
    plan = await desk.undo(run, dry_run=True)
    assert plan.statuses == ("already-compensated", "would-compensate", "would-compensate")
    assert plan.condemned
    await desk.answer(desk.user, "abandon", run=f"unwind:{run}")


async def test_g027_only_what_was_approved_and_ran_is_undone(bench: ToolBench, desk: Desk):
    reply = await desk.order(THREE, "approve", "skip", "skip")
    await settled(desk)
    report = await desk.unwind(reply.run)
    assert [(entry.tool, entry.status) for entry in report.entries] == [("charge_card", "compensated")]


async def test_g030_g031_keys_carry_the_tenant_and_are_the_same_without_one(bench: ToolBench, desk: Desk):
    """Sessions have no tenant of their own yet: that a run's tenant goes into the key of its undo is the planner's."""
    from amends.activities.loading import loaded_run
    from amends.tools.undo_plan import plan_undo

    run = await finished(desk, "charge_card(order_id=4411, amount=40.00)")
    loaded = await loaded_run((await desk.place()).client, run)
    assert loaded is not None
    keys = {
        tenant: plan_undo(loaded.model_copy(update={"given": loaded.given.model_copy(update={"tenant": tenant})}))
        .entries[0]
        .key
        for tenant in (None, "acme", "globex")
    }
    assert len({*keys.values()}) == 3
    assert keys[None] == (await desk.undo(run, dry_run=True)).entries[0].key


async def test_g035_a_dry_run_needs_no_token_and_leaves_no_line(desk: Desk):
    run = await finished(desk)
    before = (await desk.record(desk.user)).lines
    await desk.undo(run, dry_run=True)
    assert (await desk.record(desk.user)).lines == before


async def test_n01_an_unknown_run_is_not_found_and_nothing_is_condemned(desk: Desk):
    run = await finished(desk)
    for unknown in (run.rpartition(":")[0] + ":99", "run:nobody:here:abc123:1", "nonsense", f"unwind:{run}"):
        with pytest.raises(NotFound) as told:
            await desk.unwind(unknown)
        assert told.value.code == "no_such_run"
    assert (await desk.session(desk.user)).condemned == ()


async def test_n02_a_dry_run_of_a_condemned_run_says_that_it_is(desk: Desk):
    run = await finished(desk)
    await desk.unwind(run, by="ana", reason="the customer called")
    plan = await desk.undo(run, dry_run=True)
    assert plan.condemned
    assert plan.tombstone is not None
    assert (plan.tombstone.by, plan.tombstone.reason, plan.tombstone.token) == ("ana", "the customer called", "on-call")


async def test_n12_four_ways_of_having_no_undo_are_told_apart(bench: ToolBench, desk: Desk):
    bench.on("reserve_stock").returns({"id": "r1"})
    run = await finished(
        desk,
        "reserve_stock(item=hat); send_receipt(order_id=4411); add_note(order_id=4411, text=x); "
        "provision_account(order_id=4411)",
    )
    expected: list[tuple[str, UndoStatus, UndoReason]] = [
        ("provision_account", "skipped-no-hook", "no-undo"),
        ("add_note", "skipped-no-hook", "undo-none"),
        ("send_receipt", "skipped-no-hook", "irreversible"),
        ("reserve_stock", "skipped-no-hook", "undo-missing"),
    ]
    plan = await desk.undo(run, dry_run=True)
    assert [(entry.tool, entry.status, entry.reason) for entry in plan.entries] == expected
    report = await desk.unwind(run)
    assert [(entry.tool, entry.status, entry.reason) for entry in report.entries] == expected
    assert (report.verdict, report.waiting[0].tool) == ("stuck", "reserve_stock")
    await desk.answer(desk.user, "done by hand", run=report.unwind)


async def test_n12_an_undo_tool_that_no_worker_has_any_more_is_missing(client: Client, task_queue: str):
    whole = make_bench()
    whole.on("charge_card").returns({"id": "ch_91"})
    async with open_desk(client, whole.agent, task_queue=task_queue) as desk:
        run = await finished(desk, "charge_card(order_id=4411, amount=40.00)")
        user = desk.user
    lacking = make_bench()
    tools = {name: tool for name, tool in lacking.agent.tools.items() if name != "refund_card"}
    agent = dataclasses.replace(lacking.agent, tools=tools)
    async with open_desk(client, agent, task_queue=task_queue, user=user) as desk:
        report = await desk.unwind(run)
        assert [(entry.status, entry.reason) for entry in report.entries] == [("skipped-no-hook", "undo-missing")]
        assert report.verdict == "stuck"
        await desk.answer(user, "done by hand", run=report.unwind, by="bo")


async def test_n14_said_again_after_an_unwind_the_same_turn_has_new_keys(bench: ToolBench, desk: Desk):
    turn = "charge_card(order_id=4411, amount=40.00)"
    await desk.unwind(await finished(desk, turn))
    await finished(desk, turn)
    first, second = bench.called("charge_card")
    assert first.key != second.key


async def test_n20_every_entry_says_who_when_with_what_and_how_often(bench: ToolBench, desk: Desk):
    bench.on("refund_card").raises(RuntimeError("busy"), times=2).returns({})
    run = await finished(desk, "charge_card(order_id=4411, amount=40.00)")
    report = await desk.unwind(run, by="ana")
    (entry,) = report.entries
    assert (entry.position, entry.undo, entry.attempts) == (1, "refund_card", 3)
    assert entry.arguments == {"charge_id": "ch_91", "amount": "40.00"}
    assert entry.key == bench.called("refund_card")[0].key
    assert entry.at is not None
    assert report.tombstone is not None
    assert entry.at >= report.tombstone.at
    assert report.verdict == "unwound"


@pytest.mark.parametrize("open_run", [False, True])
async def test_a_dry_run_equals_what_the_unwind_then_does(bench: ToolBench, desk: Desk, open_run: bool):
    turn = f"{THREE}; add_note(order_id=4411, text=x); send_receipt(order_id=4411)"
    run = await waiting(desk, turn, approve=4) if open_run else await finished(desk, turn)
    plan = await desk.undo(run, dry_run=True)
    before = len(bench.calls)
    report = await desk.unwind(run)
    undone = [(entry.undo, entry.arguments, entry.key) for entry in plan.entries if entry.undo]
    assert [(call.tool, call.arguments, call.key) for call in bench.calls[before:]] == undone
    assert [(entry.position, entry.undo, entry.key) for entry in report.entries] == [
        (entry.position, entry.undo, entry.key) for entry in plan.entries
    ]
    assert report.verdict == plan.verdict == "unwound-with-leftovers"


async def test_a_plan_that_has_changed_since_it_was_shown_is_not_carried_out(bench: ToolBench, desk: Desk):
    run = await waiting(desk, approve=1)
    plan = await desk.undo(run, dry_run=True)
    await desk.confirm(desk.user, "approve")
    with pytest.raises(Conflict) as told:
        await desk.undo(run, reason="x", token=desk.token, digest=plan.digest)
    assert told.value.code == "plan_digest_mismatch"
    assert bench.names == ["charge_card", "book_slot"]
    now = await desk.undo(run, dry_run=True)
    report = await desk.undo(run, reason="x", token=desk.token, digest=now.digest)
    assert report.statuses == ("compensated", "compensated")


async def test_a_run_of_an_agent_whose_runs_are_independent_is_undone_too(client: Client, task_queue: str):
    bench = make_bench(atomic=False)
    bench.on("charge_card").returns({"id": "ch_91"})
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        run = await waiting(desk, "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)", approve=1)
        report = await desk.unwind(run)
        assert report.statuses == ("compensated",)
        assert bench.names == ["charge_card", "refund_card"]


async def test_the_record_has_the_order_the_undos_and_what_came_of_it_and_is_whole(desk: Desk):
    run = await finished(desk, "charge_card(order_id=4411, amount=40.00)")
    await desk.unwind(run, by="ana", reason="the customer called")

    async def written() -> bool:
        return (await desk.record(desk.user)).entries[-1].kind == "rewind"

    await eventually(written)
    record = await desk.record(desk.user)
    assert record.verify() is None
    last = [(entry.kind, entry.by, entry.outcome) for entry in record.entries[-4:]]
    assert last == [("condemn", "ana", ""), ("undo", "", "undone"), ("unwind", "ana", "unwound"), ("rewind", "", "")]
    assert record.entries[-4].note == "token on-call"
    assert record.memory[-1].text == (
        "ana had this run undone: the customer called. Undone, latest first: charge_card (by refund_card)."
    )
