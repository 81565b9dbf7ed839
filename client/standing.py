"""What a run's session knows of it: whether it ever was, and whether it is condemned (SPEC 8.3)."""

from temporalio.service import RPCError, RPCStatusCode

from ..contract.names import STANDING_QUERY, owner_of_run, session_workflow_id
from ..contract.unwind import Standing
from .asking import ask
from .patience import while_served
from .place import Place

__all__ = ["standing_of"]


async def standing_of(place: Place, run: str) -> Standing:
    """Ask the session of a run. Where there is no such session, it knows nothing.

    Raises:
        Unreachable: Temporal does not answer, or no worker serves the agent.
    """
    owner = owner_of_run(run)
    if owner is None:
        return Standing()
    session = place.client.get_workflow_handle(session_workflow_id(*owner))
    try:
        return await while_served(ask(session, STANDING_QUERY, run, result_type=Standing), place)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return Standing()
        raise
