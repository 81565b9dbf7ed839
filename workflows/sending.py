"""Sending a call: one activity for each try, under one key, and never again by the server (SPEC 4.1, 5.1 to 5.4).

Temporal would retry an activity by itself. That is switched off: a server retry happens where nobody decides about it,
and after one, "it was never started" can no longer be told from the history. A try that may be repeated is a new
activity, started here, with the same idempotency key.

A worker that does not have a tool as the run was started with it never substitutes what it has. It says so, and the
call waits for one that does, or for the run to be stopped (SPEC 3.5).
"""

from collections.abc import Mapping
from datetime import timedelta

from pydantic import JsonValue
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError
from temporalio.workflow import ActivityCancellationType

from ..contract.keys import idempotency_key
from ..contract.names import query_activity_id, step_activity_id, undo_activity_id
from ..contract.outcome import CONDEMNED, NOT_SERVED, Outcome, ToolRequest
from ..contract.run import Step
from ..contract.tool import QueryBinding, ToolContract, result_paths
from ..contract.wording import call_text, not_served_notice
from .cancellation import Cancellation, Recalled
from .classify import RECALLED, outcome_of_error, outcome_of_result
from .progress import Progress

__all__ = ["Sender"]

MOST_TRIES = 3
"""A read, or a write that is safe to retry, is tried at most twice more (SPEC 5.4)."""
PAUSES = (timedelta(seconds=1), timedelta(seconds=3))
"""How long to wait before the second and the third try."""
UNSERVED_PAUSES = (timedelta(seconds=2), timedelta(seconds=5), timedelta(seconds=15), timedelta(seconds=60))
"""How long to wait before another worker is looked for; the last goes on."""
MARGIN = timedelta(seconds=10)
"""From the inner deadline to Temporal's own: time to report. Past it, the worker is gone."""
HEARTBEAT = timedelta(seconds=8)
"""A worker that is not heard of for this long is gone. Its activity reports in the background, every third of it."""
SUMMARY_BYTES = 200

_ONCE = RetryPolicy(maximum_attempts=1)


class Sender:
    """Sends the calls, the undos and the outcome queries of one run."""

    def __init__(self, progress: Progress, cancellation: Cancellation) -> None:
        self._progress = progress
        self._given = progress.given
        self._cancellation = cancellation
        self._queries = 0
        self._execution = _execution() if progress.shown_as == progress.run else ""

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

    async def call(self, step: Step, contract: ToolContract) -> tuple[Outcome, int]:
        """Send a step's call, and again while that is safe; return what became of it and how often it was sent."""
        may_repeat = not contract.writes or contract.retry_safe
        planned = len(self._given.calls)
        in_doubt: Outcome | None = None
        for attempt in range(1, MOST_TRIES + 1):
            outcome = await self._served(
                self._request(step, contract, step.arguments, key=step.key, attempt=attempt),
                activity_id=step_activity_id(step.position, attempt),
                summary=f"{step.position}/{planned} {call_text(step.tool, dict(step.arguments))}",
            )
            in_doubt = outcome if outcome.status == "in_doubt" else in_doubt
            if (
                outcome.status != "in_doubt"
                or not may_repeat
                or attempt == MOST_TRIES
                or self._cancellation.is_requested()
            ):
                break
            await self._cancellation.sleep_through(PAUSES[attempt - 1], f"before {step.tool} is tried again")
            if self._cancellation.is_requested():
                break
        if contract.writes and in_doubt is not None and (outcome.status != "done" or outcome.unchanged):
            # A later try that says no, or that it is already so, speaks for itself alone: what became of the one in
            # doubt is as unknown as before, and what it is already may be that one's doing.
            outcome = in_doubt
        return outcome, attempt

    async def undo(
        self, step: Step, contract: ToolContract, arguments: Mapping[str, JsonValue], *, key: str, attempt: int
    ) -> Outcome:
        """Send the undo of a step once. ``attempt`` counts from 1 and only tells the activities apart."""
        return await self._send(
            self._request(step, contract, arguments, key=key, attempt=attempt, undo=True),
            activity_id=undo_activity_id(step.position, attempt),
            summary=f"undo of step {step.position} {step.tool}: {call_text(contract.name, dict(arguments))}",
        )

    async def query(
        self,
        step: Step,
        contract: ToolContract,
        query: QueryBinding,
        arguments: Mapping[str, JsonValue],
        *,
        key: str,
    ) -> JsonValue:
        """Ask the target whether a call took effect. None when it does not answer, or not with a result.

        ``arguments`` and ``key`` are those of the call in doubt; the query carries the same key, to look it up by.
        """
        asked = {name: _source(source, arguments, key) for name, source in (query.arguments or {}).items()}
        for attempt in range(1, MOST_TRIES + 1):
            self._queries += 1
            outcome = await self._send(
                self._request(step, contract, asked, key=key, attempt=attempt),
                activity_id=query_activity_id(step.position, self._queries),
                summary=f"did step {step.position} {step.tool} take effect? {call_text(contract.name, asked)}",
            )
            if outcome.status == "done":
                return outcome.result
            if outcome.status == "failed" or attempt == MOST_TRIES:
                return None
            await self._cancellation.sleep_through(PAUSES[attempt - 1], f"before {contract.name} is asked again")
        return None

    def _request(
        self,
        step: Step,
        contract: ToolContract,
        arguments: Mapping[str, JsonValue],
        *,
        key: str,
        attempt: int,
        undo: bool = False,
    ) -> ToolRequest:
        return ToolRequest(
            tool=contract.name,
            arguments=arguments,
            key=key,
            agent=self._given.agent,
            user=self._given.user,
            session=self._given.session,
            run=self._progress.run,
            step=step.number,
            attempt=attempt,
            undo=undo,
            timeout_ms=contract.timeout_ms,
            keep=() if undo else result_paths(contract),
            shape=contract.shape,
            execution=self._execution if contract.writes else "",
        )

    async def _served(self, request: ToolRequest, *, activity_id: str, summary: str) -> Outcome:
        """Send a call once, on a worker that has the tool as the run knows it, waiting for one if need be."""
        looks = 0
        while True:
            name = activity_id if not looks else f"{activity_id}.look-{looks + 1}"
            outcome = await self._send(request, activity_id=name, summary=summary, recall=True)
            if outcome.status != "never_sent" or not outcome.failure or outcome.failure.type not in NOT_SERVED:
                self._progress.note_if_changed("")
                return outcome
            self._progress.note_if_changed(not_served_notice(request.tool))
            await self._cancellation.wait(
                lambda: False, until=workflow.now() + UNSERVED_PAUSES[min(looks, len(UNSERVED_PAUSES) - 1)]
            )
            if self._cancellation.is_requested():
                return outcome
            looks += 1

    async def _send(self, request: ToolRequest, *, activity_id: str, summary: str, recall: bool = False) -> Outcome:
        handle = workflow.start_activity(
            request.tool,
            request,
            activity_id=activity_id,
            start_to_close_timeout=timedelta(milliseconds=request.timeout_ms) + MARGIN,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=_ONCE,
            cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=summary.encode()[:SUMMARY_BYTES].decode(errors="ignore"),
        )
        waiting = self._cancellation.outlast_or_recall if recall else self._cancellation.outlast
        try:
            return outcome_of_result(await waiting(handle))
        except ActivityError as error:
            outcome = outcome_of_error(error)
            self._progress.barred |= bool(outcome.failure and outcome.failure.type == CONDEMNED)
            return outcome
        except Recalled:
            return RECALLED


def _execution() -> str:
    """Return the Temporal run id of the execution that the session started.

    A reset leaves it as it was, in an execution that has another one. One that nobody's session started has none.
    """
    info = workflow.info()
    return info.original_execution_run_id if info.parent else "by hand"


def _source(source: JsonValue, arguments: Mapping[str, JsonValue], key: str) -> JsonValue:
    if source == "$key":
        return key
    if isinstance(source, str) and source.startswith("$args."):
        return arguments.get(source.removeprefix("$args."))
    return source
