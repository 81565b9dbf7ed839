"""What the record says of a run: every call, undo, question and answer, and its end (SPEC 7.4). Pure.

The entries are in the order in which things happened, as far as the run knows it; where it does not, in the order of
the steps.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from pydantic import JsonValue

from ..contract.chain import bounded
from ..contract.outcome import Failure
from ..contract.question import Answered, Asked
from ..contract.record import Entry, Ruling
from ..contract.run import RunView, Step

__all__ = ["entries_of_run", "entries_of_unwind", "kept_values"]

_MILLISECOND = timedelta(milliseconds=1)
_LONGEST_NOTE = 500
_UNCHANGED = "it was already so"
"""How many characters of an error's message, and of how a doubt was settled, the record keeps."""
_DONE = frozenset(("done", "undoing", "undone", "undone by hand", "undo failed", "left"))
"""States of a step whose call took effect, whatever became of its undo."""


def entries_of_run(view: RunView, *, ended_at: datetime, remains: tuple[str, ...]) -> list[Entry]:
    """Return the entries of a run that is over, the end last.

    Args:
        view: the run as it ended.
        ended_at: when the session learned of the end, for a run that could not say so itself.
        remains: the tools of writes that still need undoing.
    """
    last = view.ended_at or ended_at
    end = Entry(kind="end", at=last, run=view.run, outcome=view.state, text=view.text, remains=remains)
    entries = [*_forward(view, view.started_at or last), *_stray_answers(view), *_undos(view, last)]
    return [*sorted(entries, key=lambda entry: entry.at), end]


def entries_of_unwind(view: RunView, *, ended_at: datetime, remains: tuple[str, ...]) -> list[Entry]:
    """Return the entries of the unwind of a run that was over: what it asked and undid, and what it came to, last.

    Args:
        view: the unwind as it ended.
        ended_at: when the session learned of the end, for an unwind that could not say so itself.
        remains: the tools of writes that still need undoing.
    """
    last, report = view.ended_at or ended_at, view.unwinding
    run = report.run if report else view.run
    view = view.model_copy(update={"run": run})
    began = view.started_at or last
    now = [step for step in view.steps if step.undo and step.undo.ended_at and step.undo.ended_at >= began]
    entries = [*_questions(view), *_stray_answers(view), *_undos(view.model_copy(update={"steps": tuple(now)}), last)]
    end = Entry(
        kind="unwind",
        at=last,
        by=view.condemned.by if view.condemned else "",
        run=run,
        outcome=report.verdict if report else view.state,
        text=view.text,
        remains=remains,
    )
    return [*sorted(entries, key=lambda entry: entry.at), end]


def _questions(view: RunView) -> Iterator[Entry]:
    """Yield the questions of an unwind, each with its answers."""
    for question in view.asked:
        step = view.steps[question.position - 1]
        yield _question(view, step, question)
        yield from (_answer(view, told, question, step) for told in view.answers if told.question_id == question.id)


def _forward(view: RunView, began: datetime) -> Iterator[Entry]:
    """Yield the questions about each step, their answers, and its call: at its sending, or when it was decided."""
    decided = began
    for step in view.steps:
        for question in view.asked:
            if question.position == step.position:
                yield _question(view, step, question)
                for told in view.answers:
                    if told.question_id == question.id:
                        yield _answer(view, told, question, step)
                        decided = told.at if question.kind == "confirm" else decided
        decided = step.sent_at or decided
        yield _call(view, step, decided)


def _stray_answers(view: RunView) -> Iterator[Entry]:
    """Yield the answers to questions that the run never asked."""
    asked = {question.id for question in view.asked}
    return (_answer(view, told) for told in view.answers if told.question_id not in asked)


def _question(view: RunView, step: Step, question: Asked) -> Entry:
    return Entry(
        kind="question",
        at=question.asked_at,
        run=view.run,
        step=step.number,
        tool=question.tool,
        question=question.id,
        outcome=question.kind,
        text=question.text,
        warnings=question.warnings,
        digest=question.digest,
    )


def _answer(view: RunView, told: Answered, question: Asked | None = None, step: Step | None = None) -> Entry:
    return Entry(
        kind="answer",
        at=told.at,
        by=told.by,
        run=view.run,
        step=step.number if step else 0,
        question=told.question_id,
        outcome=_taken(told, question),
        text=told.answer,
        note=told.note,
        took_ms=(told.at - question.asked_at) // _MILLISECOND if question else None,
    )


def _taken(told: Answered, question: Asked | None) -> str:
    late = question is not None and question.expired(told.at)
    return told.reason or ("taken late" if late else "taken")


def _call(view: RunView, step: Step, at: datetime) -> Entry:
    hits = step.decision.hits if step.decision else ()
    return Entry(
        kind="call",
        at=at,
        by=step.confirmed_by,
        run=view.run,
        day=step.day,
        step=step.number,
        tool=step.tool,
        writes=step.writes,
        arguments=kept_values(step.arguments),
        key=step.key,
        verdict=step.decision.verdict if step.decision else None,
        rules=tuple(
            Ruling(rule=hit.rule, effect=hit.effect, file=hit.origin.file, line=hit.origin.line) for hit in hits
        ),
        outcome="done" if step.state in _DONE else step.state,
        tries=step.attempts,
        took_ms=(step.ended_at - step.sent_at) // _MILLISECOND if step.ended_at and step.sent_at else None,
        result=bounded(step.result),
        error=_error(step.failure),
        note="; ".join([*([_UNCHANGED] if step.unchanged else []), *step.evidence])[:_LONGEST_NOTE],
    )


def _undos(view: RunView, last: datetime) -> Iterator[Entry]:
    for step in view.steps:
        if step.undo is not None:
            yield Entry(
                kind="undo",
                at=step.undo.ended_at or last,
                by=step.undo.by,
                run=view.run,
                step=step.number,
                tool=step.undo.tool,
                arguments=kept_values(step.undo.arguments),
                key=step.undo.key,
                outcome=step.state,
                tries=step.undo.tries,
                error=_error(step.undo.failure),
            )


def kept_values(arguments: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return arguments as the record keeps them."""
    kept = bounded(dict(arguments))
    return kept if isinstance(kept, dict) else {}


def _error(failure: Failure | None) -> str:
    if failure is None:
        return ""
    return f"{failure.type}: {failure.message}"[:_LONGEST_NOTE] if failure.message else failure.type
