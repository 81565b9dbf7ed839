"""N13: a condemned run that somebody reset by hand in Temporal sends nothing, whatever it is answered (SPEC 8.3)."""

import pytest
from amends.contract.errors import CondemnedRunError
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import run_of, settled, view_when
from amends.tests.session.session_stage import client_of
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest

ORDER = "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)"
UNDONE = ["charge_card", "update_crm", "restore_crm", "refund_card"]


async def reset_to_its_beginning(desk: Desk, run: str) -> None:
    history = await run_of(desk, run).fetch_history()
    first = next(e for e in history.events if e.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
    client = client_of(desk)
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=run),
            reason="by hand",
            workflow_task_finish_event_id=first.event_id,
            request_id="reset",
        )
    )


async def test_n13_a_condemned_run_that_was_reset_ends_at_its_first_write_and_its_plan_asks_nothing(
    bench: ToolBench, desk: Desk
):
    done = await desk.order(ORDER)
    await settled(desk)
    assert (await desk.unwind(done.run)).verdict == "unwound"
    await reset_to_its_beginning(desk, done.run)
    view = await view_when(desk, done.run, lambda view: view.waiting)
    assert view.condemned is None, "this execution knows of nothing"
    plan = await desk.undo(done.run, dry_run=True)
    assert (plan.condemned, plan.unwind, plan.waiting) == (True, "", ())
    told = await desk.confirm(desk.user, "approve", run=done.run)
    assert (told.state, told.text) == ("condemned", "This run was undone from outside. It sends nothing any more.")
    with pytest.raises(CondemnedRunError):
        await desk.confirm(desk.user, "approve", run=done.run)
    assert bench.names == UNDONE


async def test_n13_an_answer_that_is_forced_on_it_reaches_no_tool(bench: ToolBench, desk: Desk):
    done = await desk.order(ORDER)
    await settled(desk)
    assert (await desk.unwind(done.run)).verdict == "unwound"
    await reset_to_its_beginning(desk, done.run)
    view = await view_when(desk, done.run, lambda view: view.waiting)
    answer = {"question_id": view.waiting[0].id, "answer": "approve", "by": "mallory"}
    await run_of(desk, done.run).signal("answer", answer)
    ended = await view_when(desk, done.run, lambda view: view.over)
    assert ended.state == "condemned"
    assert ended.text == "This run was undone from outside. It sends nothing any more."
    assert bench.names == UNDONE
