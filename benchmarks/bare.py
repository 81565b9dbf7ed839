"""What a run of amends is measured against: plain Temporal workflows that do the same five activities."""

from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy

CALLS = 5
PAYLOAD = {"order_id": "4411", "amount": "40.00"}


@activity.defn(name="bare_call")
async def bare_call(arguments: dict[str, str]) -> dict[str, str]:
    return {"id": f"c-{arguments['order_id']}"}


async def _call(position: int) -> None:
    await workflow.execute_activity(
        bare_call,
        PAYLOAD,
        activity_id=f"step-{position}",
        start_to_close_timeout=timedelta(seconds=70),
        heartbeat_timeout=timedelta(seconds=8),
        retry_policy=RetryPolicy(maximum_attempts=1),
        summary=f"{position}/{CALLS}",
    )


@workflow.defn(name="BareCalls")
class BareCalls:
    """Five activities, one after another."""

    @workflow.run
    async def run(self) -> int:
        for position in range(1, CALLS + 1):
            await _call(position)
        return CALLS


@workflow.defn(name="BareConfirmed")
class BareConfirmed:
    """Five activities, each after a signal."""

    def __init__(self) -> None:
        self._signals = 0

    @workflow.run
    async def run(self) -> int:
        for position in range(1, CALLS + 1):
            await workflow.wait_condition(lambda: self._signals >= position)  # noqa: B023 - awaited within the turn
            await _call(position)
        return CALLS

    @workflow.signal
    def answer(self, _: dict[str, str]) -> None:
        self._signals += 1
