"""What arrives from outside at a workflow that calls tools: answers, late reports, looks (SPEC 4.4, 5.5).

A run and an unwind take them alike. Handlers are synchronous and total: nothing that arrives can raise in here, and
none of them does more than note what arrived.
"""

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from ..contract.names import ANSWER_SIGNAL, ANSWER_UPDATE, ATTENTION_QUERY, LATE_SIGNAL, VIEW_QUERY
from ..contract.question import Answer, Answered
from ..contract.run import RunView
from .progress import Progress
from .questions import Questions

__all__ = ["Attended"]


class Attended:
    """The handlers of a workflow that shows a `Progress`, once it has one."""

    def __init__(self, progress: Progress | None, nothing_yet: RunView | None = None) -> None:
        self._attended = progress
        self._nothing_yet = nothing_yet
        self._no_questions = Questions("")

    def attend(self, progress: Progress) -> None:
        """Show this progress from now on."""
        self._attended = progress

    @workflow.signal(name=ANSWER_SIGNAL, description="Answer a question: {question_id, answer, by, note}.")
    def answer(self, answer: object = None, *more: object) -> None:
        """Take an answer, whatever it is (SPEC 4.4)."""
        # A signal without an argument, or with several, is malformed; a handler that cannot be called wedges the run.
        self._questions.take(None if more else answer, workflow.now())

    @workflow.signal(name=LATE_SIGNAL, description="From a worker: a call that was given up ended after all.")
    def late_outcome(self, late: object = None, *_: object) -> None:
        """Take what a worker found out of a call that was given up (SPEC 5.5)."""
        if self._attended is not None:
            self._attended.report_late(late)

    @workflow.update(name=ANSWER_UPDATE, description="Answer a question and learn at once what became of it.")
    def answer_now(self, answer: Answer) -> Answered:
        """Take an answer and say what became of it (SPEC 4.4)."""
        return self._questions.take(answer, workflow.now())

    @answer_now.validator
    def _can_be_taken(self, answer: Answer) -> None:
        reason = self._questions.refusal(answer, workflow.now())
        # One that comes too late is let in: it has the question asked anew.
        if reason not in ("", "question_expired") and not self._questions.repeats(answer):
            raise ApplicationError(f"this answer changes nothing: {reason}", type=reason, non_retryable=True)

    @workflow.query(name=ATTENTION_QUERY, description="The run, without its closed questions.")
    def attention(self) -> RunView:
        """Return what a client needs that waits for the run to need a person."""
        return self._shown().model_copy(update={"asked": ()})

    @workflow.query(name=VIEW_QUERY, description="The run: state, steps, open questions, answers, reply.")
    def view(self) -> RunView:
        """Return what the run shows now."""
        return self._shown()

    def _shown(self) -> RunView:
        if self._attended is not None:
            return self._attended.view()
        if self._nothing_yet is None:
            raise AssertionError("a workflow shows a progress, or what it is until it has one")
        return self._nothing_yet

    @property
    def _questions(self) -> Questions:
        return self._attended.questions if self._attended is not None else self._no_questions
