"""Server and worker are restarted after every event that anybody sees; no question and no event is lost or repeated."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import httpx2 as httpx
import pytest
from amends.client.agent import AsyncAgent
from amends.client.connect import Connection
from amends.client.home import Home
from amends.client.search_attributes import ensure_search_attributes
from amends.console.desk import Desk
from amends.console.guard import Console
from amends.console.people import People
from amends.console.seal import Seal
from amends.console.serving import listening
from amends.examples.shop.store import Store
from amends.tests.console.conftest import ROOT
from amends.tools.loader import load_agent
from amends.worker.serving import make_worker
from temporalio.client import Client

ORDER = "charge order 4411 40.00, then update the crm for order 4411, then provision the account for order 4411"


class Service:
    """A worker and a console that are stopped and started anew whenever somebody asks for it."""

    def __init__(self, client: Client, queue: str, key: Path) -> None:
        self.restarts = 0
        self._client, self._queue, self._key = client, queue, key
        self._url = ""
        self._up, self._again = asyncio.Event(), asyncio.Event()

    async def run(self) -> None:
        agent = replace(load_agent(ROOT / "examples/shop/agent.yaml"), name="restarts")
        attributes = await ensure_search_attributes(self._client)
        while True:
            connection = Connection(client=self._client, embedded=None, search_attributes=attributes)
            desk = Desk(AsyncAgent(Home.on(agent, connection, task_queue=self._queue)))
            console = Console(desk=desk, people=People.alone("root"), seal=Seal.of_file(self._key))
            self._again.clear()
            async with (
                make_worker(self._client, [agent], task_queue=self._queue),
                listening(console, host="127.0.0.1", port=0) as self._url,
            ):
                self._up.set()
                await self._again.wait()
                self._up.clear()
            self.restarts += 1

    def restart(self) -> None:
        self._up.clear()
        self._again.set()

    async def http(self) -> httpx.AsyncClient:
        await self._up.wait()
        return httpx.AsyncClient(base_url=self._url, timeout=30)


async def persistent(service: Service, method: str, path: str, body: object = None) -> httpx.Response:
    """Ask until there is an answer, under one key."""
    headers = {"Idempotency-Key": uuid4().hex}
    while True:
        with suppress(httpx.TransportError):
            async with await service.http() as http:
                return await http.request(method, path, json=body, headers=headers)


async def follow_one_at_a_time(service: Service, run: str) -> AsyncIterator[str]:
    """Yield what a stream says; restart everything after each event, and come back as a browser does."""
    last = ""
    while True:
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})}
        with suppress(httpx.TransportError):
            async with (
                await service.http() as http,
                http.stream("GET", f"/v1/runs/{run}/events", headers=headers) as got,
            ):
                if got.status_code == 204:
                    return
                async for line in got.aiter_lines():
                    if line.startswith("id: "):
                        last = line.removeprefix("id: ")
                        yield last
                        break
        service.restart()


async def approve_all(service: Service, run: str) -> None:
    while True:
        view = (await persistent(service, "GET", f"/v1/runs/{run}")).json()
        if view["ended_at"]:
            return
        for question in view["waiting"]:
            path = f"/v1/runs/{run}/questions/{question['id']}/answer"
            said = await persistent(service, "POST", path, {"answer": "approve", "digest": question["digest"]})
            assert said.status_code == 200, said.text
        await asyncio.sleep(0.05)


async def test_restarts_at_every_event_lose_and_repeat_nothing(
    client: Client, task_queue: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_DB", str(tmp_path / "shop.db"))
    shop = Store(tmp_path / "shop.db")
    shop.switch("provisioning", up=False)
    service = Service(client, task_queue, tmp_path / "console.key")
    running = asyncio.ensure_future(service.run())
    try:
        taken = await persistent(service, "POST", f"/v1/threads/u-{uuid4().hex[:6]}/turns", {"turn": ORDER})
        run = taken.json()["run"]["run"]
        approving = asyncio.ensure_future(approve_all(service, run))
        seen = [number async for number in follow_one_at_a_time(service, run)]
        await approving
        told = (await persistent(service, "GET", f"/v1/runs/{run}/events")).json()["items"]
        view = (await persistent(service, "GET", f"/v1/runs/{run}")).json()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert seen == [str(each["seq"]) for each in told] == [str(number) for number in range(1, len(told) + 1)]
    assert service.restarts >= len(told) - 1
    asked = [each["data"]["tool"] for each in told if each["type"] == "question.opened"]
    assert asked == ["charge_card", "update_crm", "provision_account"]
    assert [each["accepted"] for each in view["answers"]] == [True, True, True]
    assert shop.calls() == ["charge_card", "update_crm", "provision_account", "restore_crm", "refund_card"]
    assert view["text"].endswith("Undone, latest first: update_crm (by restore_crm), charge_card (by refund_card).")
