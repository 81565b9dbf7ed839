"""Telling a run how a call ended that was given up (SPEC 5.5).

A call that has not answered by its deadline is reported as one nobody knows the outcome of, and Temporal takes no
second report of an activity. But the worker may still learn how it ended: a thread cannot be cancelled, and a coroutine
may finish what it was doing. That is a fact, and worth more than anybody's guess, so the worker signals it to the run.
A run that is over by then cannot take it; then the worker's log is where an operator finds it.
"""

import asyncio

from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError

from ..contract.names import LATE_SIGNAL
from ..contract.outcome import LateOutcome, Outcome, ToolRequest

__all__ = ["report_when_it_ends"]

_reports: set["asyncio.Task[None]"] = set()
"""Tasks that report, kept until they are done: the event loop itself holds on to none."""


def report_when_it_ends(work: "asyncio.Future[Outcome]", request: ToolRequest) -> None:
    """Signal the outcome of ``work`` to the run, or the unwind, that sent it, if it still gets one.

    Called inside the activity that gives it up.
    """
    client = activity.client()
    caller = activity.info().workflow_id or request.run

    def ended(work: "asyncio.Future[Outcome]") -> None:
        if work.cancelled() or work.exception() is not None or work.result().status == "in_doubt":
            return
        task = asyncio.ensure_future(_report(client, caller, request, work.result()))
        _reports.add(task)
        task.add_done_callback(_reports.discard)

    work.add_done_callback(ended)


async def _report(client: Client, caller: str, request: ToolRequest, outcome: Outcome) -> None:
    late = LateOutcome(step=request.step, undo=request.undo, attempt=request.attempt, outcome=outcome)
    try:
        await client.get_workflow_handle(caller).signal(LATE_SIGNAL, late)
    except RPCError as error:
        activity.logger.error(
            "%s of run %s, step %d, ended after it was given up (%s), and its run could not be told: %s. "
            "Look whether its effect must be undone; its key is %s.",
            request.tool,
            request.run,
            request.step,
            outcome.status,
            error.message,
            request.key,
        )
