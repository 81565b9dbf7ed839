"""A plan names the writes that stand on one which is undone and would stay themselves (SPEC 8.2)."""

from amends.testing.bench import ToolBench
from amends.testing.desk import Desk

CHARGED = {"id": "ch_91", "order_id": "4411"}


async def dependents(desk: Desk, turn: str, *steps: int) -> dict[int, tuple[int, ...]]:
    done = await desk.order(turn)
    assert done.state == "done", done.text
    plan = await desk.undo(done.run, dry_run=True, steps=steps)
    return {entry.position: entry.dependents for entry in plan.entries}


async def test_a_write_that_was_given_what_another_returned_stands_on_it(bench: ToolBench, desk: Desk):
    bench.on("charge_card").returns(CHARGED)
    turn = "charge_card(order_id=4411, amount=40.00); add_note(order_id=4411, text=ch_91)"
    assert await dependents(desk, turn) == {2: (), 1: (2,)}


async def test_two_writes_on_the_same_order_do_not_stand_on_each_other(bench: ToolBench, desk: Desk):
    bench.on("charge_card").returns(CHARGED)
    turn = "charge_card(order_id=4411, amount=40.00); send_receipt(order_id=4411); add_note(order_id=4411, text=paid)"
    assert await dependents(desk, turn) == {3: (), 2: (), 1: ()}


async def test_a_write_that_would_be_undone_too_is_named_only_where_it_is_not_chosen(bench: ToolBench, desk: Desk):
    bench.on("charge_card").returns(CHARGED)
    turn = "charge_card(order_id=4411, amount=40.00); label(add=ch_91, remove=open)"
    assert await dependents(desk, turn) == {2: (), 1: ()}
    assert await dependents(desk, turn, 1) == {2: (), 1: (2,)}
