"""Why a run stopped, and the one reply it ends with (SPEC 4.5, 4.6, 6.3)."""

from dataclasses import dataclass

from ..contract.outcome import Outcome
from ..contract.run import RunState, StopClass
from .progress import Progress

__all__ = ["Stop", "reply_done", "reply_stopped", "stop_class", "stop_words"]


@dataclass(frozen=True)
class Stop:
    """A run's reason not to go on, in words that complete "This run stopped: ...".

    ``refused`` is set when it was the check that stopped it.
    """

    cause: str
    refused: bool = False


LONGEST_REASON = 300


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


def reply_stopped(progress: Progress, stop: Stop, *, rolled_back: bool, abandoned: bool) -> tuple[RunState, str]:
    """Return the end state and the one reply of a run that stopped.

    ``rolled_back`` says whether the rollback ran at all, ``abandoned`` whether a person ended it early.
    """
    words = progress.words
    sentences = [words.stopped(stop.cause)]
    sentences += [words.in_flight(step.tool, step.stopped) for step in progress.steps if step.stopped]
    landed = [step.tool for step in progress.steps if step.landed]
    if not rolled_back:
        if landed:
            sentences.append(words.kept(landed))
            return "left", " ".join(sentences)
        return ("refused" if stop.refused else "undone"), " ".join(sentences)
    undone = [progress.step(position) for position in progress.undone]
    if undone:
        sentences.append(
            words.undone(
                [
                    (
                        step.tool,
                        words.by_hand(step.undo.by)
                        if step.undo and step.undo.by
                        else words.undone_by(step.undo.tool if step.undo else ""),
                    )
                    for step in undone
                ]
            )
        )
    left = [progress.step(position).tool for position in progress.left]
    if left:
        sentences.append(words.left(left))
    if abandoned:
        sentences.append(words.remaining([step.tool for step in progress.ahead()]))
        return "abandoned", " ".join(sentences)
    return ("left" if left else "undone"), " ".join(sentences)
