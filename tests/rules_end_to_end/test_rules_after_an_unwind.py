"""Caps and order rules after runs were undone from outside: the record forgets nothing (SPEC 3.6, 8.2)."""

from amends.testing.desk import open_desk
from amends.tests.scenarios.stage import settled

RULES = """\
rules:
  - {id: two, action: charge_card, at_most: 2}
  - {id: first, action: update_crm, after: charge_card}
"""
CHARGE = "charge_card(order_id=4411, amount=40.00)"


async def test_an_undone_call_counts_once_and_an_order_no_longer_holds_on_it(client, ruled, task_queue):
    bench = ruled(RULES)
    bench.on("charge_card").returns({"id": "ch_1"})
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        one = await desk.order(CHARGE)
        await settled(desk)
        for _ in range(3):
            assert (await desk.unwind(one.run)).verdict == "unwound"
        stands_on_it = await desk.order("update_crm(order_id=4411)")
        assert stands_on_it.state == "refused"
        two = await desk.order(CHARGE)
        assert two.state == "done", "undone three times, it counts once"
        assert (await desk.order("update_crm(order_id=4411)")).state == "done"
        await settled(desk)
        await desk.unwind(two.run)
        three = await desk.order(CHARGE)
        assert three.state == "refused", "no cap gives the money back"
        assert (await desk.record(desk.user)).verify() is None
