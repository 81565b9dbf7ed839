"""Reading again what a run did, from its history, for the unwind of it (SPEC 8.2).

The history says what the run was started with, contracts and rules included, and how it ended. What an earlier unwind
of it came to stands in that one's.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from temporalio import activity
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowQueryFailedError
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError, RPCStatusCode

from ..contract.loaded import LoadedRun, LoadRequest
from ..contract.names import CONDEMN_SIGNAL, LOAD_RUN_ACTIVITY, VIEW_QUERY, unwind_id
from ..contract.run import RunView
from .follow import STILL_OPEN, pause
from .unbegun import given_of, unbegun

__all__ = ["SWEPT", "load_run", "loaded_run"]

SWEPT = "swept"


@activity.defn(name=LOAD_RUN_ACTIVITY)
async def load_run(request: LoadRequest) -> LoadedRun:
    """Return what a run did, for its unwind or for a fork of it.

    Raises:
        ApplicationError: ``swept``: Temporal has let go of it. ``still_open``: somebody started the run anew by force,
            by a reset say; that execution is told to undo itself, and this is to be tried again.
    """
    client = activity.client()
    loaded = await _loaded(client, request.run, request.unwound_by)
    if loaded is None:
        raise ApplicationError(f"Temporal no longer has {request.run}", type=SWEPT, non_retryable=True)
    if loaded.closed_at is None:
        if request.order is not None:
            await client.get_workflow_handle(request.run).signal(CONDEMN_SIGNAL, request.order)
        waited = datetime.now(UTC) - activity.info().scheduled_time
        raise ApplicationError(
            f"{request.run} is still open",
            type=STILL_OPEN,
            next_retry_delay=pause(waited),
            category=ApplicationErrorCategory.BENIGN,
        )
    return loaded


async def loaded_run(client: Client, run: str) -> LoadedRun | None:
    """Return what a run was started with and what became of its steps, up to now; None when Temporal does not have it.

    ``closed_at`` is None while the run, or an unwind of it, is under way.
    """
    latest = await _described(client, unwind_id(run))
    if latest is None:
        return await _loaded(client, run, ())
    loaded = await _loaded(client, run, (latest.run_id,))
    return loaded and loaded.model_copy(update={"unwind": latest.run_id})


async def _loaded(client: Client, run: str, unwinds: Sequence[str]) -> LoadedRun | None:
    """Do so, where ``unwinds`` are the executions that undid it, the latest first."""
    described, given = await _described(client, run), await given_of(client, run)
    if described is None or given is None:
        return None
    given = given.model_copy(update={"record": None})
    for unwind in unwinds if described.status != WorkflowExecutionStatus.RUNNING else ():
        unwound = await _described(client, unwind_id(run), unwind)
        view = await _view(client, unwound) if unwound else None
        if unwound and view and view.steps:
            return LoadedRun(given=given, steps=view.steps, closed_at=_closed(unwound))
    return LoadedRun(given=given, steps=(await _view(client, described)).steps, closed_at=_closed(described))


def _closed(described: WorkflowExecutionDescription) -> datetime | None:
    return None if described.status == WorkflowExecutionStatus.RUNNING else described.close_time


async def _described(client: Client, workflow: str, execution: str = "") -> WorkflowExecutionDescription | None:
    try:
        return await client.get_workflow_handle(workflow, run_id=execution or None).describe()
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise


async def _view(client: Client, described: WorkflowExecutionDescription) -> RunView:
    """Return what an execution showed at its end, or shows now."""
    handle = client.get_workflow_handle(described.id, run_id=described.run_id, result_type=RunView)
    if described.status == WorkflowExecutionStatus.COMPLETED:
        return RunView.model_validate(await handle.result())
    try:
        return RunView.model_validate(await handle.query(VIEW_QUERY, result_type=RunView))
    except WorkflowQueryFailedError as error:
        # Its code broke, and breaks again when it is asked: nobody can say what it did but its events.
        raise ApplicationError(
            f"{described.id} cannot be asked what it did: {error}", type="unreadable", non_retryable=True
        ) from error
    except RPCError as error:
        return await unbegun(client, described.id, error, execution=described.run_id)
