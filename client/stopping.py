"""Stopping runs from outside, apart from any conversation: one, a session's, an agent's, all (SPEC 8.4).

A stop is an act and no state: it stops what is open when it is recorded, and the turns that wait; a turn that comes
later is a new one, and its writes are confirmed as ever. To keep an agent from taking any, stop its workers.

A session passes a stop on to its open run, and starts none that it was just about to. Runs are told directly as well,
since a session may be gone. Which sessions and runs there are comes from Temporal's visibility store, which may lag by
a moment; so it is asked again until it names nobody new.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime
from typing import Literal

from temporalio.service import RPCError, RPCStatusCode

from ..contract.errors import NotFound, Unreachable
from ..contract.model import Wire
from ..contract.names import RUN_WORKFLOW, SESSION_WORKFLOW, STOP_SIGNAL, VIEW_QUERY, session_workflow_id
from ..contract.question import Question
from ..contract.run import RunState, RunView, StopClass
from ..contract.session import SessionView
from .asking import ask
from .following import Follower
from .patience import while_served
from .place import Place

__all__ = ["BY", "PATIENCE", "Stopped", "StoppedRun", "stop_all", "stop_run", "stop_session"]

BY = "an operator"
"""Who stops, where nobody is named."""
PATIENCE = 30.0
"""Seconds that stopping waits for runs to be undone, unless told otherwise."""

AT_ONCE = 20
"""How many runs are looked at side by side."""
LOOKS = (0.0, 1.0, 2.0)
"""Seconds before each look at which sessions and runs are open. A store that lags by more than that is a sick one."""

_UNSENT = frozenset(("proposed", "approved", "declined"))


class StoppedRun(Wire):
    """One run that was open when the stop came, and where it stands now.

    ``tool`` is the call it had come to, and ``found`` what the stop found of it: ``before dispatch`` and ``aborted``
    left no effect, ``committed`` took effect and is undone with the rest, and about ``unknown`` a person is asked, in
    ``waiting``. Both are empty for a run that was undoing already, or had come to no call. ``text`` is the reply, once
    the run is over. ``state`` is None when no worker serves the run: the stop is recorded, and is the first thing the
    next worker sees.
    """

    run: str
    user: str = ""
    agent: str = ""
    state: RunState | None = None
    tool: str = ""
    found: StopClass | Literal[""] = ""
    text: str = ""
    waiting: tuple[Question, ...] = ()


class Stopped(Wire):
    """What a stop stopped: the runs that were open, and how many sessions were told to begin nothing that waits."""

    runs: tuple[StoppedRun, ...] = ()
    sessions: int = 0


async def stop_run(place: Place, run: str, *, by: str, reason: str, patience: float) -> Stopped:
    """Stop one run.

    Raises:
        NotFound: ``no_such_run``: there is none, or it is over.
    """
    if not await _tell(place, run, by, reason):
        raise NotFound("no_such_run", f"There is no open run {run}.", "`amends runs` lists them.", run_id=run)
    return Stopped(runs=(await _followed(place, run, patience),))


async def stop_session(place: Place, agent: str, user: str, *, by: str, reason: str, patience: float) -> Stopped:
    """Stop a user's session: its open run, and the turns that wait.

    Raises:
        NotFound: ``no_such_session``.
        Unreachable: no worker says which run is open; the stop is recorded all the same.
    """
    name = session_workflow_id(agent, user)
    if not await _tell(place, name, by, reason):
        raise NotFound("no_such_session", f"{user} has no session with {agent}.")
    query = ask(place.client.get_workflow_handle(name), VIEW_QUERY, result_type=SessionView)
    try:
        view = await while_served(query, place)
    except Unreachable as error:
        raise Unreachable(
            error.code, error.message, "The stop is recorded, and is the first thing the next worker sees."
        ) from error
    run = view.stopped or view.open_run
    stopped = bool(run) and (await _tell(place, run, by, reason) or await _ended_since(place, run, view.stopped_at))
    return Stopped(runs=(await _followed(place, run, patience),) if stopped else (), sessions=1)


async def _ended_since(place: Place, run: str, stopped_at: datetime | None) -> bool:
    """Say whether a run that is over was open when its session was stopped: a session may hear of an end late."""
    view = await while_served(Follower(place.client, run).look(), place)
    return stopped_at is not None and view.ended_at is not None and view.ended_at >= stopped_at


async def stop_all(place: Place, agent: str | None, *, by: str, reason: str, patience: float) -> Stopped:
    """Stop every open run and session of an agent, or of every agent of the namespace where ``agent`` is None."""
    sessions: set[str] = set()
    runs: set[str] = set()
    for pause in LOOKS:
        await asyncio.sleep(pause)
        # Runs first: a session passes the stop on, and a run that is over by that would be missing from the answer. One
        # that a session starts meanwhile is stopped by its session.
        for told, kind, prefix in ((runs, RUN_WORKFLOW, "run"), (sessions, SESSION_WORKFLOW, "session")):
            async for name in _open(place, kind, f"{prefix}:{agent}:" if agent else ""):
                if name not in told and await _tell(place, name, by, reason):
                    told.add(name)
    at_once = asyncio.Semaphore(AT_ONCE)

    async def followed(run: str) -> StoppedRun:
        async with at_once:
            return await _followed(place, run, patience)

    return Stopped(runs=tuple(await asyncio.gather(*map(followed, sorted(runs)))), sessions=len(sessions))


async def _open(place: Place, kind: str, prefix: str) -> AsyncIterator[str]:
    query = f"WorkflowType = '{kind}' AND ExecutionStatus = 'Running'"
    query += f" AND WorkflowId STARTS_WITH '{prefix}'" if prefix else ""
    async for execution in place.client.list_workflows(query):
        yield execution.id


async def _tell(place: Place, workflow: str, by: str, reason: str) -> bool:
    """Signal a stop; say whether anybody was there to hear it."""
    try:
        await place.client.get_workflow_handle(workflow).signal(STOP_SIGNAL, {"by": by, "reason": reason})
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return False
        raise
    return True


async def _followed(place: Place, run: str, patience: float) -> StoppedRun:
    """Wait until a run that was told to stop is over or needs a person, and tell where it stands."""
    follower = Follower(place.client, run)
    view: RunView | None = None
    with suppress(TimeoutError, Unreachable):
        async with asyncio.timeout(patience):
            view = await while_served(follower.until_attention(), place)
    if view is None:
        with suppress(TimeoutError, Unreachable, RPCError):
            async with asyncio.timeout(1):
                view = await follower.look()
    if view is None:
        return StoppedRun(run=run)
    tool, found = _in_flight(view)
    return StoppedRun(
        run=run,
        user=view.user,
        agent=view.agent,
        state=view.state,
        tool=tool,
        found=found,
        text=view.text,
        waiting=view.waiting,
    )


def _in_flight(view: RunView) -> tuple[str, StopClass | Literal[""]]:
    stopped = next((step for step in view.steps if step.stopped), None)
    if stopped is not None and stopped.stopped is not None:
        return stopped.tool, stopped.stopped
    last = view.steps[-1] if view.steps else None
    return (last.tool, "before dispatch") if last is not None and last.state in _UNSENT else ("", "")
