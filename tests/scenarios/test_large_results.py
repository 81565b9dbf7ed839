"""Results that are too large for a history: the run goes on, and nothing is lost (SPEC 13.3, edge case D12)."""

import dataclasses
import json
from pathlib import Path

import pytest
from amends.client.results import read_result
from amends.contract.errors import NotFound
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.histories.recording import KeepHistory
from amends.tests.scenarios.stage import run_of
from amends.tools.result_store import ResultStore
from amends.worker.serving import make_worker
from amends.worker.settings import WorkerSettings
from temporalio.client import Client

BODY = "é" * 1_500_000
"""Three megabytes in UTF-8."""
REPORT = {"id": "ch-1", "body": BODY}
TURN = "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "results"


async def large(client: Client, bench: ToolBench, task_queue: str, folder: Path | None) -> tuple[Desk, str]:
    """Order a charge that returns three megabytes, and have it undone; return where to look."""
    bench.on("charge_card").returns(REPORT)
    bench.on("update_crm").raises(RuntimeError("no"))
    worker = make_worker(client, [bench.agent], task_queue=task_queue, settings=WorkerSettings(results=folder))
    async with open_desk(client, bench.agent, task_queue=task_queue, workers=[worker]) as desk:
        reply = await desk.order(TURN)
    assert reply.undone == ("charge_card",)
    assert bench.called("refund_card")[0].arguments["charge_id"] == "ch-1"
    return desk, reply.run


@pytest.mark.recorded("large_result")
async def test_d12_a_write_returned_three_megabytes(
    client: Client, task_queue: str, bench: ToolBench, folder: Path, keep_history: KeepHistory
):
    desk, run = await large(client, bench, task_queue, folder)
    history = await run_of(desk, run).fetch_history()
    assert len(history.to_json()) < 100_000
    kept = (await desk.run(run)).steps[0].result
    assert isinstance(kept, dict)
    assert kept["id"] == "ch-1"
    assert kept["amends_left_out"] == len(json.dumps(REPORT, ensure_ascii=False).encode())
    assert ResultStore(folder).read(str(kept["amends_kept_as"])) == REPORT
    with pytest.raises(NotFound, match=r"is kept as sha256:.*") as told:
        await desk.result(run, 1)
    assert "AMENDS_RESULTS" in told.value.hint
    await keep_history(run)


async def test_d12_an_argument_of_three_megabytes_is_refused_by_name_and_size(bench: ToolBench, desk: Desk):
    with pytest.raises(ValueError, match=r"the turn has 3000\d+ characters; 2000 is the most"):
        await desk.chat(f"add_note(order_id=1, text={'x' * 3_000_000})", user=desk.user)
    assert bench.names == []


async def test_without_a_folder_the_rest_is_named_and_not_kept(client: Client, task_queue: str, bench: ToolBench):
    desk, run = await large(client, bench, task_queue, None)
    with pytest.raises(NotFound, match=r"of 3000\d+ bytes in all, was not kept") as told:
        read_result(await desk.run(run), 1, await desk.place())
    assert "--results" in told.value.hint


async def test_a_folder_that_cannot_be_written_does_not_fail_the_call(
    client: Client, task_queue: str, bench: ToolBench, folder: Path
):
    folder.write_text("a file stands where the folder should be")
    _, run = await large(client, bench, task_queue, folder)
    assert run


async def test_a_changed_or_missing_file_is_told(client: Client, task_queue: str, bench: ToolBench, folder: Path):
    desk, run = await large(client, bench, task_queue, folder)
    view = await desk.run(run)
    place = await desk.place()
    (file,) = folder.glob("*/*.json")
    here = dataclasses.replace(place, results=folder)
    assert read_result(view, 1, here) == REPORT
    file.write_text("{}")
    with pytest.raises(NotFound, match="was changed since it was kept"):
        read_result(view, 1, here)
    file.unlink()
    with pytest.raises(NotFound, match="cannot be read from"):
        read_result(view, 1, here)
    with pytest.raises(NotFound, match="there is no step 3"):
        read_result(view, 3, here)
