"""A call that takes long says how far it is; a run is given away as one file."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx2 as httpx
import pytest
from amends.console.desk import Desk as ConsoleDesk
from amends.console.guard import Console
from amends.console.people import People
from amends.console.seal import Seal
from amends.console.serving import listening
from amends.contract.progress import Progress
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.console.browsing import violations
from amends.tests.console.conftest import Opens
from amends.tests.scenarios.stage import make_bench
from temporalio.client import Client

UPDATE = "update_crm(order_id=4411)"
CHARGE = "charge_card(order_id=4411, amount=40.00)"


@dataclass
class Stage:
    """A desk whose tools are scripted, and a console of it."""

    bench: ToolBench
    desk: Desk
    url: str

    async def get(self, path: str) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self.url, timeout=60) as http:
            return await http.get(path)


@pytest.fixture
async def stage(client: Client, task_queue: str, tmp_path: Path) -> AsyncIterator[Stage]:
    bench = make_bench(name="long-calls")
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        seal = Seal.of_file(tmp_path / "console.key")
        console = Console(desk=ConsoleDesk(desk), people=People.alone("root"), seal=seal)
        async with listening(console, host="127.0.0.1", port=0) as url:
            yield Stage(bench, desk, url)


async def told(stage: Stage, run: str) -> Progress:
    """Wait until the call in flight has said how far it is."""
    while True:
        items = (await stage.get(f"/v1/runs/{run}/progress")).json()["items"]
        if items and items[0].get("progress"):
            return Progress.model_validate(items[0]["progress"])
        await asyncio.sleep(0.05)


async def test_a_call_in_flight_says_how_far_it_is_and_the_page_shows_it(stage: Stage, opens: Opens) -> None:
    go_on = asyncio.Event()

    async def body(call: BenchCall) -> object:
        call.context.progress(120, 4000, "messages")
        await go_on.wait()
        return {"id": "open"}

    stage.bench.on("update_crm").does(body)
    asked = await stage.desk.chat(UPDATE, user=stage.desk.user)
    answering = asyncio.ensure_future(stage.desk.confirm(stage.desk.user, "approve"))
    run = asked.waiting[0].run
    said = await told(stage, run)
    assert (said.done, said.total, said.note) == (120, 4000, "messages")
    page = await opens(base_url=stage.url)
    await page.goto(f"/runs/{run}")
    await page.get_by_text("120 / 4000 messages").wait_for()
    assert await violations(page) == []
    go_on.set()
    assert (await answering).text == "Done: update_crm."
    assert (await stage.get(f"/v1/runs/{run}/progress")).json() == {"items": []}


async def test_a_tool_in_a_thread_may_say_how_far_it_is_as_often_as_it_likes(stage: Stage) -> None:
    go_on = threading.Event()

    async def body(call: BenchCall) -> object:
        def work() -> None:
            for number in range(10_000):
                call.context.progress(number)
            call.context.progress(10_000, note="x" * 1000)
            go_on.wait(30)

        await asyncio.to_thread(work)
        return {"id": "open"}

    stage.bench.on("update_crm").does(body)
    asked = await stage.desk.chat(UPDATE, user=stage.desk.user)
    answering = asyncio.ensure_future(stage.desk.confirm(stage.desk.user, "approve"))
    begun = time.monotonic()
    while (await told(stage, asked.waiting[0].run)).done != 10_000:
        assert time.monotonic() < begun + 60
    assert (await told(stage, asked.waiting[0].run)).note == "x" * 200
    go_on.set()
    assert (await answering).text == "Done: update_crm."


async def test_a_run_is_given_away_as_one_file(stage: Stage) -> None:
    await stage.desk.chat(CHARGE, user=stage.desk.user)
    reply = await stage.desk.confirm(stage.desk.user, "approve")
    said = await stage.get(f"/v1/runs/{reply.run}/export")
    assert said.headers["content-disposition"] == 'attachment; filename="run.json"'
    packet = said.json()
    assert packet["schema"] == "amends.packet/1"
    assert packet["run"]["steps"][0]["arguments"] == {"order_id": "4411", "amount": "40.00"}
    assert [each["type"] for each in packet["events"]][-1] == "run.ended"
    assert packet["undo"]["entries"][0]["undo"] == "refund_card"
    assert (await stage.get(f"/v1/runs/run:long-calls:{uuid4().hex}:x:1/export")).status_code == 404
