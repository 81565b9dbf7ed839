"""Reading a session's past runs again, to fold its record for what a changed rulebook asks (SPEC 3.6)."""

import asyncio

from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from ..contract.folding import Folded, FoldRequest
from ..contract.names import FOLD_RECORD_ACTIVITY, VIEW_QUERY
from ..contract.run import RunView
from ..tools.folding import fold_runs

__all__ = ["fold_record"]

AT_A_TIME = 20


@activity.defn(name=FOLD_RECORD_ACTIVITY)
async def fold_record(request: FoldRequest) -> Folded:
    """Fold the record from the runs as they ended; say which run is gone where one is.

    The oldest runs are read first, since they are the first that Temporal forgets.
    """
    client = activity.client()
    views: list[RunView] = []
    for at in range(0, len(request.runs), AT_A_TIME):
        activity.heartbeat(at)
        names = request.runs[at : at + AT_A_TIME]
        for name, view in zip(names, await asyncio.gather(*(_view(client, name) for name in names)), strict=True):
            if view is None:
                return Folded(missing=name)
            views.append(view)
    return Folded(record=fold_runs(views, request.rulebook))


async def _view(client: Client, run: str) -> RunView | None:
    """Return what a run showed at its end, one that was terminated included; None when Temporal no longer has it."""
    handle = client.get_workflow_handle(run, result_type=RunView)
    try:
        description = await handle.describe()
        if description.status == WorkflowExecutionStatus.COMPLETED:
            ended: RunView = await handle.result()
            return ended
        cut_short: RunView = await handle.query(VIEW_QUERY, result_type=RunView)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise
    return cut_short
