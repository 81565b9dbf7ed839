"""The record: one line for every call a session made, never rewound (SPEC 3.6, 7.2, 7.4)."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from .model import Wire

__all__ = ["CallEvent", "CallOutcome"]

CallOutcome = Literal["ran", "failed", "unknown", "in_flight", "declined", "refused"]
"""What became of a call. `failed`: definitely without effect. `unknown`: nobody knows yet."""


class CallEvent(Wire):
    """What rules see of one call: order rules and caps count these, undone calls included.

    ``undone`` says that a later undo took its effect back; the line itself stays.
    """

    step: int
    run: str
    day: str
    tool: str
    arguments: Mapping[str, JsonValue]
    outcome: CallOutcome
    undone: bool = False
    undoes: int | None = None
    result: JsonValue = None
