"""Undoing chosen steps, what stands on them, and what later runs wrote (SPEC 8.2)."""

import pytest
from amends.contract.errors import NotFound
from amends.contract.run import RunInput, Step
from amends.contract.tool import ToolContract, UndoBinding
from amends.rulebook.unwinding import Unwinding, reverse_order, unwind_report
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.unwind.stage import BOOKED, finished


@pytest.fixture(autouse=True)
def results(bench: ToolBench) -> None:
    bench.on("update_crm").returns({"id": "was open"})
    bench.on("book_slot").returns(BOOKED)
    bench.on("charge_card").returns({"id": "ch_91"})


async def test_only_chosen_steps_are_undone_and_the_rest_can_be_undone_later(bench: ToolBench, desk: Desk):
    run = await finished(desk)
    report = await desk.unwind(run, steps=[1, 3])
    assert [(entry.tool, entry.status, entry.reason) for entry in report.entries] == [
        ("update_crm", "compensated", ""),
        ("book_slot", "not-attempted", "not-chosen"),
        ("charge_card", "compensated", ""),
    ]
    assert report.verdict == "unwound-with-leftovers"
    assert bench.names[3:] == ["restore_crm", "refund_card"]
    await desk.rewind(desk.user)
    rest = await desk.unwind(run)
    assert rest.statuses == ("already-compensated", "compensated", "already-compensated")
    assert rest.verdict == "unwound"
    assert bench.names[3:] == ["restore_crm", "refund_card", "free_slot"]


async def test_a_step_that_is_no_write_of_the_run_cannot_be_chosen(bench: ToolBench, desk: Desk):
    run = await finished(desk, "get_stock(item=hat); charge_card(order_id=4411, amount=40.00)")
    for position in (1, 3, 0, -1):
        with pytest.raises(NotFound) as told:
            await desk.unwind(run, steps=[position])
        assert told.value.code == "no_such_step"
    assert (await desk.session(desk.user)).condemned == ()


async def test_a_plan_names_later_writes_that_stand_on_a_chosen_one(bench: ToolBench, desk: Desk):
    """The second charge is for what the first booking returned: undoing the booking alone would leave it hanging."""
    run = await finished(desk, "book_slot(order_id=s9-4411); charge_card(order_id=s9-4411, amount=40.00)")
    bench.on("update_crm").returns({"id": "4411-b"})
    plan = await desk.undo(run, dry_run=True, steps=[1])
    assert [entry.dependents for entry in plan.entries] == [(), ()]
    standing = await finished(desk, "update_crm(order_id=4411); add_note(order_id=4411, text=done)")
    plan = await desk.undo(standing, dry_run=True, steps=[1])
    assert plan.entries[-1].dependents == ()


def contract(name: str, *, after: tuple[str, ...] = (), priority: int = 0) -> ToolContract:
    return ToolContract(
        name=name, writes=True, undo=UndoBinding(tool="u", arguments={}), after=after, undo_priority=priority
    )


TOOLS = {
    "open": contract("open"),
    "fill": contract("fill"),
    "seal": contract("seal", after=("open",)),
    "lock": contract("lock", priority=2),
    "u": ToolContract(name="u", writes=True, undo_none=True),
}
STEPS = (
    Step(position=1, number=11, tool="open", writes=True, state="done", landed=1, result={"id": "box-77"}),
    Step(position=2, number=12, tool="fill", writes=True, state="done", landed=2, arguments={"box": "box-77"}),
    Step(position=3, number=13, tool="seal", writes=True, state="done", landed=3, arguments={"colour": "red"}),
    Step(position=4, number=14, tool="fill", writes=True, state="done", landed=4, arguments={"box": "box-78"}),
)
GIVEN = RunInput(session="a:u:e", number=1, agent="a", user="u", calls=(), tools=TOOLS)


def test_later_writes_that_use_a_result_or_are_ordered_after_it_stand_on_it():
    plan = unwind_report(Unwinding(GIVEN, STEPS, over=True, chosen={1}), dry_run=True)
    assert {entry.position: entry.dependents for entry in plan.entries} == {4: (), 3: (), 2: (), 1: (2, 3)}
    plan = unwind_report(Unwinding(GIVEN, STEPS, over=True, chosen={1, 2, 3}), dry_run=True)
    assert plan.entries[-1].dependents == ()


def test_n07_the_order_is_that_of_taking_effect_and_priority_comes_first():
    late = (
        Step(position=1, number=1, tool="open", writes=True, state="done", landed=3),
        Step(position=2, number=2, tool="lock", writes=True, state="done", landed=1),
        Step(position=3, number=3, tool="fill", writes=True, state="done", landed=2),
    )
    assert [step.position for step in reverse_order(late, TOOLS)] == [2, 1, 3]


async def test_later_runs_that_wrote_something_that_stands_are_named(bench: ToolBench, desk: Desk):
    run = await finished(desk, "charge_card(order_id=4411, amount=40.00)")
    later = await finished(desk, "update_crm(order_id=4411); get_stock(item=hat)")
    await finished(desk, "get_stock(item=hat)")
    undone = await finished(desk, "book_slot(order_id=4411)")
    await desk.unwind(undone)
    plan = await desk.undo(run, dry_run=True)
    assert [(each.run, each.tools) for each in plan.later] == [(later, ("update_crm",))]
    assert (await desk.unwind(run)).later == plan.later
