"""What a tool activity is given and what it answers: one request, one outcome (SPEC 5.2, 5.3)."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from .model import Wire

__all__ = ["CONDEMNED", "NOT_SERVED", "Failure", "LateOutcome", "Outcome", "OutcomeStatus", "ToolRequest"]

OutcomeStatus = Literal["done", "failed", "never_sent", "in_doubt"]
"""`done`: it took effect. `failed`: definitely without effect. `never_sent`: it provably did not start.
`in_doubt`: it was sent, or may have been, and nobody knows."""


NOT_SERVED = ("NotRegistered", "OtherShape", "OtherAgent")
"""Failures of a call that no worker at hand could serve: it has no such tool, or one that is called otherwise."""


CONDEMNED = "CondemnedRunError"
"""The failure of a call that was not sent because its run is condemned, or because nobody can say that it is not."""


class ToolRequest(Wire):
    """One call of one tool, as its activity receives it.

    ``key`` is the idempotency key, the same on every attempt. ``step`` is the session-wide step number; an undo has the
    number of the step it undoes and ``undo`` True. ``timeout_ms`` is the inner deadline in milliseconds: it ends before
    Temporal's own start-to-close timeout, so that a call which is late is told apart from a worker that is gone.
    ``keep`` names the result fields (dotted paths) that an undo needs, which are kept when a result is too large.
    ``shape`` is the shape of the pinned contract; a worker whose tool has another one does not serve the call.
    ``execution`` is the Temporal run id of the execution that the session started: in any other, a write asks the
    session first (`activities.gate`). It is empty where a call needs no such leave.
    """

    tool: str
    arguments: Mapping[str, JsonValue]
    key: str
    agent: str
    user: str
    session: str
    run: str
    step: int
    attempt: int = 1
    undo: bool = False
    timeout_ms: int = 60_000
    keep: tuple[str, ...] = ()
    shape: str = ""
    execution: str = ""


class Failure(Wire):
    """How a call failed, as far as may be shown: the name of the error's class, and its message."""

    type: str
    message: str = ""


class Outcome(Wire):
    """What became of one sent call.

    ``worker_lost`` tells the two kinds of doubt apart: the worker went away in the middle of the call, or the call was
    sent and no answer came back (SPEC 5.5). ``refused`` marks a definite no of the target. ``unchanged`` marks
    a call that is done because it was already so, and had no effect of its own. ``ran_ms`` is how long
    the call had been under way when it was given up, in milliseconds; None when nobody was left to say.
    """

    status: OutcomeStatus
    result: JsonValue = None
    failure: Failure | None = None
    refused: bool = False
    unchanged: bool = False
    worker_lost: bool = False
    ran_ms: int | None = None


class LateOutcome(Wire):
    """What a worker found out of a call after it was given up: ``step``, ``undo`` and ``attempt`` as in its request."""

    step: int
    undo: bool = False
    attempt: int = 1
    outcome: Outcome
