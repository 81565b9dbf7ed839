"""Unwinds that cannot go on: an undo that fails, a call or an undo that nobody knows of (SPEC 6.2, 8.2, 8.5)."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import pytest
from amends.contract.run import RunView
from amends.contract.tool import QueryBinding
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.histories.recording import KeepHistory
from amends.tests.scenarios.stage import eventually, make_bench, settled, view_when
from amends.tests.unwind.stage import BOOKED, finished, terminated, waiting
from temporalio.client import Client

TWO = "update_crm(order_id=4411); charge_card(order_id=4411, amount=40.00)"
ASKED = "Did charge_card take effect? It was being sent when the run stopped."


@pytest.fixture(autouse=True)
def results(bench: ToolBench) -> None:
    bench.on("update_crm").returns({"id": "was open"})
    bench.on("book_slot").returns(BOOKED)


@pytest.fixture
def charged(bench: ToolBench) -> None:
    bench.on("charge_card").returns({"id": "ch_91"})


# An undo that fails


@pytest.mark.recorded("unwind_stuck_and_run_again", of="unwind")
async def test_g005_g006_a_failed_undo_stops_the_unwind_and_a_second_one_goes_on(
    bench: ToolBench, desk: Desk, charged: None
):
    bench.on("free_slot").raises(RuntimeError("down"), times=4).returns({})
    run = await finished(desk)
    report = await desk.unwind(run)
    assert [(entry.tool, entry.status, entry.reason) for entry in report.entries] == [
        ("update_crm", "compensated", ""),
        ("book_slot", "failed", ""),
        ("charge_card", "not-attempted", "stopped"),
    ]
    assert report.verdict == "stuck"
    assert report.entries[1].error == "RuntimeError: down"
    assert (
        report.waiting[0].text == "Undoing book_slot failed after 4 tries (RuntimeError). 2 step(s) still need undoing."
    )
    assert bench.called("refund_card") == []
    again = await desk.unwind(run)
    assert again.verdict == "unwound"
    assert [entry.attempts for entry in again.entries] == [1, 5, 1]
    assert bench.names[3:] == ["restore_crm", *["free_slot"] * 5, "refund_card"]
    assert len({call.key for call in bench.called("free_slot")}) == 1


async def test_after_a_person_abandoned_it_an_unwind_goes_on_where_it_stood(
    bench: ToolBench, desk: Desk, charged: None
):
    """The unwind is over then, and a second one is another execution, which reads what the first one did."""
    bench.on("free_slot").raises(RuntimeError("down"), times=4).returns({})
    run = await finished(desk)
    report = await desk.unwind(run)
    reply = await desk.answer(desk.user, "abandon", run=report.unwind, by="bo")
    assert reply.text == (
        "on-call had this run undone: a test wants it. Undone, latest first: update_crm (by restore_crm). "
        "Still to be undone by hand: book_slot, charge_card."
    )

    async def is_known() -> bool:
        return bool((await desk.session(desk.user)).remains)

    await eventually(is_known)
    abandoned = await desk.undo(run, dry_run=True)
    assert abandoned.statuses == ("already-compensated", "would-compensate", "would-compensate")
    again = await desk.unwind(run)
    assert again.statuses == ("already-compensated", "compensated", "compensated")
    assert again.verdict == "unwound"
    assert bench.names.count("restore_crm") == 1
    assert len({call.key for call in bench.called("free_slot")}) == 1

    async def is_rewound() -> bool:
        return not (await desk.session(desk.user)).remains

    await eventually(is_rewound)
    await desk.rewind(desk.user)


async def test_the_statuses_of_a_person_abandoned_and_done_by_hand(bench: ToolBench, desk: Desk, charged: None):
    bench.on("restore_crm").raises(RuntimeError("down"))
    bench.on("free_slot").raises(RuntimeError("down"))
    run = await finished(desk)
    report = await desk.unwind(run)
    await desk.answer(desk.user, "done by hand", run=report.unwind, by="bo")
    await desk.answer(desk.user, "abandon", run=report.unwind, by="bo")
    view = await desk.run(report.unwind)
    assert view.unwinding is not None
    assert [(entry.status, entry.by) for entry in view.unwinding.entries] == [
        ("done-by-hand", "bo"),
        ("abandoned", ""),
        ("not-attempted", ""),
    ]
    assert view.unwinding.verdict == "abandoned"


# A call that nobody knows of: the run was ended by force while it was under way


@pytest.fixture
async def asking(client: Client, task_queue: str) -> AsyncIterator[tuple[ToolBench, Desk]]:
    """A desk that can ask the target whether a card was charged."""
    bench = make_bench()
    tool = bench.agent.tools["charge_card"]
    query = QueryBinding(tool="get_order", arguments={"order_id": "$args.order_id"})
    contract = tool.contract.model_copy(update={"outcome_query": query})
    tools = {**bench.agent.tools, "charge_card": dataclasses.replace(tool, contract=contract)}
    bench.agent = dataclasses.replace(bench.agent, tools=tools)
    bench.on("update_crm").returns({"id": "was open"})
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        yield bench, desk


async def ended_in_the_middle(bench: ToolBench, desk: Desk) -> str:
    """Terminate a run while its second write is under way."""
    before = len(bench.called("charge_card"))
    bench.on("charge_card").hangs()
    run = await waiting(desk, TWO, approve=1)
    confirming = asyncio.ensure_future(desk.confirm(desk.user, "approve"))
    await eventually(lambda: len(bench.called("charge_card")) > before)
    await terminated(desk, run)
    await asyncio.gather(confirming, return_exceptions=True)
    return run


async def test_g013_a_call_that_nobody_knows_of_is_uncertain_and_its_undo_is_not_sent(bench: ToolBench, desk: Desk):
    run = await ended_in_the_middle(bench, desk)
    plan = await desk.undo(run, dry_run=True)
    assert [(entry.tool, entry.status, entry.reason) for entry in plan.entries] == [
        ("charge_card", "uncertain", "effect"),
        ("update_crm", "would-compensate", ""),
    ]
    report = await desk.unwind(run)
    assert [(entry.status, entry.reason) for entry in report.entries] == [
        ("uncertain", "effect"),
        ("not-attempted", "stopped"),
    ]
    assert report.verdict == "stuck"
    assert report.waiting[0].text == ASKED
    assert bench.names == ["update_crm", "charge_card"]
    await desk.answer(desk.user, "did not happen", run=report.unwind)
    done = await desk.unwind(run)
    assert done.statuses == ("skipped-not-executed", "already-compensated")
    assert bench.names == ["update_crm", "charge_card", "restore_crm"]


async def test_g014_the_target_says_that_it_did_not_happen(asking: tuple[ToolBench, Desk]):
    bench, desk = asking
    bench.on("get_order").returns({"happened": False})
    report = await desk.unwind(await ended_in_the_middle(bench, desk))
    assert report.statuses == ("skipped-not-executed", "compensated")
    assert bench.called("refund_card") == []


@pytest.mark.recorded("unwind_after_the_target_was_asked")
async def test_g015_g016_the_target_says_that_it_happened_and_with_what(
    asking: tuple[ToolBench, Desk], keep_history: KeepHistory
):
    bench, desk = asking
    bench.on("get_order").returns({"happened": True, "result": {"id": "ch_of_the_provider"}})
    report = await desk.unwind(await ended_in_the_middle(bench, desk))
    assert report.statuses == ("compensated", "compensated")
    (asked,), (refund,) = bench.called("get_order"), bench.called("refund_card")
    assert (asked.arguments, asked.key) == ({"order_id": "4411"}, bench.called("charge_card")[0].key)
    assert refund.arguments == {"charge_id": "ch_of_the_provider", "amount": "40.00"}
    await keep_history(report.unwind)


@pytest.mark.parametrize("answer", ["maybe", {"happened": "yes"}, {}, None, 1])
async def test_n18_an_answer_of_another_form_tells_nothing(asking: tuple[ToolBench, Desk], answer: Any):
    bench, desk = asking
    bench.on("get_order").returns(answer)
    report = await desk.unwind(await ended_in_the_middle(bench, desk))
    assert report.entries[0].status == "uncertain"
    await desk.answer(desk.user, "did not happen", run=report.unwind)


async def test_n03_what_is_undone_is_not_asked_about_again(asking: tuple[ToolBench, Desk]):
    bench, desk = asking
    bench.on("get_order").returns({"happened": True, "result": {"id": "ch_1"}})
    run = await ended_in_the_middle(bench, desk)
    await desk.unwind(run)
    called = list(bench.names)
    for _ in range(2):
        again = await desk.unwind(run)
        assert again.statuses == ("already-compensated", "already-compensated")
    assert bench.names == called


async def test_n19_unanswered_it_stops_the_unwind_unless_it_is_told_to_go_on(bench: ToolBench, desk: Desk):
    run = await ended_in_the_middle(bench, desk)
    stopped = await desk.unwind(run)
    assert stopped.statuses == ("uncertain", "not-attempted")
    gone_on = await finished_past_it(bench, desk)
    assert gone_on == ("uncertain", "compensated")
    await desk.answer(desk.user, "did not happen", run=stopped.unwind)


async def finished_past_it(bench: ToolBench, desk: Desk) -> tuple[str, ...]:
    run = await ended_in_the_middle(bench, desk)
    report = await desk.unwind(run, continue_past_uncertain=True)
    assert report.verdict == "unwound-with-leftovers"
    view: RunView = await desk.run(report.unwind)
    assert view.text.endswith("Nobody knows whether these took effect: charge_card.")
    return report.statuses


# An undo that nobody knows of


@pytest.mark.recorded("unwind_of_an_undo_in_doubt", of="unwind")
async def test_n06_an_undo_cut_off_by_force_is_asked_about_and_not_sent_twice(
    bench: ToolBench, desk: Desk, charged: None
):
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("refund_card").hangs()
    turn = f"{TWO}; provision_account(order_id=4411)"
    run = await waiting(desk, turn, approve=2)
    confirming = asyncio.ensure_future(desk.confirm(desk.user, "approve"))
    await eventually(lambda: bench.called("refund_card"))
    await terminated(desk, run)
    await asyncio.gather(confirming, return_exceptions=True)
    plan = await desk.undo(run, dry_run=True)
    assert [(entry.tool, entry.status, entry.reason) for entry in plan.entries] == [
        ("provision_account", "skipped-not-executed", ""),
        ("charge_card", "uncertain", "undo"),
        ("update_crm", "would-compensate", ""),
    ]
    report = await desk.unwind(run)
    assert report.waiting[0].text == "Did refund_card take effect? It was being sent when the run stopped."
    assert (report.entries[1].status, report.entries[1].reason) == ("uncertain", "undo")
    await desk.answer(desk.user, "happened", run=report.unwind)
    assert len(bench.called("refund_card")) == 1
    assert bench.names[-1] == "restore_crm"
    assert (await desk.unwind(run)).statuses == ("skipped-not-executed", *["already-compensated"] * 2)


async def test_n06_an_undo_that_is_safe_to_repeat_is_sent_again_under_its_key(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    held = asyncio.Event()

    async def takes_effect_and_hangs(_: BenchCall) -> object:
        if not held.is_set():
            await asyncio.sleep(60)
        return {}

    bench.on("restore_crm").does(takes_effect_and_hangs)
    run = await waiting(desk, "update_crm(order_id=4411); provision_account(order_id=4411)", approve=1)
    confirming = asyncio.ensure_future(desk.confirm(desk.user, "approve"))
    await eventually(lambda: bench.called("restore_crm"))
    await terminated(desk, run)
    await asyncio.gather(confirming, return_exceptions=True)
    held.set()
    report = await desk.unwind(run)
    assert report.statuses == ("skipped-not-executed", "compensated")
    assert len({call.key for call in bench.called("restore_crm")}) == 1
    assert len(bench.called("restore_crm")) == 2


async def test_an_open_run_that_asks_about_a_call_is_condemned_and_the_question_stays(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(TimeoutError("no answer"))
    run = await waiting(desk, TWO, approve=1)
    await desk.confirm(desk.user, "approve")
    report = await desk.unwind(run)
    assert (report.verdict, report.statuses) == ("stuck", ("uncertain", "not-attempted"))
    assert report.unwind == run
    reply = await desk.answer(desk.user, "happened", result={"id": "ch_7"})
    assert reply.state == "condemned"
    assert bench.names == ["update_crm", "charge_card", "refund_card", "restore_crm"]
    assert bench.called("refund_card")[0].arguments["charge_id"] == "ch_7"


async def test_an_open_run_goes_on_past_what_it_asks_about_when_it_is_told_to(bench: ToolBench, desk: Desk):
    bench.on("charge_card").raises(TimeoutError("no answer"))
    run = await waiting(desk, TWO, approve=1)
    await desk.confirm(desk.user, "approve")
    report = await desk.unwind(run, continue_past_uncertain=True)
    assert report.statuses == ("uncertain", "compensated")
    view = await view_when(desk, run, lambda view: view.over)
    assert view.state == "condemned"
    await settled(desk)
    assert (await desk.session(desk.user)).remains[0].tools == ("charge_card",)
