"""Webhooks are told of each question once, signed, tried again until they take it."""

import asyncio
import base64
import hmac
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest
from amends.console.desk import Desk as ConsoleDesk
from amends.console.notices import watching
from amends.console.webhooks import Webhooks
from amends.contract.mistakes import FileMistakes
from amends.contract.names import notice_id
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import eventually, make_bench
from amends.workflows import notice, rollback
from temporalio.client import Client

SECRET = f"whsec_{base64.b64encode(b'k' * 24).decode()}"
TWO = "charge_card(order_id=4411, amount=77.31); update_crm(order_id=4411)"


@dataclass
class Receiver:
    """Somebody's server: what it got, and what it answers, one after the other; then 200."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    it = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            it.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            status = it.answers.pop(0) if it.answers else 200
            if status == 200:
                it.taken.append(self.headers["webhook-id"])
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    it.url = f"http://127.0.0.1:{server.server_port}/hook"
    yield it
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def bench() -> ToolBench:
    return make_bench(name=f"hooks-{uuid4().hex[:6]}")  # a watch is to see the runs of this test alone


@pytest.fixture
async def desk(client: Client, task_queue: str, bench: ToolBench, monkeypatch) -> AsyncIterator[Desk]:
    monkeypatch.setattr(notice, "FIRST_PAUSE", timedelta(milliseconds=50))
    monkeypatch.setattr(rollback, "WAITS", (timedelta(milliseconds=10),) * 3)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        yield desk


@asynccontextmanager
async def watched(desk: Desk, receiver: Receiver, tmp_path: Path, **more: str) -> AsyncIterator[None]:
    # A name of its own: a notice's id must not meet that of another test.
    file = tmp_path / "webhooks.yaml"
    file.write_text(json.dumps({"ops": {"url": receiver.url, "secret_env": "HOOK", **more}}))
    webhooks = Webhooks.of_file(file, {"HOOK": SECRET})
    async with watching(ConsoleDesk(desk), webhooks, "https://console.example"):
        yield


async def test_each_question_is_told_once_and_signed(desk: Desk, receiver: Receiver, tmp_path: Path) -> None:
    receiver.answers = [500, 302, 503]
    async with watched(desk, receiver, tmp_path):
        (question,) = (await desk.chat(TWO, user=desk.user)).waiting
        first = notice_id("ops", question.run, "q1")
        await eventually(lambda: first in receiver.taken, 60)
    # Started anew, it says nothing twice, and goes on with what comes.
    async with watched(desk, receiver, tmp_path):
        await desk.confirm(desk.user, "approve")
        second = notice_id("ops", question.run, "q2")
        await eventually(lambda: second in receiver.taken, 60)
    mine = [(headers, body) for headers, body in receiver.got if headers["webhook-id"] in (first, second)]
    assert [each for each in receiver.taken if each in (first, second)] == [first, second]
    assert len(mine) == 5
    for headers, body in mine:
        said = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        mac = base64.b64encode(hmac.digest(b"k" * 24, said, "sha256")).decode()
        assert headers["webhook-signature"] == f"v1,{mac}"
        assert b"77.31" not in body
    told = json.loads(mine[0][1])
    assert told["type"] == "question.opened"
    assert told["data"] == {
        "run": question.run,
        "question_id": "q1",
        "kind": "confirm",
        "tool": "charge_card",
        "user": desk.user,
        "url": f"https://console.example/runs/{question.run.replace(':', '%3A')}",
    }


async def test_a_stuck_run_is_another_event_and_no_secret_is_in_a_history(
    client: Client, bench: ToolBench, desk: Desk, receiver: Receiver, tmp_path: Path
) -> None:
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("update_crm").returns({"id": "open"})
    bench.on("restore_crm").raises(RuntimeError("busy"))
    async with watched(desk, receiver, tmp_path, events=["run.stuck"]):  # type: ignore[arg-type]
        reply = await desk.chat("update_crm(order_id=4411); provision_account(order_id=4411)", user=desk.user)
        while reply.waiting[0].kind == "confirm":
            reply = await desk.confirm(desk.user, "approve")
        run = reply.waiting[0].run
        mine = notice_id("ops", run, reply.waiting[0].id)
        await eventually(lambda: mine in receiver.taken, 60)
    await desk.answer(desk.user, "abandon", note="done with it")
    assert [json.loads(body)["type"] for headers, body in receiver.got if run in headers["webhook-id"]] == ["run.stuck"]
    history = str(await client.get_workflow_handle(mine).fetch_history())
    assert SECRET not in history
    assert receiver.url not in history


async def test_an_endpoint_that_is_gone_is_told_nothing_more(
    client: Client, desk: Desk, receiver: Receiver, tmp_path: Path
) -> None:
    receiver.answers = [410]
    async with watched(desk, receiver, tmp_path):
        (question,) = (await desk.chat(TWO, user=desk.user)).waiting
        first = client.get_workflow_handle(notice_id("ops", question.run, "q1"), result_type=str)

        async def begun() -> bool:
            return any(question.run in headers["webhook-id"] for headers, _ in receiver.got)

        await eventually(begun, 60)
        async with asyncio.timeout(60):
            assert await first.result() == "gone"
        await desk.confirm(desk.user, "approve")
        await desk.confirm(desk.user, "approve")
    assert [headers["webhook-id"] for headers, _ in receiver.got if question.run in headers["webhook-id"]] == [first.id]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"url": "ftp://x.example", "secret_env": "HOOK"}, "url"),
        ({"url": "http://hooks.example/x", "secret_env": "HOOK"}, "only https leaves this machine"),
        ({"url": "https://hooks.example/x", "secret_env": "NONE"}, "the variable NONE is not set"),
        ({"url": "https://hooks.example/x", "secret_env": "HOOK", "events": ["other"]}, "events"),
        ({"url": "https://hooks.example/x", "secret": "abc"}, "secret"),
    ],
)
def test_a_bad_webhooks_file_is_refused_with_the_place(tmp_path: Path, entry: dict[str, object], said: str) -> None:
    file = tmp_path / "webhooks.yaml"
    file.write_text(json.dumps({"ops": entry}))
    with pytest.raises(FileMistakes, match=said) as refused:
        Webhooks.of_file(file, {"HOOK": SECRET})
    assert str(file) in str(refused.value)
    assert "abc" not in str(refused.value)


async def test_a_run_that_leaves_something_is_told_once_and_one_that_is_undone_is_not(
    client: Client, bench: ToolBench, desk: Desk, receiver: Receiver, tmp_path: Path
) -> None:
    bench.on("provision_account").raises(RuntimeError("down"))
    clean = await desk.order("charge_card(order_id=4411, amount=40.00); provision_account(order_id=4411)")
    left = await desk.order("send_receipt(order_id=4411); provision_account(order_id=4411)")
    (asks,) = (await desk.chat(TWO, user=f"{desk.user}-2")).waiting
    await desk.confirm(f"{desk.user}-2", "approve")
    await client.get_workflow_handle(asks.run).terminate()
    assert (clean.state, left.state) == ("undone", "left")
    mine = {notice_id("ops", run, "left") for run in (left.run, asks.run)}
    for _ in range(2):  # a console that is started anew says nothing twice
        async with watched(desk, receiver, tmp_path, events=["run.left"]):  # type: ignore[arg-type]
            await eventually(lambda: mine <= set(receiver.taken), 60)
    assert sorted(receiver.taken) == sorted(mine)
    told = [json.loads(body) for headers, body in receiver.got if left.run in headers["webhook-id"]]
    assert [each["type"] for each in told] == ["run.left"]
    assert told[0]["data"] == {
        "run": left.run,
        "user": desk.user,
        "url": f"https://console.example/runs/{left.run.replace(':', '%3A')}",
    }
