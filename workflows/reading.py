"""Having a turn read: the one local activity of amends.

Reading a turn is pure and takes microseconds, so running it again after a lost worker changes nothing; that is what
makes a local activity right here, and wrong for every call that touches the world. Its result is recorded with the
hash of what it was read with, so that a changed vocabulary never touches a run in flight (SPEC 3.5).
"""

from datetime import timedelta

from temporalio import workflow

from ..contract.names import READ_TURN_ACTIVITY
from ..contract.reading import Language
from ..contract.session import Lacking, Plan, ReadRequest

__all__ = ["read_turn"]


async def read_turn(agent: str, text: str, language: Language | None, lacking: Lacking | None) -> Plan:
    """Return the plan of a turn, or a plan that says why the turn stays unread."""
    plan: Plan = await workflow.execute_local_activity(
        READ_TURN_ACTIVITY,
        ReadRequest(agent=agent, text=text, language=language, lacking=lacking),
        result_type=Plan,
        start_to_close_timeout=timedelta(seconds=10),
        summary="read the turn",
    )
    return plan
