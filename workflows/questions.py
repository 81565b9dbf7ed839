"""The questions of a run: asking, and taking answers (SPEC 4.4).

Taking an answer is synchronous and total. Whatever arrives, it changes nothing unless it is a well-formed answer to a
question that is open now; every answer, taken or not, is kept with the reason. The first answer wins. The same answer
again from the same person is told what the first was told.

An approval has its time, a refusal has not: where a question has expired, an approval of it is not taken, and the run
asks anew, so that whoever approves sees the call again, checked again. To say no is never too late, unless the run
stops by itself. What counts is when the run takes an answer in, since that is when the call would be sent.
"""

from collections.abc import Mapping
from datetime import datetime

from pydantic import JsonValue, ValidationError

from ..contract.canonical import sha256
from ..contract.decision import Hit
from ..contract.proof import is_proven
from ..contract.question import ANSWERS, Answer, Answered, Asked, Expiry, Question, QuestionKind

__all__ = ["Questions"]

MOST_REMEMBERED = 200
"""Refused answers beyond this many are no longer listed, so that nobody can make a history grow without bound."""


class Questions:
    """The questions of one run, open and closed."""

    def __init__(self, run: str, *, proof: str = "") -> None:
        """Begin without any. ``proof`` is the public key that answers must be signed with; empty demands none."""
        self._run = run
        self._proof = proof
        self._asked: list[Asked] = []
        self._open: dict[str, Question] = {}
        self._too_late: set[str] = set()
        self._winners: dict[str, tuple[Answer, Answered]] = {}
        self._answered: list[Answered] = []

    @property
    def open(self) -> tuple[Question, ...]:
        """The questions that wait for a person, oldest first."""
        return tuple(self._open.values())

    @property
    def asked(self) -> tuple[Asked, ...]:
        """Every question, in the order of asking, open or closed."""
        return tuple(self._asked)

    @property
    def answered(self) -> tuple[Answered, ...]:
        """Every answer that came, in order, taken or not."""
        return tuple(self._answered)

    def ask(
        self,
        kind: QuestionKind,
        *,
        position: int,
        tool: str,
        arguments: Mapping[str, JsonValue],
        text: str,
        at: datetime,
        bound_to: str,
        warnings: tuple[str, ...] = (),
        undo: str | None = None,
        rules: tuple[Hit, ...] = (),
        expiry: Expiry | None = None,
    ) -> Question:
        """Open a question. ``bound_to`` is the digest of the decision behind it: it goes into the question's own."""
        expires_at = expiry.after(at) if expiry else None
        name = f"q{len(self._asked) + 1}"
        shown: dict[str, object] = {
            "run": self._run,
            "question": name,
            "tool": tool,
            "arguments": dict(arguments),
            "text": text,
            "warnings": warnings,
            "bound_to": bound_to,
            "rules": [(hit.rule, hit.why, str(hit.origin)) for hit in rules],
        }
        if expires_at is not None:
            shown["expires_at"] = expires_at.isoformat()
        question = Question(
            id=name,
            kind=kind,
            run=self._run,
            position=position,
            tool=tool,
            arguments=arguments,
            text=text,
            warnings=warnings,
            answers=ANSWERS[kind],
            undo=undo,
            rules=rules,
            digest=sha256(shown),
            asked_at=at,
            expires_at=expires_at,
            on_expiry=expiry.then if expiry else "wait",
        )
        self._open[name] = question
        self._asked.append(Asked.model_validate(question, from_attributes=True))
        return question

    def winner(self, question: Question) -> Answer | None:
        """Return the answer that settled ``question``, or None while it is open."""
        won = self._winners.get(question.id)
        return won[0] if won else None

    def approved_too_late(self, question: Question) -> bool:
        """Whether somebody approved after it had expired, so that it must be asked anew."""
        return question.id in self._too_late

    def close(self, question: Question) -> None:
        """Withdraw a question that no longer matters, unanswered: a later answer is told that it is closed."""
        self._open.pop(question.id, None)

    def withdraw(self, kind: QuestionKind) -> None:
        """Withdraw every open question of a kind."""
        for question in self.open:
            if question.kind == kind:
                self.close(question)

    def take(self, raw: object, at: datetime) -> Answered:
        """Take an answer as it came, whatever it is, and say what became of it. Never raises."""
        try:
            answer = Answer.model_validate(raw)
        except ValidationError:
            return self._note(Answered(question_id="", answer="", by="", at=at, accepted=False, reason="malformed"))
        repeated = self._repeat_of(answer)
        if repeated is not None:
            return repeated
        reason = self.refusal(answer, at)
        told = Answered(
            question_id=answer.question_id,
            answer=answer.answer,
            by=answer.by,
            note=answer.note,
            answer_id=answer.answer_id,
            at=at,
            accepted=not reason,
            reason=reason,
        )
        if told.accepted:
            del self._open[answer.question_id]
            self._winners[answer.question_id] = (answer, told)
        elif reason == "question_expired":
            self._too_late.add(answer.question_id)
        return self._note(told)

    def refusal(self, answer: Answer, at: datetime) -> str:
        """Return why ``answer`` would not be taken then, or empty text if it would."""
        question = self._open.get(answer.question_id)
        if question is None:
            asked = answer.question_id in {f"q{number}" for number in range(1, len(self._asked) + 1)}
            return "question_closed" if asked else "unknown_question"
        if answer.answer not in question.answers:
            return "answer_not_offered"
        if answer.digest and answer.digest != question.digest:
            return "digest_mismatch"
        if self._proof and not is_proven(answer, self._run, self._proof):
            return "unproven"
        if question.expired(at) and (answer.answer == "approve" or question.on_expiry != "wait"):
            return "question_expired"
        return ""

    def repeats(self, answer: Answer) -> bool:
        """Whether the same person gave the same answer before, and it was taken."""
        return self._repeat_of(answer) is not None

    def _repeat_of(self, answer: Answer) -> Answered | None:
        won = self._winners.get(answer.question_id)
        if won is None or (won[0].answer, won[0].by) != (answer.answer, answer.by):
            return None
        return won[1]

    def _note(self, told: Answered) -> Answered:
        if told.accepted or len(self._answered) < MOST_REMEMBERED:
            self._answered.append(told)
        return told
