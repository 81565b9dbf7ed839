"""A condemnation, a stop, a cancel request and an answer find a run in one moment, in every order (SPEC 8.2, 8.4)."""

import asyncio
import itertools

import pytest
from amends.contract.names import ANSWER_SIGNAL, CONDEMN_SIGNAL, STOP_SIGNAL
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import run_of, settled, view_when
from amends.tests.unwind.stage import BOOKED, waiting


@pytest.fixture(autouse=True)
def results(bench: ToolBench) -> None:
    bench.on("update_crm").returns({"id": "was open"})
    bench.on("book_slot").returns(BOOKED)
    bench.on("charge_card").returns({"id": "ch_91"})


@pytest.mark.parametrize("order", list(itertools.permutations(("condemn", "stop", "cancel", "answer"))), ids="-".join)
async def test_in_every_order_what_was_done_is_undone_once(bench: ToolBench, desk: Desk, order: tuple[str, ...]):
    run = await waiting(desk, approve=1)
    (question,) = (await desk.run(run)).waiting
    handle = run_of(desk, run)
    acts = {
        "condemn": lambda: handle.signal(CONDEMN_SIGNAL, {"run": run, "by": "bo", "reason": "now"}),
        "stop": lambda: handle.signal(STOP_SIGNAL, {"by": "eve"}),
        "cancel": handle.cancel,
        "answer": lambda: handle.signal(ANSWER_SIGNAL, {"question_id": question.id, "answer": "approve", "by": "ana"}),
    }
    await asyncio.gather(*(acts[name]() for name in order), return_exceptions=True)
    view = await view_when(desk, run, lambda view: view.over)
    sent = bench.names
    assert sent in (["charge_card", "refund_card"], ["charge_card", "book_slot", "free_slot", "refund_card"])
    assert view.state in ("condemned", "undone")
    await settled(desk)
    report = await desk.unwind(run)
    assert report.verdict == "unwound"
    assert set(report.statuses) == {"already-compensated"} or view.condemned
    assert bench.names == sent
    assert (await desk.record(desk.user)).verify() is None
    assert not (await desk.session(desk.user)).remains
