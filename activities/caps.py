"""Asking the ledgers of caps that cross sessions, and telling them what became of a call (SPEC 3.3).

Both may be sent again: a ledger takes and gives back the room of a ticket once.
"""

import asyncio
from datetime import timedelta
from typing import TypeVar

from temporalio import activity
from temporalio.client import WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy

from ..contract.caps import Reservation, RoomRequest, RoomUse, Settlement, Want
from ..contract.names import (
    CAPS_WORKFLOW,
    RESERVE_ACTIVITY,
    RESERVE_UPDATE,
    SETTLE_ACTIVITY,
    SETTLE_UPDATE,
    caps_workflow_id,
)

__all__ = ["reserve_room", "settle_room"]

_T = TypeVar("_T")

_ONE_CALL = timedelta(seconds=8)
"""Shorter than the activity's own time limit, so that a try has ended when the next one begins."""


@activity.defn(name=RESERVE_ACTIVITY)
async def reserve_room(request: RoomRequest) -> dict[str, bool]:
    """Take the room of a call in every ledger it needs; return, by rule, whether its part fits.

    Unless all of it fits nothing stays taken.
    """
    asked = [(user, wants) for user, wants in ((request.user, request.of_user), ("", request.of_all)) if wants]
    answers = await asyncio.gather(*(_reserve(request, user, wants) for user, wants in asked))
    if not all(fits for answer in answers for fits in answer.values()):
        taken = [user for (user, _), answer in zip(asked, answers, strict=True) if all(answer.values())]
        back = Settlement(ticket=request.ticket, keep=False)
        await asyncio.gather(*(_settle(caps_workflow_id(request.agent, user), back) for user in taken))
    return {rule: fits for answer in answers for rule, fits in answer.items()}


@activity.defn(name=SETTLE_ACTIVITY)
async def settle_room(use: RoomUse) -> None:
    """Tell every ledger that was asked what became of the call."""
    settlement = Settlement(ticket=use.ticket, keep=use.keep)
    users = [user for user, asked in ((use.user, use.of_user), ("", use.of_all)) if asked]
    await asyncio.gather(*(_settle(caps_workflow_id(use.agent, user), settlement) for user in users))


async def _reserve(request: RoomRequest, user: str, wants: tuple[Want, ...]) -> dict[str, bool]:
    reservation = Reservation(ticket=request.ticket, day=request.day, wants=wants)
    return await _update(caps_workflow_id(request.agent, user), RESERVE_UPDATE, reservation, dict[str, bool])


async def _settle(ledger: str, settlement: Settlement) -> None:
    await _update(ledger, SETTLE_UPDATE, settlement, type(None))


async def _update(ledger: str, name: str, argument: Reservation | Settlement, result: type[_T]) -> _T:
    """Send an update to a ledger, which begins empty where there is none."""
    start: WithStartWorkflowOperation[object, object] = WithStartWorkflowOperation(
        CAPS_WORKFLOW,
        None,
        id=ledger,
        task_queue=activity.info().task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        static_summary="room in caps that cross sessions",
    )
    answer: _T = await activity.client().execute_update_with_start_workflow(
        name, argument, start_workflow_operation=start, result_type=result, rpc_timeout=_ONE_CALL
    )
    return answer
