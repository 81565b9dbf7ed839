"""Sending a call: one activity for each try, under one key, and never again by the server (SPEC 4.1, 5.1 to 5.4).

Temporal would retry an activity by itself. That is switched off: a server retry happens where nobody decides about it,
and after one, "it was never started" can no longer be told from the history. A try that may be repeated is a new
activity, started here, with the same idempotency key.
"""

from collections.abc import Mapping
from datetime import timedelta

from pydantic import JsonValue
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

from ..contract.keys import idempotency_key
from ..contract.names import step_activity_id, undo_activity_id
from ..contract.outcome import Outcome, ToolRequest
from ..contract.run import RunInput, Step
from ..contract.tool import ToolContract
from ..contract.wording import call_text
from .cancellation import Cancellation
from .classify import outcome_of_error, outcome_of_result

__all__ = ["Sender", "result_paths"]

MOST_TRIES = 3
"""A read, or a write that is safe to retry, is tried at most twice more (SPEC 5.4)."""
PAUSES = (timedelta(seconds=1), timedelta(seconds=3))
"""How long to wait before the second and the third try."""
MARGIN = timedelta(seconds=10)
"""From the inner deadline to Temporal's own: time to report. Past it, the worker is gone."""
HEARTBEAT = timedelta(seconds=8)
"""A worker that is not heard of for this long is gone. Its activity reports in the background, every third of it."""
SUMMARY_BYTES = 200

_ONCE = RetryPolicy(maximum_attempts=1)


class Sender:
    """Sends the calls and the undos of one run."""

    def __init__(self, given: RunInput, run: str, cancellation: Cancellation) -> None:
        self._given = given
        self._run = run
        self._cancellation = cancellation

    def key(self, step: Step, tool: str, arguments: Mapping[str, JsonValue], *, undo: bool = False) -> str:
        """Return the idempotency key of a step's call, or of its undo (SPEC 5.1)."""
        return idempotency_key(
            session=self._given.session,
            step=step.number,
            tool=tool,
            arguments=arguments,
            tenant=self._given.tenant,
            undo=undo,
        )

    async def call(self, step: Step, contract: ToolContract, planned: int) -> tuple[Outcome, int]:
        """Send a step's call, and again while that is safe; return what became of it and how often it was sent.

        ``planned`` is the number of steps of the run, for the summary in the Temporal UI.
        """
        may_repeat = not contract.writes or contract.retry_safe
        summary = f"{step.position}/{planned} {call_text(step.tool, dict(step.arguments))}"
        for attempt in range(1, MOST_TRIES + 1):
            outcome = await self._send(
                self._request(step, step.tool, step.arguments, key=step.key, contract=contract, attempt=attempt),
                activity_id=step_activity_id(step.position, attempt),
                summary=summary,
            )
            if outcome.status != "in_doubt" or not may_repeat or attempt == MOST_TRIES or self._cancellation.requested:
                break
            await self._cancellation.sleep_through(PAUSES[attempt - 1], f"before {step.tool} is tried again")
        return outcome, attempt

    async def undo(
        self, step: Step, contract: ToolContract, arguments: Mapping[str, JsonValue], *, key: str, attempt: int
    ) -> Outcome:
        """Send the undo of a step once. ``attempt`` counts from 1 and only tells the activities apart."""
        return await self._send(
            self._request(step, contract.name, arguments, key=key, contract=contract, attempt=attempt, undo=True),
            activity_id=undo_activity_id(step.position, attempt),
            summary=f"undo of step {step.position} {step.tool}: {call_text(contract.name, dict(arguments))}",
        )

    def _request(
        self,
        step: Step,
        tool: str,
        arguments: Mapping[str, JsonValue],
        *,
        key: str,
        contract: ToolContract,
        attempt: int,
        undo: bool = False,
    ) -> ToolRequest:
        return ToolRequest(
            tool=tool,
            arguments=arguments,
            key=key,
            agent=self._given.agent,
            user=self._given.user,
            session=self._given.session,
            run=self._run,
            step=step.number,
            attempt=attempt,
            undo=undo,
            timeout_ms=contract.timeout_ms,
            keep=() if undo else result_paths(contract),
        )

    async def _send(self, request: ToolRequest, *, activity_id: str, summary: str) -> Outcome:
        handle = workflow.start_activity(
            request.tool,
            request,
            activity_id=activity_id,
            start_to_close_timeout=timedelta(milliseconds=request.timeout_ms) + MARGIN,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=_ONCE,
            summary=summary.encode()[:SUMMARY_BYTES].decode(errors="ignore"),
        )
        try:
            return outcome_of_result(await self._cancellation.outlast(handle))
        except ActivityError as error:
            return outcome_of_error(error)


def result_paths(contract: ToolContract) -> tuple[str, ...]:
    """Return the dotted paths of the result fields that a write's undo is bound to."""
    sources = (contract.undo.arguments or {}).values() if contract.undo else ()
    return tuple(
        source.removeprefix("$result.")
        for source in sources
        if isinstance(source, str) and source.startswith("$result.")
    )
