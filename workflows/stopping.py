"""Why a run stopped, and the one reply it ends with (SPEC 4.5, 4.6, 6.3)."""

from dataclasses import dataclass

from ..contract.run import RunState
from .progress import Progress

__all__ = ["Stop", "reply_done", "reply_stopped"]


@dataclass(frozen=True)
class Stop:
    """A run's reason not to go on, in words that complete "This run stopped: ...".

    ``refused`` is set when it was the check that stopped it.
    """

    cause: str
    refused: bool = False


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
    landed = [step.tool for step in progress.steps if step.landed]
    if not rolled_back:
        if landed:
            sentences.append(words.kept(landed))
            return "left", " ".join(sentences)
        return ("refused" if stop.refused else "undone"), sentences[0]
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
        handled = {*progress.undone, *progress.left}
        waiting = sorted((s for s in progress.steps if s.landed and s.position not in handled), key=lambda s: -s.landed)
        undoable = [s.tool for s in waiting if (contract := progress.contract(s.tool)) and contract.undoable]
        sentences.append(words.remaining(undoable))
        return "abandoned", " ".join(sentences)
    return ("left" if left else "undone"), " ".join(sentences)
