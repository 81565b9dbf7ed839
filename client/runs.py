"""Listing runs (SPEC 12.1). Lists come from Temporal's visibility store, which may lag behind by a moment."""

from collections.abc import Iterator
from datetime import datetime

from temporalio.client import WorkflowExecution, WorkflowExecutionStatus
from temporalio.common import SearchAttributeKey

from ..contract.model import Wire
from ..contract.names import AGENT_ATTRIBUTE, RUN_WORKFLOW, STATE_ATTRIBUTE, USER_ATTRIBUTE
from .place import Place

__all__ = ["RunSummary", "list_runs"]

_STATE = SearchAttributeKey.for_keyword(STATE_ATTRIBUTE)
_USER = SearchAttributeKey.for_keyword(USER_ATTRIBUTE)


_AWKWARD = frozenset("\\'\"")


class RunSummary(Wire):
    """One run in a list. ``state`` is empty where the server does not know our search attributes."""

    run: str
    user: str = ""
    state: str = ""
    started_at: datetime
    ended_at: datetime | None = None


async def list_runs(
    place: Place, agent: str, *, user: str | None = None, state: str | None = None, limit: int = 50
) -> list[RunSummary]:
    """Return the runs of an agent, latest first, ``limit`` at most.

    Raises:
        ValueError: a filter by state, on a server without our search attributes.
    """
    if state and not place.attributes:
        raise ValueError(f"runs cannot be listed by state: the server has no search attribute {STATE_ATTRIBUTE}")
    if (user and not place.attributes) or (user and _AWKWARD & set(user)):
        return await _looked_through(place, agent, user=user, state=state, limit=limit)
    query = " AND ".join(_conditions(place, agent, user, state))
    return [_summary(execution) async for execution in place.client.list_workflows(query, limit=limit)]


async def _looked_through(place: Place, agent: str, *, user: str, state: str | None, limit: int) -> list[RunSummary]:
    """List by looking at each run's id: servers do not agree on how a quote is written in a query."""
    found: list[RunSummary] = []
    query = " AND ".join(_conditions(place, agent, None, state))
    async for execution in place.client.list_workflows(query):
        if execution.id.rsplit(":", 2)[0] == f"run:{agent}:{user}":
            found.append(_summary(execution))
            if len(found) == limit:
                break
    return found


def _conditions(place: Place, agent: str, user: str | None, state: str | None) -> Iterator[str]:
    yield f"WorkflowType = '{RUN_WORKFLOW}'"
    if not place.attributes:
        yield f"WorkflowId STARTS_WITH 'run:{agent}:'"
        return
    yield f"{AGENT_ATTRIBUTE} = '{agent}'"
    if user:
        yield f"{USER_ATTRIBUTE} = '{user}'"
    if state:
        yield f"{STATE_ATTRIBUTE} = '{state}'"


def _summary(execution: WorkflowExecution) -> RunSummary:
    attributes = execution.typed_search_attributes
    # The attribute is what the run said last. One that was ended from outside could not say that it undid nothing.
    cut_short = execution.status not in (WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.COMPLETED)
    return RunSummary(
        run=execution.id,
        user=attributes.get(_USER) or execution.id.split(":", 2)[-1].rsplit(":", 2)[0],
        state="left" if cut_short else attributes.get(_STATE) or "",
        started_at=execution.start_time,
        ended_at=execution.close_time,
    )
