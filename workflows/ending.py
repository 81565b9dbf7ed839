"""How a session learns that a run is over, and how it ended (SPEC 7.1).

Temporal tells the end of a child to the execution that started it, at no cost but the event itself. A later execution
of the same session is told nothing, and looks: see docs/decisions/0012-open-runs-across-executions.md. The same look is
taken at a child that ended without a result, since only what it showed last says what it did.

Everything here is called by the session's main coroutine, and nothing runs beside it: a command that another coroutine
gave after the session continued as new would void the whole workflow task.
"""

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

from ..contract.names import FOLLOW_RUN_ACTIVITY
from ..contract.session import RunEnd

__all__ = ["AwaitedEnd"]

_LONGEST_LOOK = timedelta(seconds=30)
_PATIENCE = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))


class AwaitedEnd:
    """The end of the open run, awaited.

    Args:
        run: the run.
        child: its handle, in the execution that started it.
    """

    def __init__(self, run: str, child: "workflow.ChildWorkflowHandle[Any, Any] | None" = None) -> None:
        self.run = run
        self._hinted = False
        self._awaited: asyncio.Task[Any] = child or _look(run)
        self._is_child = child is not None

    def hint(self) -> None:
        """Note that somebody has seen the run end: the session then looks at once, where it has to look."""
        self._hinted = not self._is_child

    def needs_attention(self) -> bool:
        """Whether `take` has something to do."""
        return self._awaited.done() or self._hinted

    def take(self) -> RunEnd | None:
        """Return how the run ended, or take another look and return None."""
        if self._awaited.done():
            if self._awaited.exception() is None:
                return RunEnd(view=self._awaited.result()) if self._is_child else self._awaited.result()
        else:
            self._awaited.add_done_callback(_read)
            self._awaited.cancel()
        self._hinted, self._is_child = False, False
        self._awaited = _look(self.run)
        return None


def _look(run: str) -> "workflow.ActivityHandle[RunEnd]":
    look: workflow.ActivityHandle[RunEnd] = workflow.start_activity(
        FOLLOW_RUN_ACTIVITY,
        run,
        result_type=RunEnd,
        start_to_close_timeout=_LONGEST_LOOK,
        retry_policy=_PATIENCE,
        summary=f"until {run} is over",
    )
    return look


def _read(given_up: "asyncio.Task[Any]") -> None:
    """Read the error of a look that was given up, so that nobody finds it unread in the log."""
    if not given_up.cancelled():
        given_up.exception()
