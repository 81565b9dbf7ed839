"""Runs that are open when an operator has them undone, and the doors by which one might go on (SPEC 8.1, 8.3)."""

import asyncio
from functools import partial

import pytest
from amends.contract.errors import CondemnedRunError, Conflict
from amends.contract.names import ANSWER_SIGNAL, unwind_id
from amends.contract.question import Answer
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import eventually, run_of, settled, view_when
from amends.tests.unwind.stage import BOOKED, THREE, finished, held, terminated, waiting


@pytest.fixture(autouse=True)
def results(bench: ToolBench) -> None:
    bench.on("update_crm").returns({"id": "was open"})
    bench.on("book_slot").returns(BOOKED)


@pytest.mark.recorded("unwind_of_an_open_run")
async def test_g019_g020_n04_a_run_condemned_in_the_middle_of_a_call_sends_no_other(bench: ToolBench, desk: Desk):
    hold = held(bench, "charge_card", {"id": "ch_91"})
    reply = await desk.chat(THREE, user=desk.user)
    confirming = asyncio.ensure_future(desk.confirm(desk.user, "approve"))
    await eventually(lambda: bench.called("charge_card"))
    unwinding = asyncio.ensure_future(desk.unwind(reply.run))
    view = await view_when(desk, reply.run, lambda view: view.condemned)
    assert view.unwinding is not None
    assert [(entry.tool, entry.status) for entry in view.unwinding.entries] == [("charge_card", "busy")]
    hold.set()
    report = await unwinding
    assert [(entry.tool, entry.status) for entry in report.entries] == [("charge_card", "compensated")]
    assert bench.names == ["charge_card", "refund_card"]
    ended = await confirming
    assert ended.state == "condemned"
    assert ended.text == (
        "This run stopped: on-call had it undone: a test wants it. "
        "In flight when it was stopped: charge_card, which took effect. "
        "Undone, latest first: charge_card (by refund_card)."
    )
    assert [step.tool for step in ended.steps] == ["charge_card"]
    await settled(desk)
    view_of_session = await desk.session(desk.user)
    assert (view_of_session.condemned, view_of_session.remains) == ((reply.run,), ())


async def test_g028_an_approval_of_a_condemned_run_is_refused(bench: ToolBench, desk: Desk):
    run = await waiting(desk, approve=1)
    await desk.unwind(run)
    with pytest.raises(CondemnedRunError) as told:
        await desk.confirm(desk.user, "approve", run=run)
    assert told.value.code == "run_condemned"
    assert "on-call" in str(told.value)
    assert bench.names == ["charge_card", "refund_card"]


async def test_g028_an_approval_that_comes_with_the_condemnation_starts_nothing(bench: ToolBench, desk: Desk):
    """The answer is on its way when the run is condemned: it finds the question withdrawn."""
    run = await waiting(desk, approve=1)
    (question,) = (await desk.run(run)).waiting
    approve = Answer(question_id=question.id, answer="approve", by="ana", answer_id="late")
    report, _ = await asyncio.gather(desk.unwind(run), run_of(desk, run).signal(ANSWER_SIGNAL, approve))
    assert bench.names in (
        ["charge_card", "refund_card"],
        ["charge_card", "book_slot", "free_slot", "refund_card"],
    )
    assert set(report.statuses) == {"compensated"}


async def test_a_run_that_is_over_and_was_undone_takes_no_answer_either(desk: Desk):
    run = await finished(desk)
    await desk.unwind(run)
    with pytest.raises(CondemnedRunError):
        await desk.answer(desk.user, "approve", run=run)


async def test_a_run_that_undoes_itself_goes_on_with_that_and_ends_condemned(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    hold = held(bench, "free_slot", {})
    turn = "update_crm(order_id=4411); book_slot(order_id=4411); provision_account(order_id=4411)"
    run = await waiting(desk, turn, approve=2)
    confirming = asyncio.ensure_future(desk.confirm(desk.user, "approve"))
    await eventually(lambda: bench.called("free_slot"))
    unwinding = asyncio.ensure_future(desk.unwind(run))
    await view_when(desk, run, lambda view: view.condemned)
    hold.set()
    report = await unwinding
    assert report.statuses == ("skipped-not-executed", "compensated", "compensated")
    assert (await confirming).text.startswith("This run stopped: provision_account failed (RuntimeError). Undone")
    assert bench.names.count("free_slot") == bench.names.count("restore_crm") == 1


async def test_a_stuck_run_is_tried_again_by_an_undo(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("restore_crm").raises(RuntimeError("busy"), times=4).returns({})
    run = await waiting(desk, "update_crm(order_id=4411); provision_account(order_id=4411)", approve=1)
    assert (await desk.confirm(desk.user, "approve")).state == "stuck"
    report = await desk.unwind(run, by="bo")
    assert (report.verdict, report.statuses) == ("unwound", ("skipped-not-executed", "compensated"))
    view = await desk.run(run)
    assert [(answer.answer, answer.by) for answer in view.answers][-1] == ("retry", "bo")


async def test_n05_a_slow_undo_is_sent_once_whoever_asks_meanwhile(bench: ToolBench, desk: Desk):
    hold = held(bench, "refund_card", {})
    run = await finished(desk, "charge_card(order_id=4411, amount=40.00)")
    first = await desk.unwind(run, patience=0.3)
    assert (first.verdict, first.statuses) == ("unwinding", ("busy",))
    second = await desk.unwind(run, patience=0.3)
    assert (second.verdict, second.statuses, second.unwind) == ("unwinding", ("busy",), unwind_id(run))
    plan = await desk.undo(run, dry_run=True)
    assert plan.statuses == ("busy",)
    hold.set()
    last = await desk.unwind(run)
    assert last.verdict == "unwound"
    assert bench.names == ["charge_card", "refund_card"]


async def both_have_said_so(desk: Desk, run: str) -> bool:
    entries = (await desk.record(desk.user)).entries
    return {entry.by for entry in entries if (entry.kind, entry.run) == ("condemn", run)} == {"ana", "bo"}


async def test_n05_two_operators_at_once_send_every_undo_once_and_see_the_same_report(bench: ToolBench, desk: Desk):
    hold = held(bench, "restore_crm", {})  # once: a script's last line goes on for every later call
    for _ in range(10):
        bench.calls.clear()
        hold.clear()
        run = await finished(desk)
        both = asyncio.gather(desk.unwind(run, by="ana"), desk.unwind(run, by="bo"))
        await eventually(partial(both_have_said_so, desk, run), 30)
        hold.set()
        one, other = await both
        assert one.entries == other.entries
        assert one.tombstone == other.tombstone
        assert (one.verdict, one.statuses) == ("unwound", ("compensated",) * 3)
        assert sorted(bench.names[3:]) == ["free_slot", "refund_card", "restore_crm"]


async def test_g042_n11_a_condemned_run_leaves_the_inbox_and_lists_as_condemned(desk: Desk):
    asking, over = await waiting(desk, approve=1), ""
    await desk.unwind(asking)
    await settled(desk)
    over = await finished(desk)
    await desk.unwind(over)

    async def listed(state: str) -> set[str]:
        return {summary.run for summary in await desk.runs(user=desk.user, state=state)}

    async def both_are_condemned() -> bool:
        return await listed("condemned") == {asking, over}

    await eventually(both_are_condemned)
    assert await listed("waiting") == await listed("done") == set()
    everything = await desk.runs(user=desk.user)
    assert {summary.run: summary.state for summary in everything} == {asking: "condemned", over: "condemned"}


async def test_g046_lists_by_state_agree_with_what_each_run_lists_as(desk: Desk):
    runs = [await finished(desk), await waiting(desk, approve=1)]
    await terminated(desk, runs[1])
    runs.append(await waiting(desk, approve=1))
    await desk.unwind(runs[0])
    states = dict(zip(runs, ("condemned", "left", "waiting"), strict=True))

    async def as_they_are() -> bool:
        return {summary.run: summary.state for summary in await desk.runs(user=desk.user)} == states

    await eventually(as_they_are)
    for state in ("condemned", "left", "waiting", "done", "running"):
        listed = {summary.run for summary in await desk.runs(user=desk.user, state=state)}
        assert listed == {run for run, its in states.items() if its == state}
    await desk.stop(runs[2])


async def test_n15_a_terminated_run_is_undone(bench: ToolBench, desk: Desk):
    run = await waiting(desk, approve=2)
    await terminated(desk, run)
    assert bench.names == ["charge_card", "book_slot"]
    report = await desk.unwind(run)
    assert (report.verdict, report.statuses) == ("unwound", ("compensated", "compensated"))

    async def nothing_remains() -> bool:
        return not (await desk.session(desk.user)).remains

    await eventually(nothing_remains)


@pytest.mark.recorded("unwind_cancelled", of="unwind")
async def test_n16_a_cancel_request_does_not_cut_an_unwind_off(bench: ToolBench, desk: Desk):
    hold = held(bench, "restore_crm", {})
    run = await finished(desk)
    unwinding = asyncio.ensure_future(desk.unwind(run))
    await eventually(lambda: bench.called("restore_crm"))
    await run_of(desk, unwind_id(run)).cancel()
    hold.set()
    report = await unwinding
    assert (report.verdict, report.statuses) == ("unwound", ("compensated",) * 3)
    assert bench.names[3:] == ["restore_crm", "free_slot", "refund_card"]


async def test_an_unwind_that_was_ended_by_force_is_gone_on_with(bench: ToolBench, desk: Desk):
    hold = held(bench, "restore_crm", {})
    run = await finished(desk)
    unwinding = asyncio.ensure_future(desk.unwind(run))
    await eventually(lambda: bench.called("restore_crm"))
    await run_of(desk, unwind_id(run)).terminate()
    cut_off = await unwinding
    assert cut_off.verdict == "stuck"
    hold.set()
    report = await desk.unwind(run)
    assert (report.verdict, report.statuses) == (
        "unwound",
        ("compensated", "compensated", "compensated"),
    )
    assert len({call.key for call in bench.called("restore_crm")}) == 1
    assert bench.names[3:] == ["restore_crm", "restore_crm", "free_slot", "refund_card"]


async def test_steps_of_an_open_run_cannot_be_chosen(desk: Desk):
    run = await waiting(desk, approve=2)
    with pytest.raises(Conflict) as told:
        await desk.unwind(run, steps=[1])
    assert told.value.code == "run_open"
    await desk.stop(run)


async def test_a_session_that_is_gone_does_not_keep_a_run_from_being_undone(bench: ToolBench, desk: Desk):
    run = await finished(desk, "charge_card(order_id=4411, amount=40.00)")
    await run_of(desk, f"session:{desk.name}:{desk.user}").terminate()
    report = await desk.unwind(run)
    assert report.verdict == "unwound"
    assert bench.names == ["charge_card", "refund_card"]
    assert (await desk.session(desk.user)).condemned == (run,)
