"""The activity behind every tool: one call, or one undo, of one tool (SPEC 4.1, 5.1 to 5.3).

What it promises to the workflow that scheduled it:

* It ends by itself, before Temporal's own deadline: a late call is reported as a call nobody knows the outcome of, and
  a worker that stays silent past it is a worker that is gone.
* It reports in the background, so that a lost worker is noticed within seconds however long the call may take.
* A call that went well returns its `Outcome`. Any other raises an error that carries one: so the Temporal UI shows it
  as failed, with the name of the tool's own error, and the workflow still reads the outcome and not the error.
* Nothing that goes wrong after the effect can make the call look failed: results are made plain and cut to size here.
* A run that is stopped recalls the call in flight. A read ends there; a write that has begun goes on to its end, since
  half a write is worse than a whole one that is then undone.
"""

import asyncio
import contextvars
import inspect
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import cast

from pydantic import JsonValue
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from ..contract.errors import BadArguments, NotSent, Unchanged
from ..contract.outcome import Failure, Outcome, ToolRequest
from ..contract.sizes import KEPT_AS, fit
from ..tools.context import ToolContext
from ..tools.result_store import ResultStore
from ..tools.tool import Tool
from .failures import failure_of, outcome_of_raised
from .gate import refused_at_the_gate
from .late import report_when_it_ends
from .reporting import Reports

__all__ = ["tool_activity"]

LAST_MOMENT = 0.1
"""Seconds that a call which is given up has to end by itself."""


def tool_activity(
    tool: Tool, threads: Executor, agents: frozenset[str], store: ResultStore | None = None
) -> Callable[[ToolRequest], Awaitable[Outcome]]:
    """Return the activity of ``tool``, named after it. Functions that are not async run in ``threads``.

    Results that are too large for a history are kept in ``store``, where there is one.
    A call of an agent that is none of ``agents`` is not served: two workers on one queue must not do each other's work.
    """

    @activity.defn(name=tool.contract.name)
    async def call(request: ToolRequest) -> Outcome:
        outcome = await _attempt(tool, request, threads, agents, store)
        if outcome.status == "done":
            return outcome
        failure = outcome.failure or Failure(type="Error")
        # A tool that says no is everyday; a call nobody knows the outcome of is worth a warning in the worker's log.
        doubt = outcome.status == "in_doubt"
        raise ApplicationError(
            failure.message or failure.type,
            outcome.model_dump(mode="json"),
            type=failure.type,
            non_retryable=True,
            category=ApplicationErrorCategory.UNSPECIFIED if doubt else ApplicationErrorCategory.BENIGN,
        )

    return call


async def _attempt(
    tool: Tool, request: ToolRequest, threads: Executor, agents: frozenset[str], store: ResultStore | None
) -> Outcome:
    if request.agent not in agents:
        said = f"this worker serves {', '.join(sorted(agents))}, not {request.agent}; give each its own task queue"
        return Outcome(status="never_sent", failure=Failure(type="OtherAgent", message=said))
    if request.shape and request.shape != tool.contract.shape:
        said = f"this worker's {request.tool} takes other arguments than the run was started with"
        return Outcome(status="never_sent", failure=Failure(type="OtherShape", message=said))
    if tool.contract.writes and (refused := await refused_at_the_gate(request)):
        return refused
    reports = Reports()
    context = ToolContext(
        idempotency_key=request.key,
        session=request.session,
        run=request.run,
        step=request.step,
        attempt=request.attempt,
        user=request.user,
        say_progress=reports.say,
    )
    try:
        arguments = tool.call(request.arguments, context)
    except BadArguments as error:
        return Outcome(status="never_sent", failure=failure_of(error))
    reporting = asyncio.create_task(reports.run(activity.info().heartbeat_timeout))
    work = asyncio.ensure_future(_outcome(tool, request, arguments, threads, store))
    begun = time.monotonic()
    try:
        outcome = await _within_its_time(work, tool, request)
    finally:
        reporting.cancel()
    if outcome.status != "in_doubt":
        return outcome
    return outcome.model_copy(update={"ran_ms": int((time.monotonic() - begun) * 1000)})


async def _within_its_time(work: "asyncio.Future[Outcome]", tool: Tool, request: ToolRequest) -> Outcome:
    """Wait for a call to end; give it up at its deadline, or when it must not or need not go on."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + request.timeout_ms / 1000
    while (left := deadline - loop.time()) > 0:
        try:
            done, _ = await asyncio.wait((work,), timeout=left)
        except asyncio.CancelledError as error:
            lost = activity.is_worker_shutdown()
            if lost or not tool.contract.writes:
                work.cancel()
                return outcome_of_raised(error, worker_lost=lost)
        else:
            if done:
                return _ended(work)
    work.cancel()
    # A call that no thread had begun ends by that, and so does one that takes being cancelled for an answer.
    await asyncio.wait((work,), timeout=LAST_MOMENT)
    if work.done() and not work.cancelled():
        return work.result()
    if tool.contract.writes:
        # What a read found out late is of no use to anybody. An outcome query is a read, and goes by its write's step.
        report_when_it_ends(work, request)
    return outcome_of_raised(TimeoutError(f"no answer within {request.timeout_ms / 1000:g} s"))


def _ended(work: "asyncio.Future[Outcome]") -> Outcome:
    """Return the outcome of a call that ended by itself. One that cancelled itself is a doubt like any other."""
    return outcome_of_raised(asyncio.CancelledError()) if work.cancelled() else work.result()


async def _outcome(
    tool: Tool, request: ToolRequest, arguments: dict[str, object], threads: Executor, store: ResultStore | None
) -> Outcome:
    try:
        result = await _invoke(tool, arguments, threads)
    except (asyncio.CancelledError, GeneratorExit):
        raise
    except Unchanged as same:
        return Outcome(status="done", result=_fitting(tool.wire_result(same.result), request, store), unchanged=True)
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises is an outcome, never a fault of ours
        activity.logger.info("%s raised", request.tool, exc_info=error)
        return outcome_of_raised(error)
    return Outcome(status="done", result=_fitting(tool.wire_result(result), request, store))


def _fitting(result: JsonValue, request: ToolRequest, store: ResultStore | None) -> JsonValue:
    """Return a result as it goes into the history: whole, or cut with the reference to the whole one."""
    cut = fit(result, request.keep)
    if cut is result or store is None or not isinstance(cut, dict):
        return cut
    try:
        return {**cut, KEPT_AS: store.keep(result)}
    except OSError as error:
        # The call took effect, and a full disk of ours must not make it look otherwise.
        activity.logger.warning("the result of %s was not kept in %s: %s", request.tool, store.folder, error)
        return cut


async def _invoke(tool: Tool, arguments: dict[str, object], threads: Executor) -> object:
    value = tool.function(**arguments) if tool.is_async else await _in_thread(tool, arguments, threads)
    # A function that is not async may still return something to await; without that, nothing of it would have run.
    return await cast("Awaitable[object]", value) if inspect.isawaitable(value) else value


async def _in_thread(tool: Tool, arguments: dict[str, object], threads: Executor) -> object:
    """Run a function in a thread, which cannot be cancelled: how it ends is reported, in time or late.

    Only a call that no thread has begun can be taken back.
    """
    # The context goes along, so that the tool may use Temporal's own activity functions in its thread.
    context = contextvars.copy_context()
    submitted = threads.submit(context.run, _called, tool.function, arguments)
    thread = asyncio.wrap_future(submitted)
    while not thread.done():
        try:
            await asyncio.shield(thread)
        except asyncio.CancelledError:
            if submitted.cancel():
                raise NotSent("no thread of the worker was free to begin it in time") from None
            if activity.is_worker_shutdown():
                raise
    return thread.result()


def _called(function: Callable[..., object], arguments: dict[str, object]) -> object:
    try:
        return function(**arguments)
    except StopIteration as error:
        # A future takes no StopIteration: the wait for it would never end.
        raise RuntimeError("the tool raised StopIteration") from error
