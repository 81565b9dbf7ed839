"""Having a session's record folded anew from its lines: only when a changed rulebook asks for it (SPEC 3.6)."""

from collections.abc import Mapping
from datetime import timedelta

from pydantic import JsonValue
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

from ..contract.folding import Folded, FoldRequest
from ..contract.names import FOLD_RECORD_ACTIVITY
from ..contract.record import Chain

__all__ = ["fold_anew"]


async def fold_anew(chain: Chain, rulebook: Mapping[str, JsonValue]) -> Mapping[str, JsonValue] | None:
    """Return a session's record, folded for what ``rulebook`` asks; None when a page of it can no longer be read.

    Without it, the check refuses the calls it cannot decide, and says why.
    """
    try:
        folded: Folded = await workflow.execute_activity(
            FOLD_RECORD_ACTIVITY,
            FoldRequest(chain=chain, rulebook=rulebook),
            result_type=Folded,
            start_to_close_timeout=timedelta(minutes=5),
            heartbeat_timeout=timedelta(seconds=30),
            retry_policy=RetryPolicy(maximum_attempts=3),
            summary="fold the record for a changed rulebook",
        )
    except ActivityError as error:
        workflow.logger.warning("the record could not be folded anew: %s", error.cause)
        return None
    if folded.record is None:
        workflow.logger.warning("the record could not be folded anew: %s is gone", folded.missing)
    return folded.record
