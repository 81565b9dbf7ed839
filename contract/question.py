"""What a run asks a person, and what comes back (SPEC 4.2 to 4.4, 5.5, 6.2)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field, JsonValue, field_validator

from .decision import Hit
from .model import Wire
from .sizes import depth, json_bytes

__all__ = [
    "ANSWERS",
    "Answer",
    "AnswerWord",
    "Answered",
    "Asked",
    "Expiry",
    "OnExpiry",
    "Question",
    "QuestionKind",
]

QuestionKind = Literal["confirm", "outcome", "undo"]
"""`confirm`: may this write run? `outcome`: did it take effect? `undo`: an undo failed, what now?"""

AnswerWord = Literal[
    "approve", "skip", "cancel all", "happened", "did not happen", "retry", "done by hand", "abandon"
]  # fmt: skip

ANSWERS: Mapping[QuestionKind, tuple[AnswerWord, ...]] = {
    "confirm": ("approve", "skip", "cancel all"),
    "outcome": ("happened", "did not happen"),
    "undo": ("retry", "done by hand", "abandon"),
}
"""The answers each kind of question takes, word for word."""

OnExpiry = Literal["wait", "cancel all"]
"""What becomes of a run whose write nobody confirmed in time. `wait`: it goes on waiting, and an approval that comes
too late has it asked anew. `cancel all`: it stops, and what it did is undone."""

LARGEST_SUPPLIED = 32 * 1024
DEEPEST_SUPPLIED = 60


class Expiry(Wire):
    """How many seconds an approval of a write is waited for, and what becomes of the run then (SPEC 9.3)."""

    seconds: int = Field(gt=0)
    then: OnExpiry = "wait"

    def after(self, asked_at: datetime) -> datetime:
        """Return when a question expires that was asked then."""
        return asked_at + timedelta(seconds=self.seconds)


class _Expiring(Wire):
    expires_at: datetime | None

    def expired(self, at: datetime) -> bool:
        """Whether it is too late then to approve."""
        return self.expires_at is not None and at >= self.expires_at


class Question(_Expiring):
    """One open question of a run.

    ``id`` is unique within its run (``q1``, ``q2``, ...). ``position`` is the step's place in the run, from 1.
    ``arguments`` are exactly those the call will be sent with. ``digest`` binds everything shown: an answer that
    carries it is refused when the question has changed. ``undo`` names the tool that would undo the step, if any.
    ``rules`` says why a person is asked to confirm: every rule that wants it, with its file and line.
    ``expires_at`` is when approving it comes too late, None where it never does; ``on_expiry`` what becomes of the run
    then.
    """

    id: str
    kind: QuestionKind
    run: str
    position: int
    tool: str
    arguments: Mapping[str, JsonValue] = {}
    text: str
    warnings: tuple[str, ...] = ()
    answers: tuple[AnswerWord, ...]
    undo: str | None = None
    rules: tuple[Hit, ...] = ()
    digest: str
    asked_at: datetime
    expires_at: datetime | None = None
    on_expiry: OnExpiry = "wait"


class Asked(_Expiring):
    """A question as the record keeps it, open or closed. Its arguments are those of the step or of its undo."""

    id: str
    kind: QuestionKind
    position: int
    tool: str
    text: str
    warnings: tuple[str, ...] = ()
    digest: str
    asked_at: datetime
    expires_at: datetime | None = Field(default=None, exclude_if=lambda value: value is None)


class Answer(Wire):
    """An answer as it is sent. ``answer_id`` names one click, so that whoever sent it can find out what became of it.

    ``proof`` is the signature of a console, where the run demands one (`contract.proof`).
    ``result`` is for `happened`: the result fields that the call would have returned, where an undo needs them.
    Lengths are bounded, because answers can come from anyone who may signal, and every answer is kept.
    """

    question_id: str = Field(max_length=40)
    answer: str = Field(max_length=40)
    by: str = Field(min_length=1, max_length=200)
    note: str = Field(default="", max_length=500)
    answer_id: str = Field(default="", max_length=64)
    digest: str = Field(default="", max_length=80)
    result: JsonValue = None
    proof: str = Field(default="", max_length=100, exclude_if=lambda value: not value)

    @field_validator("result")
    @classmethod
    def _small(cls, result: JsonValue) -> JsonValue:
        if depth(result) > DEEPEST_SUPPLIED or json_bytes(result) > LARGEST_SUPPLIED:
            raise ValueError(f"a result may have {LARGEST_SUPPLIED} bytes of JSON, {DEEPEST_SUPPLIED} levels deep")
        return result


class Answered(Wire):
    """An answer as the run took it. ``accepted`` False says in ``reason`` why it changed nothing.

    Reasons: ``unknown_question``, ``question_closed``, ``answer_not_offered``, ``digest_mismatch``, ``unproven``,
    ``question_expired``, ``malformed``.
    """

    question_id: str
    answer: str
    by: str
    note: str = ""
    answer_id: str = ""
    at: datetime
    accepted: bool
    reason: str = ""
