"""A question and a step as a person reads them in the terminal (SPEC 4.2, 4.3).

Every argument stands on a line of its own, whole and exactly as it will be sent. Questions and warnings are the run's
own words, unchanged.
"""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue
from rich.text import Text

from ..contract.question import OnExpiry, Question
from ..contract.run import Step
from ..contract.wording import value_text
from .terminal import styled, visible

__all__ = ["argument_lines", "card", "step_end", "step_state"]

_INDENT = " " * 8
_THEN: Mapping[OnExpiry, str] = {
    "wait": "an approval after that is not taken, and it is asked anew.",
    "cancel all": "the run then stops, as with cancel all.",
}


def card(question: Question, *, atomic: bool) -> Iterator[Text | str]:
    """Show what is asked: the step and its tool, the arguments, what undoes it, the warnings, the question.

    Args:
        question: the question.
        atomic: whether a failed run of this agent is undone.
    """
    yield styled(f"Step {question.position}  ", (question.tool, "bold"))
    yield from (_INDENT + line for line in argument_lines(question.arguments))
    if question.kind == "confirm" and not question.warnings:
        yield _INDENT + _recovery(question.undo, atomic=atomic)
    for hit in question.rules:
        if hit.origin.file:  # that every write is confirmed needs no saying
            yield f"{_INDENT}Asked because of {hit.rule}: {visible(hit.why)} ({hit.origin.place})"
    if question.expires_at is not None:
        yield f"{_INDENT}Expires {question.expires_at:%Y-%m-%d %H:%M} UTC: {_THEN[question.on_expiry]}"
    yield from (styled(_INDENT, (warning, "bold yellow")) for warning in question.warnings)
    yield _INDENT + question.text


def argument_lines(arguments: Mapping[str, JsonValue]) -> Iterator[str]:
    """Show arguments, a line each."""
    width = max(map(len, arguments), default=0)
    for name, value in arguments.items():
        yield f"{name.ljust(width)}  {visible(value_text(value))}"


def step_end(step: Step) -> str:
    """Say in one line what became of a call that was sent or declined."""
    said = [step_state(step)]
    if step.sent_at and step.ended_at:
        said.append(f"{(step.ended_at - step.sent_at).total_seconds():.1f} s")
    if step.key:
        said.append(f"key {step.key[:8]}")
    return "  ".join(said)


def step_state(step: Step) -> str:
    """Say the state of a step, with the error where there is one."""
    return f"{step.state} ({step.failure.type})" if step.failure is not None else step.state


def _recovery(undo: str | None, *, atomic: bool) -> str:
    if undo is None:
        return "If a later step fails, it stays: it has no undo."
    if not atomic:
        return "If a later step fails, it stays: runs of this agent are independent."
    return f"If a later step fails, it is undone by {undo}."
