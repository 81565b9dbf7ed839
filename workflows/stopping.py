"""Why a run stopped, and the one reply it ends with (SPEC 4.5, 4.6, 6.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from ..contract.outcome import Outcome
from ..contract.run import RunState, Step, StopClass
from ..contract.unwind import CondemnRequest
from .progress import Progress

__all__ = ["Stop", "order_of", "reply_done", "reply_stopped", "rolled_back_words", "stop_class", "stop_words"]


@dataclass(frozen=True)
class Stop:
    """A run's reason not to go on, in words that complete "This run stopped: ...".

    ``refused`` is set when it was the check that stopped it.
    """

    cause: str
    refused: bool = False


LONGEST_REASON = 300
LONGEST_NAME = 200


def stop_words(raw: object) -> tuple[str, str]:
    """Return who stops a run and why, from whatever came with the request: to stop, anything will do."""
    said = raw if isinstance(raw, dict) else {}
    by, reason = said.get("by"), said.get("reason")
    return (
        by[:LONGEST_REASON] if isinstance(by, str) and by else "an operator",
        reason[:LONGEST_REASON] if isinstance(reason, str) else "",
    )


def stop_class(outcome: Outcome) -> StopClass:
    """Return what a stop found of the call that was in flight (SPEC 8.4)."""
    match outcome.status:
        case "done":
            return "committed"
        case "in_doubt":
            return "unknown"
        case "never_sent":
            return "before dispatch"
        case _:
            return "aborted"


def reply_done(progress: Progress) -> str:
    """Return the reply of a run that went through."""
    ran = [step.tool for step in progress.steps if step.state == "done"]
    skipped = [step.tool for step in progress.steps if step.state == "declined"]
    return progress.words.done(ran, skipped)


def order_of(raw: object, run: str) -> CondemnRequest:
    """Return an operator's order to undo a run, from whatever came with the signal: to undo, anything will do."""
    try:
        return CondemnRequest.model_validate(raw)
    except ValidationError:
        by, reason = stop_words(raw)
        return CondemnRequest(run=run, by=by[:LONGEST_NAME], reason=reason or "no reason given")


def reply_stopped(progress: Progress, stop: Stop, *, rolled_back: bool) -> tuple[RunState, str]:
    """Return the end state and the one reply of a run that stopped.

    ``rolled_back`` says whether the rollback ran at all.
    """
    words = progress.words
    sentences = [words.stopped(stop.cause)]
    sentences += [words.in_flight(step.tool, step.stopped) for step in progress.steps if step.stopped]
    if rolled_back:
        return _ended(progress), " ".join([*sentences, *rolled_back_words(progress)])
    landed = [step.tool for step in progress.steps if step.landed]
    if landed:
        return "left", " ".join([*sentences, words.kept(landed)])
    return ("refused" if stop.refused else "undone"), " ".join([*sentences, *_nobody_knows(progress)])


def _ended(progress: Progress) -> RunState:
    if progress.abandoned:
        return "abandoned"
    return "left" if progress.left else "undone"


def rolled_back_words(progress: Progress) -> Iterator[str]:
    """Yield what a rollback did, and what it left."""
    words = progress.words
    undone = [progress.step(position) for position in progress.undone]
    if undone:
        yield words.undone([(step.tool, _undone_by(progress, step)) for step in undone])
    if progress.left:
        yield words.left([progress.step(position).tool for position in progress.left])
    yield from _nobody_knows(progress)
    if progress.abandoned:
        yield words.remaining([step.tool for step in progress.ahead()])


def _undone_by(progress: Progress, step: Step) -> str:
    by_hand = step.undo.by if step.undo else ""
    return progress.words.by_hand(by_hand) if by_hand else progress.words.undone_by(step.undo.tool if step.undo else "")


def _nobody_knows(progress: Progress) -> Iterator[str]:
    """Yield which calls are left in doubt, on an operator's word to go on past them."""
    in_doubt = [step.tool for step in progress.steps if step.writes and step.state == "in doubt"]
    in_doubt += [step.undo.tool for step in progress.steps if step.state == "undoing" and step.undo]
    if in_doubt:
        yield progress.words.nobody_knows(in_doubt)
