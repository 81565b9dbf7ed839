"""The gate before every write: a condemned run sends nothing, whoever starts it anew (SPEC 8.3).

An ordinary run hears of its condemnation itself, and asks nobody. But anybody who may use Temporal can reset a run, or
start one again under its id, and neither execution knows what happened since. Such an execution is told from the one
that the session started by its Temporal run id, which costs nothing to compare; only it has to ask the session. See
docs/decisions/0022-the-gate.md.
"""

from temporalio import activity
from temporalio.exceptions import TemporalError

from ..contract.names import STANDING_QUERY, session_workflow_id
from ..contract.outcome import CONDEMNED, Failure, Outcome, ToolRequest
from ..contract.unwind import Standing

__all__ = ["refused_at_the_gate"]


async def refused_at_the_gate(request: ToolRequest) -> Outcome | None:
    """Return why a write may not be sent, or None when it may. Called inside its activity."""
    if not request.execution or request.execution == activity.info().workflow_run_id:
        return None
    session = activity.client().get_workflow_handle(session_workflow_id(request.agent, request.user))
    try:
        standing: Standing = await session.query(STANDING_QUERY, request.run, result_type=Standing)
    except TemporalError as error:
        said = f"{request.run} was started anew by force, and its session cannot say whether it is condemned: {error}"
        return _refusal(said)
    if standing.tombstone is not None:
        tombstone = standing.tombstone
        return _refusal(f"{request.run} was undone by {tombstone.by} at {tombstone.at:%Y-%m-%d %H:%M} UTC")
    if not standing.known:
        return _refusal(f"{request.run} was started anew by force, and its session does not know it")
    return None


def _refusal(said: str) -> Outcome:
    return Outcome(status="never_sent", failure=Failure(type=CONDEMNED, message=said), refused=True)
