"""A session that somebody reset by hand uses no number and no key a second time (SPEC 5.1)."""

from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import settled
from amends.tests.session.session_stage import LOOK, NOTE, client_of, session_of
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest


async def test_g087_after_a_reset_the_next_turn_has_keys_of_its_own(bench: ToolBench, desk: Desk):
    await desk.order(LOOK)
    await settled(desk)
    history = await session_of(desk).fetch_history()
    early = [e for e in history.events if e.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED][-1]
    await desk.order(NOTE)
    await desk.order(NOTE)
    before = await desk.record(desk.user)
    client = client_of(desk)
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=session_of(desk).id),
            reason="by hand",
            workflow_task_finish_event_id=early.event_id,
            request_id="reset",
        )
    )
    assert (await desk.order(NOTE)).state == "done"
    notes = bench.called("add_note")
    assert len(notes) == len({note.key for note in notes}) == 3
    assert notes[0].context.session != notes[2].context.session
    after = await desk.record(desk.user)
    assert after.verify() is None
    # What the session forgot is told by a head that was kept.
    assert before.header is not None
    assert after.verify(before.header.head) is not None
