"""Every sentence of a run that a person reads, in one place for each language (SPEC 4.3, 5.5, 6.2, 6.3).

Questions and warnings are one text in every language, as SPEC has them; replies are in the run's language.
`words` picks the module that holds them.
"""

from collections.abc import Sequence
from typing import Protocol

from pydantic import JsonValue

from . import wording_en, wording_pt_br
from .reading import Language
from .run import StopClass

__all__ = [
    "IRREVERSIBLE",
    "NOTHING_UNDOES",
    "ReplyWords",
    "call_text",
    "cannot_land_notice",
    "confirm_text",
    "not_served_notice",
    "outcome_text",
    "stuck_text",
    "value_text",
    "words",
]

IRREVERSIBLE = "Nothing can undo this step once it runs."
NOTHING_UNDOES = "Nothing undoes this step, and the steps after it cannot undo it."


class ReplyWords(Protocol):
    """The sentences a reply is made of. Each function returns one or more whole sentences."""

    def done(self, ran: Sequence[str], skipped: Sequence[str]) -> str:
        """Say that the run is done: what ran, and what a person skipped."""

    def stopped(self, cause: str) -> str:
        """Say that the run stopped, and why."""

    def undone(self, steps: Sequence[tuple[str, str]]) -> str:
        """Say what was undone, latest first: pairs of the write and what undid it."""

    def left(self, steps: Sequence[str]) -> str:
        """Say what nothing can undo."""

    def kept(self, steps: Sequence[str]) -> str:
        """Say what a run of an agent with ``runs: independent`` keeps."""

    def remaining(self, steps: Sequence[str]) -> str:
        """Say what still needs undoing after a rollback was abandoned."""

    def failed(self, tool: str, error: str) -> str:
        """Give the cause: a tool failed."""

    def refused(self, tool: str, rule: str, say: str) -> str:
        """Give the cause: the check refused a call."""

    def cancelled(self, by: str) -> str:
        """Give the cause: a person answered cancel all."""

    def not_confirmed(self, tool: str) -> str:
        """Give the cause: nobody confirmed a write before the question expired."""

    def did_not_happen(self, tool: str, by: str) -> str:
        """Give the cause: a person said that a doubtful write did not happen."""

    def cancelled_outside(self) -> str:
        """Give the cause: the run was cancelled from outside."""

    def stopped_by(self, by: str, reason: str) -> str:
        """Give the cause: a person stopped the run; ``reason`` may be empty."""

    def condemned(self, by: str, reason: str) -> str:
        """Give the cause: an operator had the run undone from outside."""

    def unwound(self, by: str, reason: str) -> str:
        """Begin the reply of an unwind: who had a run undone that was over, and why."""

    def barred(self) -> str:
        """Say that this is a condemned run that was started anew by force, and sends nothing."""

    def not_begun(self, cause: str) -> str:
        """Say that a turn's run was never started, and why."""

    def in_flight(self, tool: str, found: StopClass) -> str:
        """Say what became of the call that was in flight when the run was stopped."""

    def undone_by(self, tool: str) -> str:
        """Say, beside a write, which tool undid it."""

    def by_hand(self, by: str) -> str:
        """Say, where an undo would be named, that a person did it."""

    def declined(self) -> str:
        """Say what the result of a skipped call says."""

    def ended_outside(self) -> str:
        """Say that the run was ended from outside the product, so that nothing more was undone."""

    def still_done(self, steps: Sequence[str]) -> str:
        """Say what a run that was ended from outside did and did not undo."""

    def nobody_knows(self, tools: Sequence[str]) -> str:
        """Say of which of its calls nobody knows whether they took effect."""


def words(language: Language) -> ReplyWords:
    """Return the reply's sentences in ``language``."""
    return wording_pt_br if language == "pt-BR" else wording_en


def confirm_text(tool: str, *, nothing_undoes: bool) -> str:
    """Return the question before a write; ``nothing_undoes`` adds the second warning (SPEC 4.3)."""
    return f"Run {tool}? {NOTHING_UNDOES}" if nothing_undoes else f"Run {tool}?"


def outcome_text(tool: str, *, worker_lost: bool) -> str:
    """Return the question about a call whose outcome nobody knows (SPEC 5.5)."""
    why = "It was being sent when the run stopped." if worker_lost else "The call was sent and no answer came back."
    return f"Did {tool} take effect? {why}"


def stuck_text(tool: str, *, tries: int, error: str, remaining: int) -> str:
    """Return the question of a stuck rollback: ``remaining`` counts the failed undo too (SPEC 6.2)."""
    return f"Undoing {tool} failed after {tries} tries ({error}). {remaining} step(s) still need undoing."


def cannot_land_notice(tool: str) -> str:
    """Return what an open run says while it waits until a call that was given up can no longer land (SPEC 5.5)."""
    return f"Waiting until {tool} can no longer take effect."


def not_served_notice(tool: str) -> str:
    """Return what an open run says while no worker has a tool as the run was started with it (SPEC 3.5)."""
    return f"Waiting for a worker that has {tool} as it was when this run started."


def value_text(value: JsonValue) -> str:
    """Write one argument for a person, exactly as it will be sent."""
    match value:
        case str():
            return value
        case list():
            return ", ".join(value_text(item) for item in value)
        case True | False | None:
            return {True: "true", False: "false", None: "none"}[value]
        case dict():
            return "{" + ", ".join(f"{key}: {value_text(item)}" for key, item in value.items()) + "}"
        case _:
            return str(value)


def call_text(tool: str, arguments: dict[str, JsonValue]) -> str:
    """Write a call on one line, for summaries and logs: ``charge_card(order_id 4411, amount 40.00)``."""
    return f"{tool}({', '.join(f'{name} {value_text(value)}' for name, value in arguments.items())})"
