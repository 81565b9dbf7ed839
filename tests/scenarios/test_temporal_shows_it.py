"""What a person sees in Temporal's own tools (SPEC 4.1, 4.7, 12.4)."""

import json

import pytest
from amends.contract.names import session_workflow_id
from amends.rulebook.effects import Never
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import ORDER, eventually, make_bench, run_of
from google.protobuf.json_format import MessageToDict
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle

WAITING = """**waiting** · {user}

1. `charge_card(order_id 4411, amount 40.00)` done
2. `update_crm(order_id 4411)` proposed

> Run update_crm?"""

UNDONE = """**undone** · {user}

1. `charge_card(order_id 4411, amount 40.00)` undone, undo by refund_card: 1 sent
2. `update_crm(order_id 4411)` undone, undo by restore_crm: 1 sent
3. `provision_account(order_id 4411)` failed

This run stopped: provision_account failed (RuntimeError). \
Undone, latest first: update_crm (by restore_crm), charge_card (by refund_card)."""

RESTORE = "undo of step 2 update_crm: restore_crm(order_id 4411, previous update_crm-2)"
REFUND = "undo of step 1 charge_card: refund_card(charge_id charge_card-1, amount 40.00)"


def text(data: bytes) -> str:
    said: str = json.loads(data)
    return said


async def scheduled(run: WorkflowHandle[object, object]) -> list[tuple[str, str, str]]:
    """Return type, id and summary of each activity, as the event history has them."""
    calls = [
        (event.activity_task_scheduled_event_attributes, event.user_metadata)
        for event in (await run.fetch_history()).events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    return [(call.activity_type.name, call.activity_id, text(said.summary.data)) for call, said in calls]


async def metadata(run: WorkflowHandle[object, object]) -> dict[str, object]:
    """Return the answer to the query that Temporal's user interface asks."""
    found: object = await run.query("__temporal_workflow_metadata")
    return found if isinstance(found, dict) else MessageToDict(found)  # type: ignore[arg-type]


async def test_activities_are_named_after_the_tools_and_say_what_they_do(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    bench.on("restore_crm").raises(RuntimeError("busy")).returns({})
    reply = await desk.order(ORDER)
    assert await scheduled(run_of(desk, reply.run)) == [
        ("charge_card", "step-1", "1/3 charge_card(order_id 4411, amount 40.00)"),
        ("update_crm", "step-2", "2/3 update_crm(order_id 4411)"),
        ("provision_account", "step-3", "3/3 provision_account(order_id 4411)"),
        ("restore_crm", "step-2.undo", RESTORE),
        ("restore_crm", "step-2.undo-2", RESTORE),
        ("refund_card", "step-1.undo", REFUND),
    ]


async def test_each_try_is_an_activity_and_each_wait_says_why(bench: ToolBench, desk: Desk):
    bench.on("get_order").raises(TimeoutError()).returns({})
    reply = await desk.order("get_order(order_id=4411)")
    run = run_of(desk, reply.run)
    assert [(name, activity) for name, activity, _ in await scheduled(run)] == [
        ("get_order", "step-1"),
        ("get_order", "step-1.try-2"),
    ]
    timers = [event for event in (await run.fetch_history()).events if event.HasField("timer_started_event_attributes")]
    assert [text(timer.user_metadata.summary.data) for timer in timers] == ["before get_order is tried again"]


async def test_a_long_summary_is_cut_between_characters(desk: Desk):
    reply = await desk.order(f"add_note(order_id=4411, text={'é' * 300})")
    ((_, _, summary),) = await scheduled(run_of(desk, reply.run))
    assert summary == f"1/1 add_note(order_id 4411, text {'é' * 83}"
    assert len(summary.encode()) <= 200


async def test_a_failed_call_is_shown_as_failed_by_its_own_name(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("the service is down"))
    reply = await desk.order("provision_account(order_id=4411)")
    history = await run_of(desk, reply.run).fetch_history()
    (failed,) = (
        event.activity_task_failed_event_attributes.failure
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED
    )
    assert (failed.message, failed.application_failure_info.type) == ("the service is down", "RuntimeError")


async def test_the_details_of_a_run_tell_its_steps_its_question_and_its_reply(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    reply = await desk.chat(ORDER, user=desk.user)
    await desk.confirm(desk.user, "approve")
    run = run_of(desk, reply.run)
    assert (await metadata(run))["currentDetails"] == WAITING.format(user=desk.user)
    for _ in range(2):
        await desk.confirm(desk.user, "approve")
    assert (await metadata(run))["currentDetails"] == UNDONE.format(user=desk.user)


async def test_the_handlers_of_a_run_and_of_a_session_say_what_they_are_for(desk: Desk):
    reply = await desk.order("get_order(order_id=4411)")
    for workflow, names in (
        (reply.run, {"answer", "answer_now", "view"}),
        (session_workflow_id(desk.name, desk.user), {"submit", "set_language", "view"}),
    ):
        definition = (await metadata(run_of(desk, workflow)))["definition"]
        assert isinstance(definition, dict)
        handlers = [
            handler
            for kind in ("signalDefinitions", "updateDefinitions", "queryDefinitions")
            for handler in definition.get(kind, [])
            if not handler.get("name", "").startswith("__")  # the one for all other signals has none
        ]
        assert names <= {handler.get("name") for handler in handlers}
        assert all(handler["description"] for handler in handlers)


async def test_a_run_and_a_session_have_a_summary_in_every_list(desk: Desk):
    reply = await desk.chat(ORDER, user=desk.user)
    run = await run_of(desk, reply.run).describe()
    assert await run.static_summary() == f"charge_card, update_crm, provision_account · {desk.user}"
    assert await run.static_details() == ORDER
    session = await run_of(desk, session_workflow_id(desk.name, desk.user)).describe()
    assert await session.static_summary() == f"{desk.user} with desk"
    await desk.confirm(desk.user, "cancel all")


async def listed(desk: Desk, run: str, state: str) -> bool:
    return [summary.run for summary in await desk.runs(user=desk.user, state=state, limit=1)] == [run]


class TestStates:
    """Every state a run can be found by in a list."""

    @pytest.fixture
    def bench(self) -> ToolBench:
        return make_bench(Never(id="frozen", actions=("provision_account",), say="frozen"))

    @pytest.mark.parametrize(
        ("turn", "answers", "state"),
        [
            ("get_order(order_id=1)", (), "done"),
            ("add_note(order_id=1, text=x)", (), "waiting"),
            ("add_note(order_id=1, text=x)", ("approve",), "done"),
            ("charge_card(order_id=1, amount=1); provision_account(order_id=1)", ("approve",), "undone"),
            ("send_receipt(order_id=1); provision_account(order_id=1)", ("approve",), "left"),
            ("provision_account(order_id=1)", (), "refused"),
            ("update_crm(order_id=1); provision_account(order_id=1)", ("approve",), "stuck"),
            ("update_crm(order_id=1); provision_account(order_id=1)", ("approve", "abandon"), "abandoned"),
        ],
    )
    async def test_a_run_is_listed_by_its_state(
        self, bench: ToolBench, desk: Desk, turn: str, answers: tuple[str, ...], state: str
    ):
        bench.on("restore_crm").raises(RuntimeError("busy"))
        reply = await desk.chat(turn, user=desk.user)
        for word in answers:
            reply = await desk.answer(desk.user, word)  # type: ignore[arg-type]
        assert reply.state == state
        await eventually(lambda: listed(desk, reply.run, state))
        (summary,) = await desk.runs(user=desk.user)
        assert (summary.state, summary.user) == (state, desk.user)
        if reply.waiting:
            await desk.answer(desk.user, reply.waiting[0].answers[-1])

    async def test_a_run_that_is_undoing_is_listed_as_such(self, bench: ToolBench, desk: Desk):
        bench.on("refund_card").hangs()
        reply = await desk.chat("charge_card(order_id=1, amount=1); add_note(order_id=1, text=x)", user=desk.user)
        await desk.confirm(desk.user, "approve")
        await run_of(desk, reply.run).signal("answer", {"question_id": "q2", "answer": "cancel all", "by": "ana"})
        await eventually(lambda: listed(desk, reply.run, "undoing"))
        reply = await desk.attend(reply.run)
        assert reply.waiting[0].text.startswith("Did refund_card take effect?")
        await desk.answer(desk.user, "happened")

    async def test_a_terminated_run_is_listed_as_left(self, desk: Desk):
        reply = await desk.chat("add_note(order_id=1, text=x)", user=desk.user)
        await run_of(desk, reply.run).terminate()

        async def left() -> bool:
            (summary,) = await desk.runs(user=desk.user)
            return summary.state == "left"

        await eventually(left)


async def test_without_search_attributes_runs_are_the_same_and_lists_are_poorer(client: Client, task_queue: str):
    bench = make_bench()
    async with open_desk(client, bench.agent, task_queue=task_queue, attributes=False) as desk:
        reply = await desk.order(ORDER)
        assert reply.state == "done"
        history = await run_of(desk, reply.run).fetch_history()
        assert not any(event.HasField("upsert_workflow_search_attributes_event_attributes") for event in history.events)

        async def is_listed() -> bool:
            return [(found.run, found.state) for found in await desk.runs(user=desk.user)] == [(reply.run, "")]

        await eventually(is_listed)
        with pytest.raises(ValueError, match="cannot be listed by state"):
            await desk.runs(state="done")
