"""A test of the desk, on a real Temporal server in memory; the tools are scripted. Run it with pytest."""

import asyncio

from amends.testing.bench import ToolBench
from amends.testing.desk import open_desk
from amends.testing.server import open_server
from amends.tools.loader import load_agent

TURN = "add 2 seats for order 4411, then add 3 seats for order 4412"


def test_what_was_added_is_taken_away_again_when_a_later_step_fails() -> None:
    """The second step fails, so the first is undone."""

    async def order() -> None:
        bench = ToolBench(load_agent("agent.yaml"))
        async with open_server() as client, open_desk(client, bench.agent, task_queue="test-desk") as desk:
            bench.on("add_seats").returns({"order_id": "4411", "seats": 2}).raises(RuntimeError("no more seats"))
            reply = await desk.order(TURN)
        assert bench.names == ["add_seats", "add_seats", "remove_seats"]
        assert reply.text.endswith("Undone, latest first: add_seats (by remove_seats).")

    asyncio.run(order())
