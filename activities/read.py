"""The reading activity: a turn to a plan, with what the agent of this worker knows (SPEC 2)."""

from collections.abc import Awaitable, Callable, Mapping

from temporalio import activity
from temporalio.exceptions import ApplicationError

from ..contract.mistakes import nearest
from ..contract.names import READ_TURN_ACTIVITY
from ..contract.session import Plan, ReadRequest
from ..tools.loader import LoadedAgent
from ..tools.planning import plan_turn

__all__ = ["reading_activity"]


def reading_activity(agents: Mapping[str, LoadedAgent]) -> Callable[[ReadRequest], Awaitable[Plan]]:
    """Return the activity that reads turns for ``agents``, by name."""

    @activity.defn(name=READ_TURN_ACTIVITY)
    async def read_turn(request: ReadRequest) -> Plan:
        agent = agents.get(request.agent)
        if agent is None:
            near = nearest(request.agent, agents)
            raise ApplicationError(
                f"this worker has no agent {request.agent!r}" + (f"; did you mean {near[0]!r}?" if near else ""),
                type="no_such_agent",
                non_retryable=True,
            )
        try:
            return plan_turn(agent, request.text, request.language, request.lacking)
        except Exception as error:
            # Reading is pure, so it fails in the same way again; tried again, it would hold the whole session up.
            why = f"the turn could not be read: {type(error).__name__}: {error}"
            raise ApplicationError(why, type="reading_failed", non_retryable=True) from error

    return read_turn
