"""What an execution was that was ended by force before any of its code ran: it did nothing, and cannot be asked.

Temporal answers no query of such an execution, however often it is asked. A session that went on asking would take no
turn any more.
"""

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from ..contract.names import owner_of_run, unwind_id
from ..contract.run import RunInput, RunView

__all__ = ["given_of", "unbegun"]


async def unbegun(client: Client, workflow: str, error: RPCError, *, execution: str = "") -> RunView:
    """Return the view of a run, or of an unwind, that is over and whose code never ran, when a query of it failed.

    Args:
        client: where it is.
        workflow: its workflow id.
        error: what the query came to.
        execution: its Temporal run id; empty for the latest.

    Raises:
        RPCError: ``error``, where it means something else.
    """
    owner = owner_of_run(workflow.removeprefix(unwind_id("")))
    if error.status != RPCStatusCode.FAILED_PRECONDITION or owner is None or await _ran(client, workflow, execution):
        raise error
    given = await given_of(client, workflow) if workflow.startswith("run:") else None
    return RunView(
        run=workflow,
        session=given.session if given else "",
        agent=owner[0],
        user=owner[1],
        turn=given.turn if given else "",
        language=given.language if given else "en",
        state="running",
        planned=len(given.calls) if given else 0,
        forked_from=given.forked_from if given else "",
    )


async def given_of(client: Client, run: str) -> RunInput | None:
    """Return what a run was started with; None when Temporal does not have it."""
    try:
        events = client.get_workflow_handle(run).fetch_history_events(page_size=1)
        started = (await anext(events)).workflow_execution_started_event_attributes
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise
    (given,) = await client.data_converter.decode(started.input.payloads, [RunInput])
    return RunInput.model_validate(given)


async def _ran(client: Client, workflow: str, execution: str) -> bool:
    async for event in client.get_workflow_handle(workflow, run_id=execution or None).fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            return True
    return False
