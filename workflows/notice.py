"""One notice to one webhook: tried for a day, told once (SPEC 12.3)."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from ..contract.names import NOTICE_WORKFLOW, NOTIFY_ACTIVITY
    from ..contract.notice import Notice, Told

__all__ = ["NoticeWorkflow"]

ONE_TRY = timedelta(seconds=30)
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(hours=1)
LONGEST = timedelta(hours=24)


@workflow.defn(name=NOTICE_WORKFLOW)
class NoticeWorkflow:
    """Sends a notice until it is taken. Its id names endpoint, run and question, so that each is told once."""

    @workflow.run
    async def run(self, notice: Notice) -> Told:
        """Send it, waiting longer after each failure."""
        try:
            await workflow.execute_activity(
                NOTIFY_ACTIVITY,
                notice,
                start_to_close_timeout=ONE_TRY,
                schedule_to_close_timeout=LONGEST,
                retry_policy=RetryPolicy(initial_interval=FIRST_PAUSE, maximum_interval=LONGEST_PAUSE),
            )
        except ActivityError as error:
            gone = isinstance(error.cause, ApplicationError) and error.cause.type == "Gone"
            return "gone" if gone else "given up"
        return "delivered"
