"""Listing runs (SPEC 12.1). Lists come from Temporal's visibility store, which may lag behind by a moment."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime

from temporalio.client import WorkflowExecution, WorkflowExecutionStatus
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from ..contract.model import Wire
from ..contract.names import (
    AGENT_ATTRIBUTE,
    RUN_WORKFLOW,
    STATE_ATTRIBUTE,
    UNWIND_WORKFLOW,
    USER_ATTRIBUTE,
    owner_of_run,
    unwind_id,
)
from .place import Place

__all__ = ["RunSummary", "list_runs", "list_unwinds"]

_STATE = SearchAttributeKey.for_keyword(STATE_ATTRIBUTE)
_USER = SearchAttributeKey.for_keyword(USER_ATTRIBUTE)


_AWKWARD = frozenset("\\'\"")
CONDEMNED = "condemned"
_CUT_SHORT = "ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed', 'Canceled')"


class RunSummary(Wire):
    """One run in a list. ``state`` is empty where the server does not know our search attributes."""

    run: str
    user: str = ""
    state: str = ""
    started_at: datetime
    ended_at: datetime | None = None


async def list_runs(
    place: Place,
    agent: str,
    *,
    user: str | None = None,
    state: str | None = None,
    ended_since: datetime | None = None,
    limit: int = 50,
) -> list[RunSummary]:
    """Return the runs of an agent, latest first, ``limit`` at most; those that ended since then, if that is given.

    A run that an operator had undone is ``condemned``, whatever it had come to before (SPEC 8.3).

    Raises:
        ValueError: a filter by state, on a server without our search attributes.
    """
    if state and not place.attributes:
        raise ValueError(f"runs cannot be listed by state: the server has no search attribute {STATE_ATTRIBUTE}")
    listing = _Listing(place, agent, user, state, ended_since, limit)
    return await listing.runs(await _unwound(place, agent))


async def list_unwinds(place: Place, agent: str, *, open_only: bool = True) -> list[RunSummary]:
    """Return the unwinds of an agent's runs that were over, latest first; each is named by its own workflow id.

    Args:
        place: where they are.
        agent: whose runs they undo.
        open_only: only those that are under way, or ask something.
    """
    query = f"WorkflowType = '{UNWIND_WORKFLOW}' AND WorkflowId STARTS_WITH '{unwind_id(f'run:{agent}:')}'"
    query += " AND ExecutionStatus = 'Running'" if open_only else ""
    return [_summary(execution, frozenset()) async for execution in place.client.list_workflows(query)]


async def _unwound(place: Place, agent: str) -> frozenset[str]:
    """Return the runs that have an unwind. What such a run said of itself last is no longer so."""
    unwinds = await list_unwinds(place, agent, open_only=False)
    return frozenset(unwind.run.removeprefix(unwind_id("")) for unwind in unwinds)


@dataclass(frozen=True)
class _Listing:
    place: Place
    agent: str
    user: str | None
    state: str | None
    ended_since: datetime | None
    limit: int

    async def runs(self, unwound: frozenset[str]) -> list[RunSummary]:
        found = [summary async for summary in self._matching(unwound)]
        if self.state == CONDEMNED:
            found = [summary for summary in found if summary.run not in unwound]
            found += [summary for run in unwound if (summary := await self._described(run, unwound))]
            found.sort(key=lambda summary: summary.started_at, reverse=True)
        return found[: self.limit]

    async def _matching(self, unwound: frozenset[str]) -> AsyncIterator[RunSummary]:
        query, taken = " AND ".join(self._conditions()), 0
        async for execution in self.place.client.list_workflows(query):
            summary = _summary(execution, unwound)
            if self._is_theirs(summary) and (self.state in (None, summary.state)) and taken < self.limit:
                taken += 1
                yield summary
            if taken == self.limit:
                return

    async def _described(self, run: str, unwound: frozenset[str]) -> RunSummary | None:
        try:
            summary = _summary(await self.place.client.get_workflow_handle(run).describe(), unwound)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return None
            raise
        return summary if self._is_theirs(summary) else None

    def _is_theirs(self, summary: RunSummary) -> bool:
        return self.user is None or summary.user == self.user

    def _conditions(self) -> Iterator[str]:
        yield f"WorkflowType = '{RUN_WORKFLOW}'"
        if self.ended_since is not None:
            yield f"CloseTime >= '{self.ended_since.isoformat()}'"
        if not self.place.attributes:
            yield f"WorkflowId STARTS_WITH 'run:{self.agent}:'"
            return
        yield f"{AGENT_ATTRIBUTE} = '{self.agent}'"
        # Servers do not agree on how a quote is written in a query; such a user is found by looking at each run.
        if self.user and not _AWKWARD & set(self.user):
            yield f"{USER_ATTRIBUTE} = '{self.user}'"
        if self.state == "left":
            yield f"({STATE_ATTRIBUTE} = 'left' OR {_CUT_SHORT})"
        elif self.state:
            yield f"{STATE_ATTRIBUTE} = '{self.state}'"


def _summary(execution: WorkflowExecution, unwound: frozenset[str]) -> RunSummary:
    attributes = execution.typed_search_attributes
    # The attribute is what the run said last. One that was ended from outside could not say that it undid nothing.
    cut_short = execution.status not in (WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.COMPLETED)
    state = CONDEMNED if execution.id in unwound else "left" if cut_short else attributes.get(_STATE) or ""
    return RunSummary(
        run=execution.id,
        user=attributes.get(_USER) or (owner_of_run(execution.id.removeprefix(unwind_id(""))) or ("", ""))[1],
        state=state,
        started_at=execution.start_time,
        ended_at=execution.close_time,
    )
