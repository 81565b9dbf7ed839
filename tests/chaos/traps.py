"""Traps: places in a worker where its process is killed with -9, once, when the witness says so.

An interceptor of Temporal's own kind, so that nothing of the engine is changed. A trap is named
``<place> <tool> <account>``; the places are

* ``scheduling``: workflow code is about to send the call, and nothing of it has reached the server;
* ``started``: the call was handed to the worker, whose tool was not reached;
* ``ended``: the tool has ended, and nothing of it has been reported.
"""

import os
import signal
from typing import Any

import temporalio.client
from amends.contract.outcome import ToolRequest
from amends.testing.witness import Witness
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
    StartActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)
from temporalio.workflow import ActivityHandle

__all__ = ["Traps", "trap"]


def trap(place: str, tool: str, account: str) -> str:
    """Return the name of a trap."""
    return f"{place} {tool} {account}"


def _spring(witness: Witness, place: str, given: object) -> None:
    if isinstance(given, ToolRequest):
        name = trap(place, given.tool, str(given.arguments.get("account")))
        if witness.springs_trap(name):
            os.kill(os.getpid(), signal.SIGKILL)


class Traps(temporalio.client.Interceptor, Interceptor):
    """Give it to a worker's client."""

    def __init__(self, witness: Witness) -> None:
        self._witness = witness

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - theirs
        return _Calls(next, self._witness)

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:  # noqa: A002 - theirs
        witness = self._witness

        class Inbound(WorkflowInboundInterceptor):
            def init(self, outbound: WorkflowOutboundInterceptor) -> None:
                super().init(_Sending(outbound, witness))

        return Inbound


class _Calls(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, witness: Witness) -> None:  # noqa: A002 - theirs
        super().__init__(next)
        self._witness = witness

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - theirs
        given = input.args[0] if input.args else None
        _spring(self._witness, "started", given)
        try:
            return await super().execute_activity(input)
        finally:
            _spring(self._witness, "ended", given)


class _Sending(WorkflowOutboundInterceptor):
    def __init__(self, next: WorkflowOutboundInterceptor, witness: Witness) -> None:  # noqa: A002 - theirs
        super().__init__(next)
        self._witness = witness

    def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:  # noqa: A002 - theirs
        _spring(self._witness, "scheduling", input.args[0] if input.args else None)
        return super().start_activity(input)
