"""What the tests of unwinds stand on: runs that are over, and ways to end one by force."""

import asyncio

from amends.contract.run import RunView
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import run_of, settled, view_when

__all__ = ["BOOKED", "THREE", "finished", "held", "terminated", "waiting"]

THREE = "charge_card(order_id=4411, amount=40.00); book_slot(order_id=4411); update_crm(order_id=4411)"
"""Three writes, each of which has an undo: refund_card, free_slot, restore_crm."""
BOOKED = {"booking": {"slots": [{"id": "s9"}]}}


async def finished(desk: Desk, turn: str = THREE) -> str:
    """Have a turn done to its end; return its run."""
    reply = await desk.order(turn)
    assert reply.state == "done", reply.text
    await settled(desk)
    return reply.run


async def waiting(desk: Desk, turn: str = THREE, *, approve: int) -> str:
    """Approve the first calls of a turn; return its run, which then waits for the answer to the next."""
    reply = await desk.chat(turn, user=desk.user)
    for _ in range(approve):
        reply = await desk.confirm(desk.user, "approve")
    assert reply.state == "waiting", reply.text
    return reply.run


async def terminated(desk: Desk, run: str) -> RunView:
    """End a run as Temporal's terminate does, and wait until its session knows."""
    await run_of(desk, run).terminate("a test wants it")
    await settled(desk)
    return await view_when(desk, run, lambda view: view.over)


def held(bench: ToolBench, tool: str, result: object) -> asyncio.Event:
    """Have a tool take its call and answer with ``result`` once the event is set."""
    hold = asyncio.Event()

    async def body(_: BenchCall) -> object:
        await hold.wait()
        return result

    bench.on(tool).does(body)
    return hold
