"""Whatever is said to a session or a run about undoing, nothing raises and nothing is wedged (SPEC 4.4, 8.3)."""

from contextlib import suppress

import pytest
from amends.contract.errors import Conflict
from amends.contract.names import CONDEMN_UPDATE, session_workflow_id
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import run_of, settled, view_when
from amends.tests.unwind.stage import finished, waiting
from amends.workflows import condemning
from temporalio.client import WorkflowUpdateFailedError
from temporalio.service import RPCError

ONE = "update_crm(order_id=4411)"
SIGNALS = ("refusal", "late_outcome", "answer", "nonsense")


@pytest.fixture(autouse=True)
def results(bench: ToolBench) -> None:
    bench.on("update_crm").returns({"id": "was open"})


def nested(levels: int) -> object:
    deep: object = "x"
    for _ in range(levels):
        deep = {"a": [deep]}
    return deep


def hostile(run: str) -> list[object]:
    sound = {"run": run, "by": "b", "reason": "r"}
    return [
        *(None, 1, "x", [], {}, nested(70), {"run": run}),
        *({**sound, "by": ""}, {**sound, "by": "b" * 201}, {**sound, "reason": "r" * 200_000}),
        *({**sound, "steps": [1] * 201}, {**sound, "steps": ["a"]}, {**sound, "latest": "nonsense"}),
        *({**sound, "run": ""}, {**sound, "run": "run:other:u:e:1"}, {**sound, "run": f"session:{run}"}),
    ]


async def test_a_session_condemns_nothing_on_a_word_that_is_not_sound(desk: Desk):
    run = await finished(desk, ONE)
    session = run_of(desk, session_workflow_id(desk.name, desk.user))
    for word in hostile(run):
        with pytest.raises(WorkflowUpdateFailedError):
            await session.execute_update(CONDEMN_UPDATE, word)
    for word in [*hostile(run), {"code": nested(70)}, {"run": run, "code": "c" * 60, "by": "b" * 200}]:
        for signal in SIGNALS:
            await session.signal(signal, word)
    assert (await desk.session(desk.user)).condemned == ()
    assert (await desk.unwind(run)).verdict == "unwound"
    assert (await desk.record(desk.user)).verify() is None


@pytest.mark.parametrize("which", range(16))
async def test_a_run_is_condemned_by_whatever_comes_with_the_signal_and_only_by_that(desk: Desk, which: int):
    run = await waiting(desk, ONE, approve=0)
    word = hostile(run)[which]
    for signal in SIGNALS:
        await run_of(desk, run).signal(signal, word)
    assert (await desk.run(run)).state == "waiting"
    await run_of(desk, run).signal("condemn", word)
    assert (await view_when(desk, run, lambda view: view.over)).state == "condemned"


async def test_what_a_worker_is_said_to_have_found_may_be_deep_and_large(bench: ToolBench, desk: Desk):
    """It is anybody's word, and goes into what the run returns: what cannot be read there would wedge the session."""
    bench.on("update_crm").raises(TimeoutError("no answer"))
    run = await waiting(desk, ONE, approve=0)
    await desk.confirm(desk.user, "approve")
    (step,) = (await desk.run(run)).steps
    for result in (nested(97), {"id": "x" * 900_000}):
        late = {"step": step.number, "attempt": 1, "outcome": {"status": "done", "result": result}}
        with suppress(RPCError):  # the first may have settled it
            await run_of(desk, run).signal("late_outcome", late)
    assert (await view_when(desk, run, lambda view: view.over)).state == "done"
    await settled(desk)


async def test_a_session_refuses_more_tombstones_than_it_can_carry(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    runs = [await finished(desk, ONE) for _ in range(2)]
    await desk.unwind(runs[0])
    monkeypatch.setattr(condemning, "TOMBSTONE_BYTES", 200)
    with pytest.raises(Conflict) as told:
        await desk.unwind(runs[1])
    assert told.value.code == "too_many_condemned"
    assert (await desk.unwind(runs[0])).statuses == ("already-compensated",)
