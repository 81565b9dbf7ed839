"""What the record is told of the steps of a run: the lines that order rules and caps see (SPEC 3.6)."""

from collections.abc import Iterator

from ..contract.record import CallEvent, CallOutcome
from ..contract.run import Step, StepState

__all__ = ["call_event", "call_events"]

_OUTCOMES: dict[StepState, CallOutcome] = {
    "proposed": "in_flight",
    "approved": "in_flight",
    "sent": "in_flight",
    "refused": "refused",
    "declined": "declined",
    "failed": "failed",
    "did not happen": "failed",
    "in doubt": "unknown",
}
"""What the record says of a call in each state of its step; in every other state the call ran."""


def call_events(step: Step, run: str) -> Iterator[CallEvent]:
    """Yield the lines that order rules and caps see of a step: its call, and its undo once that was sent."""
    yield call_event(step, run)
    if step.undo is not None and step.undo.tries:
        yield CallEvent(
            step=step.number,
            run=run,
            day=step.day,
            tool=step.undo.tool,
            arguments=step.undo.arguments,
            outcome="ran" if step.state == "undone" else "unknown",
            undoes=step.number,
        )


def call_event(step: Step, run: str) -> CallEvent:
    """Return the line that order rules and caps see of a step. An undone call stays in the record (SPEC 3.6)."""
    return CallEvent(
        step=step.number,
        run=run,
        day=step.day,
        tool=step.tool,
        arguments=step.arguments,
        outcome=_OUTCOMES.get(step.state, "ran"),
        undone=step.state in ("undone", "undone by hand"),
        result=step.result,
    )
