"""Reading a session's record again, to fold it for what a changed rulebook asks (SPEC 3.6)."""

import asyncio

from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from ..contract.folding import Folded, FoldRequest
from ..contract.names import FOLD_RECORD_ACTIVITY, VIEW_QUERY
from ..contract.record import Page
from ..tools.folding import fold_lines

__all__ = ["fold_record"]

AT_A_TIME = 8


@activity.defn(name=FOLD_RECORD_ACTIVITY)
async def fold_record(request: FoldRequest) -> Folded:
    """Fold the record from its pages; say which page is gone where one is."""
    client = activity.client()
    lines: list[str] = []
    for at in range(0, len(request.chain.pages), AT_A_TIME):
        activity.heartbeat(at)
        names = request.chain.pages[at : at + AT_A_TIME]
        for name, page in zip(names, await asyncio.gather(*(_page(client, name) for name in names)), strict=True):
            if page is None:
                return Folded(missing=name)
            lines += page.lines
    return Folded(record=fold_lines([*lines, *request.chain.lines], request.rulebook))


async def _page(client: Client, name: str) -> Page | None:
    """Return a page of the record; None when Temporal no longer has it."""
    try:
        page: Page = await client.get_workflow_handle(name).query(VIEW_QUERY, result_type=Page)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise
    return page
