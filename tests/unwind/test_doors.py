"""The doors by which a condemned run might send something again: a reset, a restart, an activity (SPEC 8.3)."""

import asyncio
from typing import Any

import pytest
from amends.contract.errors import NotFound
from amends.contract.names import RUN_WORKFLOW, unwind_id
from amends.contract.run import RunInput, RunView
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import eventually, run_of
from amends.tests.unwind.stage import finished, terminated, waiting
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest, ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

TWO = "update_crm(order_id=4411); charge_card(order_id=4411, amount=40.00)"


@pytest.fixture(autouse=True)
def results(bench: ToolBench) -> None:
    bench.on("update_crm").returns({"id": "was open"})
    bench.on("charge_card").returns({"id": "ch_91"})


async def reset(client: Client, run: str, *, after_tasks: int = 1) -> WorkflowHandle[Any, RunView]:
    """Reset a run as the Temporal UI does, to the end of one of its first workflow tasks."""
    done = [
        event.event_id
        async for event in client.get_workflow_handle(run).fetch_history_events()
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    ]
    answer = await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=run),
            reason="a test wants it",
            workflow_task_finish_event_id=done[after_tasks - 1],
            request_id=f"reset-{run}",
        )
    )
    return client.get_workflow_handle(run, run_id=answer.run_id, result_type=RunView)


async def approved(handle: WorkflowHandle[Any, RunView]) -> RunView:
    """Approve whatever an execution asks, until it is over: an answer that was given before a question counts not."""
    while True:
        view: RunView = await handle.query("view", result_type=RunView)
        if view.over:
            return view
        for question in view.waiting:
            await handle.signal("answer", {"question_id": question.id, "answer": "approve", "by": "ana"})
        await asyncio.sleep(0.05)


async def given_of(client: Client, run: str) -> RunInput:
    async for event in client.get_workflow_handle(run).fetch_history_events():
        payloads = event.workflow_execution_started_event_attributes.input.payloads
        (given,) = await client.data_converter.decode(payloads, [RunInput])
        return RunInput.model_validate(given)
    raise AssertionError("a history has a first event")


@pytest.mark.parametrize("after_tasks", [1, 3])
async def test_n13_a_reset_of_a_condemned_run_sends_nothing(
    bench: ToolBench, desk: Desk, client: Client, after_tasks: int
):
    run = await finished(desk, TWO)
    await desk.unwind(run)
    sent = list(bench.names)
    view = await approved(await reset(client, run, after_tasks=after_tasks))
    assert bench.names == sent
    assert view.state == "condemned"
    assert view.text == "This run was undone from outside. It sends nothing any more."


@pytest.mark.parametrize("after_tasks", [1, 3])
async def test_a_reset_of_a_run_that_is_not_condemned_goes_on_under_the_same_keys(
    bench: ToolBench, desk: Desk, client: Client, after_tasks: int
):
    run = await finished(desk, TWO)
    view = await approved(await reset(client, run, after_tasks=after_tasks))
    assert view.state == "done"
    for tool in ("update_crm", "charge_card"):
        assert len({call.key for call in bench.called(tool)}) == 1


async def test_g007_g038_a_condemned_run_started_again_under_its_id_sends_nothing(
    bench: ToolBench, desk: Desk, client: Client
):
    run = await finished(desk, TWO)
    await desk.unwind(run)
    sent = list(bench.names)
    place = await desk.place()
    given = await given_of(client, run)
    again = await client.start_workflow(RUN_WORKFLOW, given, id=run, task_queue=place.task_queue, result_type=RunView)

    view = await approved(again)
    assert view.state == "condemned"
    assert bench.names == sent


async def test_a_run_that_nobodys_session_started_sends_nothing(bench: ToolBench, desk: Desk, client: Client):
    run = await finished(desk, TWO)
    sent = list(bench.names)
    given = (await given_of(client, run)).model_copy(update={"number": 900})
    name = f"{run.rpartition(':')[0]}:900"
    place = await desk.place()
    again = await client.start_workflow(RUN_WORKFLOW, given, id=name, task_queue=place.task_queue, result_type=RunView)

    assert (await approved(again)).state == "condemned"
    assert bench.names == sent


async def test_n10_reads_of_a_condemned_run_that_was_reset_pass_and_writes_do_not(
    bench: ToolBench, desk: Desk, client: Client
):
    """``book_slot`` is safe to repeat, which is no leave to send it again."""
    bench.on("book_slot").returns({"booking": {"slots": [{"id": "s9"}]}})
    run = await finished(desk, "get_stock(item=hat); book_slot(order_id=4411)")
    await desk.unwind(run)
    bench.calls.clear()
    view = await approved(await reset(client, run))
    assert bench.names == ["get_stock"]
    assert view.state == "condemned"


async def test_a_run_that_was_reset_is_told_when_it_is_condemned_while_open(
    bench: ToolBench, desk: Desk, client: Client
):
    """Its session holds it to be over. The unwind finds the new execution, and has it undo itself."""
    run = await waiting(desk, TWO, approve=1)
    await terminated(desk, run)
    handle = await reset(client, run, after_tasks=2)

    async def asks() -> bool:
        return bool((await handle.query("view", result_type=RunView)).waiting)

    await eventually(asks)
    report = await desk.unwind(run)
    assert report.verdict == "unwound"
    assert (await handle.result()).state == "condemned"
    assert bench.names.count("restore_crm") == 1
    assert "charge_card" not in bench.names


async def test_an_ordinary_run_asks_its_session_for_nothing(bench: ToolBench, desk: Desk, client: Client):
    """The gate costs a run that was not started anew by force no event, and its session none either."""
    run = await finished(desk, TWO)
    events = [event async for event in run_of(desk, f"session:{desk.name}:{desk.user}").fetch_history_events()]
    assert len(events) <= 16
    kinds = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        async for event in client.get_workflow_handle(run).fetch_history_events()
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]
    assert kinds == bench.names


# Retention


async def forgotten(client: Client, workflow: str) -> None:
    """Have Temporal let go of a workflow, as it does by itself when retention is over. It takes half a minute."""
    await client.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=client.namespace, workflow_execution=WorkflowExecution(workflow_id=workflow)
        )
    )

    async def gone() -> bool:
        try:
            await client.get_workflow_handle(workflow).describe()
        except RPCError:
            return True
        return False

    await eventually(gone, 120)


@pytest.mark.timeout(180)
async def test_n17_past_retention_a_run_is_swept_or_known_to_be_undone(bench: ToolBench, desk: Desk, client: Client):
    stands, undone = await finished(desk, TWO), await finished(desk, TWO)
    await desk.unwind(undone)
    sent = list(bench.names)

    async def is_known() -> bool:
        tombstone = (await desk.undo(undone, dry_run=True)).tombstone
        return tombstone is not None and tombstone.verdict is not None

    await eventually(is_known)
    await asyncio.gather(*(forgotten(client, each) for each in (stands, undone, unwind_id(undone))))
    for plan, report in [(await desk.undo(run, dry_run=True), await desk.unwind(run)) for run in (stands, undone)]:
        assert (plan.dry_run, report.dry_run) == (True, False)
        assert (plan.verdict, plan.entries, plan.condemned) == (report.verdict, report.entries, report.condemned)
        if report.run == stands:
            assert (report.verdict, report.entries, report.condemned) == ("swept", (), False)
        else:
            assert (report.verdict, report.condemned) == ("unwound", True)
            assert report.statuses == ("already-compensated",) * 2
    with pytest.raises(NotFound):
        await desk.unwind(f"{stands.rpartition(':')[0]}:7")
    assert bench.names == sent
