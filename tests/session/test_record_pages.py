"""The record in its pages: sealed, read back, gone, written by two workers, tampered with (SPEC 7.4; D15)."""

import asyncio
import datetime as dt
import json

import pytest
from amends.client.audit import SessionRecord, parse_record
from amends.contract.names import PAGE_WORKFLOW, RECORD_QUERY
from amends.contract.record import Page, Tail
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import eventually, settled
from amends.tests.session.session_stage import CHARGE, LOOK, NOTE, ORDER, client_of, session_of
from amends.worker.serving import make_worker
from amends.workflows import ledger
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "PAGE_BYTES", 3_000)


async def tail_of(desk: Desk) -> Tail:
    tail: Tail = await session_of(desk).query(RECORD_QUERY, result_type=Tail)
    return tail


async def pages_of(desk: Desk) -> tuple[str, ...]:
    return (await tail_of(desk)).chain.pages


async def test_the_record_says_who_when_what_and_why_of_everything(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    await desk.chat("do something nice", user=desk.user, language="en")
    await desk.chat(ORDER, user=desk.user)
    await desk.confirm(desk.user, "approve", by="ana", note="as agreed")
    reply = await desk.confirm(desk.user, "approve", by="bo")
    await settled(desk)
    record = await desk.record(desk.user)
    assert record.verify() is None
    said = [(entry.kind, entry.by, entry.tool, entry.outcome) for entry in record.entries]
    assert said == [
        ("turn", desk.user, "", ""),
        ("end", "", "", "refused"),
        ("turn", desk.user, "", ""),
        ("question", "", "charge_card", "confirm"),
        ("answer", "ana", "", "taken"),
        ("call", "ana", "charge_card", "done"),
        ("question", "", "provision_account", "confirm"),
        ("answer", "bo", "", "taken"),
        ("call", "bo", "provision_account", "failed"),
        ("undo", "", "refund_card", "undone"),
        ("end", "", "", "undone"),
        ("rewind", "", "", ""),
    ]
    charged, failed, undone, end = (record.entries[place] for place in (5, 8, 9, 10))
    assert charged.arguments == {"order_id": "4411", "amount": "40.00"}
    assert [charged.key, undone.key] == [call.key for call in bench.calls if call.tool != "provision_account"]
    assert (charged.verdict, failed.error, record.entries[4].note) == ("allow", "RuntimeError: down", "as agreed")
    assert end.text == reply.text
    assert {entry.run for entry in record.entries[2:]} == {reply.run}
    moments = [entry.at for entry in record.entries]
    assert moments == sorted(moments)
    assert all(json.loads(line)["at"].endswith("Z") and "." not in json.loads(line)["at"] for line in record.lines)


@pytest.mark.usefixtures("small_pages")
async def test_full_pages_are_sealed_and_read_back(desk: Desk):
    for _ in range(12):
        await desk.order(LOOK)
    await settled(desk)
    tail = await tail_of(desk)
    assert len(tail.chain.pages) >= 3
    assert sum(map(len, tail.chain.lines)) < 3_000
    record = await desk.record(desk.user)
    assert record.verify() is None
    assert len(record.lines) == tail.chain.count == 36
    assert [json.loads(line)["seq"] for line in record.lines] == list(range(1, 37))
    page = client_of(desk).get_workflow_handle(tail.chain.pages[0])
    await page.cancel()
    assert (await page.query("view", result_type=Page)).lines == record.lines[
        : len((await page.query("view"))["lines"])
    ]
    assert [message.text for message in record.memory if message.role == "user"] == [LOOK] * 12


@pytest.mark.usefixtures("small_pages")
async def test_a_page_that_was_deleted_is_a_gap_that_is_told(desk: Desk):
    for _ in range(12):
        await desk.order(LOOK)
    await settled(desk)
    before = await desk.record(desk.user)
    client = client_of(desk)
    gone = (await pages_of(desk))[1]
    first = len((await client.get_workflow_handle((await pages_of(desk))[0]).query("view"))["lines"])
    await client.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=client.namespace, workflow_execution=WorkflowExecution(workflow_id=gone)
        )
    )

    async def lines_are_gone() -> bool:
        return len((await desk.record(desk.user)).lines) < len(before.lines)

    await eventually(lines_are_gone)
    broken = (await desk.record(desk.user)).verify()
    assert broken is not None
    assert (broken.line, broken.kind) == (first + 1, "missing")
    assert (await desk.order(LOOK)).state == "done"


@pytest.mark.usefixtures("small_pages")
async def test_a_run_larger_than_a_page_is_sealed_in_several(desk: Desk):
    await desk.order(";".join([LOOK] * 30))
    await settled(desk)

    async def sealed() -> bool:
        return len(await pages_of(desk)) >= 4

    await eventually(sealed)
    record = await desk.record(desk.user)
    assert (len(record.lines), record.verify()) == (32, None)


async def test_the_lines_of_an_open_run_follow_when_it_is_over(desk: Desk):
    reply = await desk.chat(NOTE, user=desk.user)
    record = await desk.record(desk.user)
    assert record.header is not None
    assert (record.header.open_run, [entry.kind for entry in record.entries]) == (reply.run, ["turn"])
    assert record.verify() is None
    await desk.confirm(desk.user, "skip")
    await settled(desk)
    later = await desk.record(desk.user)
    assert later.lines[: len(record.lines)] == record.lines
    assert later.verify(record.header.head) is None


# D15


async def two_hundred_lines(client: Client, bench: ToolBench, task_queue: str) -> SessionRecord:
    """Have a record written by two workers at once, and then by two others, who know nothing of it yet."""
    address, user = client.service_client.config.target_host, f"u-{task_queue}"
    for _ in range(2):
        workers = [
            make_worker(
                await Client.connect(address, namespace=client.namespace, data_converter=client.data_converter),
                [bench.agent],
                task_queue=task_queue,
            )
            for _ in range(2)
        ]
        async with open_desk(client, bench.agent, task_queue=task_queue, workers=workers) as desk:
            for _ in range(5):
                await desk.order(";".join([LOOK] * 2), user=user)
                await asyncio.gather(*(desk.chat(f"what is {n}", user=user) for n in range(8)))
            await settled(desk, user)
            record = await desk.record(user)
    return record


async def test_d15_the_record_is_cut_short(
    client: Client, bench: ToolBench, task_queue: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ledger, "PAGE_BYTES", 20_000)
    record = await two_hundred_lines(client, bench, task_queue)
    header = record.header
    assert header is not None
    assert (len(record.lines), header.head.count, record.verify()) == (200, 200, None)

    def kind(lines: tuple[str, ...]) -> tuple[int, str] | None:
        broken = SessionRecord(header, lines).verify()
        return (broken.line, broken.kind) if broken else None

    assert kind(record.lines[:-3]) == (198, "cut tail")
    assert kind((*record.lines[:60], record.lines[60].replace('"at":"2', '"at":"3'), *record.lines[61:])) == (
        61,
        "edited",
    )
    swapped = list(record.lines)
    swapped[100], swapped[120] = swapped[120], swapped[100]
    assert kind(tuple(swapped)) == (101, "swapped")
    assert kind((*record.lines[:50], *record.lines[51:])) == (51, "missing")

    # Whoever cuts the tail may write a header that fits. A head that was kept elsewhere does not.
    head = json.loads(record.lines[196])
    forged = header.model_copy(update={"head": header.head.model_copy(update={"count": 197, "hash": head["hash"]})})
    assert SessionRecord(forged, record.lines[:-3]).verify() is None
    broken = SessionRecord(forged, record.lines[:-3]).verify(header.head)
    assert broken is not None
    assert (broken.line, broken.kind) == (198, "cut tail")

    # Dumped, and restored on a store that keeps whole seconds and its own order of keys.
    restored = [json.loads(line) for line in record.lines]
    for said in restored:
        moment = dt.datetime.fromtimestamp(int(dt.datetime.fromisoformat(said["at"]).timestamp()), dt.UTC)
        said["at"] = moment.strftime("%Y-%m-%d %H:%M:%S+00:00")
    text = [header.model_dump_json(), *(json.dumps(dict(reversed(said.items()))) for said in restored)]
    assert parse_record(text).verify(header.head) is None


async def test_pages_are_found_by_their_type_and_stay_open(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ledger, "PAGE_BYTES", 1_000)
    await desk.order(CHARGE)
    await settled(desk)

    async def listed() -> bool:
        query = f"WorkflowType = '{PAGE_WORKFLOW}' AND ExecutionStatus = 'Running'"
        ids = {execution.id async for execution in client_of(desk).list_workflows(query)}
        return set(await pages_of(desk)) <= ids

    await eventually(listed)
    assert await pages_of(desk)
