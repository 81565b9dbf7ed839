"""What order rules and caps see of the steps of a run, and of the lines of a record (SPEC 3.6)."""

from collections.abc import Iterable, Iterator, Mapping

from ..contract.record import CallEvent, CallOutcome, Entry
from ..contract.run import Step

__all__ = ["call_event", "call_events", "recorded_events"]

_OUTCOMES: Mapping[str, CallOutcome] = {
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

_UNDONE = frozenset(("undone", "undone by hand"))


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
        undone=step.state in _UNDONE,
        result=step.result,
    )


def recorded_events(entries: Iterable[Entry]) -> Iterator[CallEvent]:
    """Yield what rules see of a record's lines: the same as `call_events` of the steps they were written from.

    Arguments that were too long for the record have no values there, and rules take the strict side.
    """
    lines = list(entries)
    undos = {entry.step: entry for entry in lines if entry.kind == "undo"}
    for call in lines:
        if call.kind != "call":
            continue
        undo = undos.get(call.step)
        yield CallEvent(
            step=call.step,
            run=call.run,
            day=call.day,
            tool=call.tool,
            arguments=call.arguments or {},
            outcome=_OUTCOMES.get(call.outcome, "ran"),
            undone=undo is not None and undo.outcome in _UNDONE,
        )
        if undo is not None and undo.tries:
            yield CallEvent(
                step=call.step,
                run=call.run,
                day=call.day,
                tool=undo.tool,
                arguments=undo.arguments or {},
                outcome="ran" if undo.outcome == "undone" else "unknown",
                undoes=call.step,
            )
