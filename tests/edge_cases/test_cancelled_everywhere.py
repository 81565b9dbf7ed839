"""A run that is asked to stop at every await of its rollback: the same world, and the same truthful end (SPEC 6.4).

Each place is reached four times: then Temporal's cancel comes, or a stop, or the client goes away, or all of these at
once. That no await is without a place is read from the code, not from a list.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from amends.contract.reply import Reply
from amends.contract.tool import QueryBinding
from amends.testing.bench import ToolBench
from amends.testing.witness import Witness
from amends.tests import workflow_cache
from amends.tests.edge_cases.rollback_awaits import ONLY_IN_AN_UNWIND, RecordedAwaits, awaits_of_a_rollback
from amends.tests.edge_cases.rollback_scene import HOWS, Scene, open_scene
from amends.tests.edge_cases.side_store import Gate, Happens
from amends.tests.edge_cases.test_several_tries import with_words
from amends.tests.scenarios.stage import eventually, make_bench, run_of
from amends.workflows import doubt, rollback, sending
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

FAILED, CANCELLED = "provision_account failed (RuntimeError)", "cancelled by ana"
UNDONE = "This run stopped: {}. Undone, latest first: charge_card (by refund_card), update_crm (by restore_crm)."
EFFECTS = ["update_crm", "charge_card", "refund_card", "restore_crm"]
LONG = timedelta(seconds=15 if workflow_cache.is_switched_off() else 4)
"""Long enough to be interrupted in the middle, whatever else the machine does. Where every task is a replay, four
plays at once and a person's answer in each took more than four seconds."""
DOES, FAILS = Happens(), Happens(takes_effect=False, error=RuntimeError("busy"))
NO_ANSWER, DOES_WITHOUT_ANSWER = (Happens(takes_effect=it, error=TimeoutError("no answer")) for it in (False, True))
IT_DID = Happens(takes_effect=False, returns=lambda _: {"happened": True})
IT_DID_NOT = Happens(takes_effect=False, returns=lambda _: {"happened": False})
CANNOT_TELL = Happens(takes_effect=False, returns=lambda _: {"happened": None})

Patch = pytest.MonkeyPatch
Play = Callable[[Scene, Patch], Awaitable[Reply]]
PLACES: dict[str, Play] = {}
SEEN: dict[str, tuple[str, ...]] = {}


def place(play: Play) -> Play:
    """Make a place of a rollback out of a play that reaches it, interrupts the run there, and goes on."""
    PLACES[play.__name__] = play
    return play


def gated(happens: Happens) -> tuple[Gate, Happens]:
    gate = Gate()
    return gate, Happens(gate, happens.takes_effect, happens.error, happens.returns)


@place
async def before_the_first_undo_is_taken(scene: Scene, _: Patch) -> Reply:
    await scene.begin_two()
    await scene.stop_acting()
    scene.say("cancel all", by="ana")
    await scene.when(lambda view: view.state == "undoing")
    await scene.interrupt()
    await scene.act()
    return await scene.end()


@place
async def during_the_first_undo(scene: Scene, _: Patch) -> Reply:
    gate, does = gated(DOES)
    scene.in_call("refund_card", does)
    await scene.begin()
    await gate.entered.wait()
    await scene.interrupt()
    gate.open.set()
    return await scene.end()


@place
async def during_the_last_undo(scene: Scene, _: Patch) -> Reply:
    gate, does = gated(DOES)
    scene.in_call("restore_crm", does)
    await scene.begin()
    await gate.entered.wait()
    await scene.interrupt()
    gate.open.set()
    return await scene.end()


@place
async def between_two_tries_of_an_undo(scene: Scene, patch: Patch) -> Reply:
    patch.setattr(rollback, "WAITS", (LONG,) * 3)
    scene.in_call("refund_card", FAILS, DOES)
    await scene.begin()
    await scene.when(lambda view: view.state == "undoing")
    await timer_begun(scene)
    await scene.interrupt()
    return await scene.end()


@place
async def while_the_stuck_question_is_open(scene: Scene, _: Patch) -> Reply:
    scene.in_call("refund_card", *[FAILS] * 4, DOES)
    await scene.begin()
    await scene.asked("charge_card", "undo")
    await scene.interrupt()
    return await scene.end("retry")


@place
async def during_an_undo_that_was_stuck(scene: Scene, _: Patch) -> Reply:
    gate, does = gated(DOES)
    scene.in_call("refund_card", *[FAILS] * 4, does)
    await scene.begin()
    await scene.asked("charge_card", "undo")
    scene.say("retry")
    await gate.entered.wait()
    await scene.interrupt()
    gate.open.set()
    return await scene.end()


@place
async def while_an_undo_is_in_doubt(scene: Scene, _: Patch) -> Reply:
    scene.in_call("refund_card", DOES_WITHOUT_ANSWER)
    await scene.begin()
    await scene.asked("refund_card", "outcome")
    await scene.interrupt()
    return await scene.end("happened")


@place
async def while_the_target_is_asked_about_an_undo(scene: Scene, _: Patch) -> Reply:
    gate, it_did = gated(IT_DID)
    scene.in_call("refund_card", DOES_WITHOUT_ANSWER)
    scene.in_call("get_order", it_did)
    await scene.begin()
    await gate.entered.wait()
    await scene.interrupt()
    gate.open.set()
    return await scene.end()


@place
async def before_the_target_is_asked_again(scene: Scene, patch: Patch) -> Reply:
    patch.setattr(sending, "PAUSES", (LONG,) * 2)
    scene.in_call("refund_card", DOES_WITHOUT_ANSWER)
    scene.in_call("get_order", NO_ANSWER, IT_DID)
    await scene.begin()
    await timer_begun(scene)
    await scene.interrupt()
    return await scene.end()


@place
async def until_an_undo_can_no_longer_land(scene: Scene, patch: Patch) -> Reply:
    patch.setattr(doubt, "GRACE", LONG)
    scene.in_call("refund_card", NO_ANSWER, DOES)
    scene.in_call("get_order", CANNOT_TELL)
    await scene.begin()
    await scene.asked("refund_card", "outcome")
    scene.say("did not happen")
    await scene.when(lambda view: view.notice)
    await scene.interrupt()
    return await scene.end()


@place
async def while_the_target_is_asked_once_more(scene: Scene, patch: Patch) -> Reply:
    patch.setattr(doubt, "GRACE", LONG)
    gate, it_did_not = gated(IT_DID_NOT)
    scene.in_call("refund_card", NO_ANSWER, DOES)
    scene.in_call("get_order", CANNOT_TELL, it_did_not)
    await scene.begin()
    await scene.asked("refund_card", "outcome")
    scene.say("did not happen")
    await gate.entered.wait()
    await scene.interrupt()
    gate.open.set()
    return await scene.end()


@place
async def after_the_last_undo_before_the_run_knows(scene: Scene, _: Patch) -> Reply:
    gate, does = gated(DOES)
    scene.in_call("restore_crm", does)
    await scene.begin()
    await gate.entered.wait()
    await scene.stop_deciding()
    gate.open.set()
    await eventually(lambda: last_event_is(scene, EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED), seconds=30)
    await scene.interrupt(heard=False)
    await scene.decide()
    return await scene.end()


async def last_event_is(scene: Scene, kind: EventType.ValueType) -> bool:
    history = await run_of(scene.desk, scene.run).fetch_history()
    return history.events[-1].event_type == kind


async def timer_begun(scene: Scene) -> None:
    await eventually(lambda: last_event_is(scene, EventType.EVENT_TYPE_TIMER_STARTED), seconds=30)


QUICK_LOOKS = {"while_the_target_is_asked_once_more": 1_000, "until_an_undo_can_no_longer_land": 1_000}
"""The places that wait until a refund can no longer land, with the time limit it has there, in milliseconds."""
LOOKED_UP = QueryBinding(tool="get_order", arguments={"order_id": "$args.charge_id"})


def bench_of(place: str) -> ToolBench:
    bench = with_words(make_bench(), "refund_card", timeout_ms=QUICK_LOOKS.get(place, 60_000))
    bench = with_words(bench, "get_order", timeout_ms=60_000)
    looked_up = "target" in place or place in QUICK_LOOKS
    bench = with_words(bench, "refund_card", outcome_query=LOOKED_UP) if looked_up else bench
    bench.on("provision_account").raises(RuntimeError("down"))
    return bench


@pytest.mark.parametrize("place", PLACES)
async def test_interrupted_at_any_place_of_a_rollback_the_world_and_the_end_are_the_same(
    place: str, client: Client, tmp_path: Path, monkeypatch: Patch
):
    recorded = RecordedAwaits(monkeypatch)

    async def played(how: str) -> object:
        bench, file = bench_of(place), tmp_path / f"{how}.db"
        async with open_scene(how, client, bench, file, f"test-{uuid4().hex[:12]}") as scene:
            reply = await PLACES[place](scene, monkeypatch)
            SEEN[place] = (*SEEN.get(place, ()), *recorded.of.get(scene.run, ()))
        witness = Witness(file)
        assert scene.interrupted
        return reply.state, reply.text, witness.tools(), witness.standing(), witness.broken_promises()

    async with asyncio.timeout(90):
        ends = await asyncio.gather(*map(played, HOWS))
    told = UNDONE.format(CANCELLED if place == before_the_first_undo_is_taken.__name__ else FAILED)
    assert dict(zip(HOWS, ends, strict=True)) == dict.fromkeys(HOWS, ("undone", told, EFFECTS, [], []))


def test_every_await_of_a_rollback_was_interrupted(request: pytest.FixtureRequest):
    """A new await in the code needs a new place above."""
    if SEEN.keys() != PLACES.keys():
        pytest.skip("not every place was played in this run of the tests")
    seen = {name for names in SEEN.values() for name in names}
    assert awaits_of_a_rollback() - ONLY_IN_AN_UNWIND - seen == set()
