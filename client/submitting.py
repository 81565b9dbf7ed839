"""Giving a turn to a person's session, until it is decided what becomes of it (SPEC 7.3).

The session answers at once and never keeps a caller waiting: that a turn started, that it was not read, that another
run is open, that it waits in line. What is to be waited for is a run, and that is followed by its history, at no cost
to the session; then the same request is made again.
"""

import asyncio
import secrets
from contextlib import suppress
from uuid import uuid4

from temporalio.client import WithStartWorkflowOperation, WorkflowUpdateFailedError
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from ..contract.errors import Conflict, Unreachable
from ..contract.names import SESSION_WORKFLOW, SUBMIT_UPDATE, WITHDRAW_SIGNAL, session_workflow_id
from ..contract.session import SessionState, Submitted, Turn
from .conflicts import condemned_fork, thread_is_waiting
from .following import Follower
from .patience import while_served
from .place import Place

__all__ = ["submit"]

AGAIN = 0.05
"""Seconds before a turn is sent again to a session that was continuing as new, or had too many at once."""

_NOT_TAKEN = (RPCStatusCode.RESOURCE_EXHAUSTED, RPCStatusCode.ABORTED, RPCStatusCode.FAILED_PRECONDITION)
"""More turns at once than Temporal gives to a workflow in one moment, which are ten; or the moment was a bad one, since
the execution, or a task of it, was just coming to its end. Sent again, it is the same request."""


async def submit(place: Place, agent: str, user: str, turn: Turn) -> Submitted:
    """Give a turn to a session, waiting in line if the turn says so; return what it started, or why it was not read.

    Raises:
        Conflict: ``thread_is_waiting``, ``queue_full`` or ``run_not_started``.
        CondemnedRunError: it is a fork of a run that is condemned.
        Unreachable: Temporal does not answer, or no worker serves the agent.
        ValueError: the turn or the facts are too long.
    """
    while True:
        update = uuid4().hex
        try:
            told = await while_served(_update(place, agent, user, turn, update), place)
        except Unreachable:
            await _withdraw(place, agent, user, update)
            raise
        match told.status:
            case "condemned":
                raise condemned_fork(turn.fork_of, told)
            case "started" | "unread" | "lacking" | "stopped":
                return told
            case "again":
                await asyncio.sleep(AGAIN)
            case "busy":
                view = await while_served(Follower(place.client, told.run).look(), place)
                if not view.over:
                    raise thread_is_waiting(view)
                # The session only has not heard yet.
                turn = turn.model_copy(update={"settled": told.run})
            case "queued":
                await while_served(Follower(place.client, told.run).until_over(), place)
                turn = turn.model_copy(update={"settled": told.run})
            case "not_started":
                raise Conflict("run_not_started", f"The turn started no run: {told.text}")


async def _update(place: Place, agent: str, user: str, turn: Turn, name: str) -> Submitted:
    start: WithStartWorkflowOperation[object, object] = WithStartWorkflowOperation(
        SESSION_WORKFLOW,
        SessionState(agent=agent, user=user, epoch=secrets.token_hex(3)),
        id=session_workflow_id(agent, user),
        task_queue=place.task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        static_summary=f"{user} with {agent}",
    )
    try:
        submitted: Submitted = await place.client.execute_update_with_start_workflow(
            SUBMIT_UPDATE, turn, start_workflow_operation=start, id=name, result_type=Submitted
        )
    except WorkflowUpdateFailedError as error:
        raise _refusal(error) from error
    except RPCError as error:
        with suppress(RPCError):  # the start failed with the same error, which must not be found unread later
            await start.workflow_handle()
        if error.status not in _NOT_TAKEN:
            raise
        return Submitted(status="again")
    return submitted


async def _withdraw(place: Place, agent: str, user: str, update: str) -> None:
    """Have a turn that was given up not taken by a worker that comes later."""
    with suppress(RPCError):  # a server that cannot be reached has not got the turn, or will be found to have it
        await place.client.get_workflow_handle(session_workflow_id(agent, user)).signal(WITHDRAW_SIGNAL, update)


def _refusal(error: WorkflowUpdateFailedError) -> Exception:
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type == "queue_full":
        return Conflict("queue_full", f"The turn was not taken: {cause.message}.")
    if isinstance(cause, ApplicationError) and cause.type in ("turn_too_long", "facts_too_long"):
        return ValueError(cause.message)
    return error
