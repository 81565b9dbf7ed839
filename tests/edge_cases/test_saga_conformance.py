"""The public saga conformance scenarios: one trip, and a side store as the only witness (docs/cases.md)."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from amends.client.embedded import EmbeddedServer
from amends.contract.names import VIEW_QUERY
from amends.contract.reply import Reply
from amends.contract.run import RunView
from amends.testing.desk import Desk, open_desk
from amends.testing.plain import compile_plain_selector
from amends.testing.witness import Witness
from amends.tests.histories.recording import record_marked
from amends.tests.scenarios.stage import view_when
from amends.tools.loader import load_agent
from temporalio.client import Client

AGENT_FILE = Path(__file__).parent / "trip" / "agent.yaml"
AMENDS = str(Path(sys.executable).parent / "amends")
TURN = "reserve_flight(trip=t); reserve_hotel(trip=t); charge_card(trip=t); send_confirmation(trip=t)"
A, B, C, D = "reserve_flight", "reserve_hotel", "charge_card", "send_confirmation"
UNDO_A, UNDO_B, UNDO_C = "cancel_flight", "cancel_hotel", "refund_card"
FAILED_AT_D = "This run stopped: send_confirmation failed (RuntimeError). "
ALL_UNDONE = (
    "Undone, latest first: charge_card (by refund_card), reserve_hotel (by cancel_hotel), "
    "reserve_flight (by cancel_flight)."
)


@pytest.fixture
def witness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Witness:
    monkeypatch.setenv("TRIP_WITNESS", str(tmp_path / "witness.db"))
    return Witness(tmp_path / "witness.db")


@pytest.fixture
async def trip(
    client: Client, witness: Witness, task_queue: str, request: pytest.FixtureRequest
) -> AsyncIterator[Desk]:
    agent = load_agent(AGENT_FILE, compile_selector=compile_plain_selector)
    async with open_desk(client, agent, task_queue=task_queue) as desk:
        yield desk
        await record_marked(client, desk, request)


def delivered(witness: Witness) -> list[str]:
    return [delivery.tool for delivery in witness.deliveries()]


@pytest.mark.recorded("saga_forward")
async def test_forward_success_path(trip: Desk, witness: Witness):
    reply = await trip.order(TURN)
    assert (reply.state, reply.text) == ("done", f"Done: {A}, {B}, {C}, {D}.")
    assert witness.tools() == delivered(witness) == [A, B, C, D]


@pytest.mark.recorded("saga_failed_at_d")
async def test_failure_at_d_reverse_compensation(trip: Desk, witness: Witness):
    witness.script("t", D, "raise")
    reply = await trip.order(TURN)
    assert (reply.state, reply.text) == ("undone", FAILED_AT_D + ALL_UNDONE)
    assert witness.tools() == [A, B, C, UNDO_C, UNDO_B, UNDO_A]
    assert (witness.standing(), witness.broken_promises()) == ([], [])


@pytest.mark.recorded("saga_failed_at_c")
async def test_failure_at_c_reverse_compensation(trip: Desk, witness: Witness):
    witness.script("t", C, "raise")
    reply = await trip.order(TURN)
    assert reply.text == (
        "This run stopped: charge_card failed (RuntimeError). "
        "Undone, latest first: reserve_hotel (by cancel_hotel), reserve_flight (by cancel_flight)."
    )
    assert witness.tools() == [A, B, UNDO_B, UNDO_A]
    assert D not in delivered(witness)


@pytest.mark.recorded("saga_failed_at_a")
async def test_failure_at_a_no_compensation(trip: Desk, witness: Witness):
    witness.script("t", A, "raise")
    reply = await trip.order(TURN)
    assert reply.text == "This run stopped: reserve_flight failed (RuntimeError)."
    assert (witness.tools(), delivered(witness)) == ([], [A])


@pytest.mark.parametrize("fault", ["raise", "commit, time out"])
async def test_compensation_retry_idempotence(trip: Desk, witness: Witness, fault: str):
    """The undo notes its try and fails, once without and once after its effect; the effect counts once either way."""
    witness.script("t", D, "raise")
    witness.script("t", UNDO_C, fault)
    reply = await trip.order(TURN)
    assert (reply.state, reply.text) == ("undone", FAILED_AT_D + ALL_UNDONE)
    assert delivered(witness).count(UNDO_C) == 2
    assert witness.tools().count(UNDO_C) == 1
    assert reply.steps[2].undo is not None
    assert reply.steps[2].undo.tries == 2, "the second try is there to be seen"


async def stuck_at_the_hotel(trip: Desk, witness: Witness) -> Reply:
    witness.script("t", D, "raise")
    witness.script("t", UNDO_B, *["raise"] * 4)
    reply = await trip.chat(TURN, user=trip.user)
    while reply.waiting and reply.waiting[0].kind == "confirm":
        reply = await trip.confirm(trip.user, "approve")
    return reply


@pytest.mark.recorded("saga_undo_failed_for_good")
async def test_compensation_failure_visibility(trip: Desk, witness: Witness, temporal: EmbeddedServer):
    reply = await stuck_at_the_hotel(trip, witness)
    asked = "Undoing reserve_hotel failed after 4 tries (RuntimeError). 2 step(s) still need undoing."
    assert (reply.state, reply.over, reply.waiting[0].text) == ("stuck", False, asked)
    environment = {**os.environ, "TEMPORAL_ADDRESS": temporal.address, "TEMPORAL_NAMESPACE": temporal.namespace}
    words = [AMENDS, "show", trip.user, "--json", "--agent", str(AGENT_FILE)]
    shown = await asyncio.to_thread(
        subprocess.run, words, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    said = json.loads(shown.stdout)
    assert (said["state"], said["waiting"][0]["text"]) == ("stuck", asked), shown.stderr
    assert said["steps"][1]["undo"]["failure"] == {"type": "RuntimeError", "message": "it broke"}
    reply = await trip.answer(trip.user, "abandon")
    assert reply.state == "abandoned"
    assert reply.text.endswith("Still to be undone by hand: reserve_hotel, reserve_flight.")
    assert [effect.tool for effect in witness.standing()] == [A, B]


@pytest.mark.recorded("saga_undo_refused")
async def test_typed_compensation_error_round_trip(trip: Desk, witness: Witness):
    """The undo's error keeps its type, its message, its step and its number of tries across every boundary."""
    witness.script("t", D, "raise")
    witness.script("t", UNDO_B, "refuse")
    reply = await trip.chat(TURN, user=trip.user)
    while reply.waiting and reply.waiting[0].kind == "confirm":
        reply = await trip.confirm(trip.user, "approve")
    step = Reply.model_validate_json(reply.model_dump_json()).steps[1]
    assert (step.tool, step.position, step.state) == (B, 2, "undo failed")
    assert step.undo is not None
    assert step.undo.failure is not None
    assert (step.undo.failure.type, step.undo.failure.message) == ("Refused", "it says no")
    assert (step.undo.tool, step.undo.tries) == (UNDO_B, 1)
    assert (await trip.answer(trip.user, "retry")).text == FAILED_AT_D + ALL_UNDONE


async def test_operator_visible_mid_compensation_status(trip: Desk, witness: Witness, client: Client):
    witness.script("t", D, "raise")
    witness.script("t", UNDO_B, "slow")
    ordering = asyncio.create_task(trip.order(TURN))
    while not delivered(witness).count(UNDO_B):
        await asyncio.sleep(0.01)
    run = witness.deliveries()[0].run
    view: RunView = await client.get_workflow_handle(run).query(VIEW_QUERY, result_type=RunView)
    assert view.state == "undoing"
    states = {step.tool: (step.state, step.undo.tries if step.undo else None) for step in view.steps}
    assert states == {A: ("done", None), B: ("undoing", 1), C: ("undone", 1), D: ("failed", None)}
    assert (await ordering).text == FAILED_AT_D + ALL_UNDONE
    view = await view_when(trip, run, lambda view: view.over)
    assert [step.state for step in view.steps] == ["undone", "undone", "undone", "failed"]
