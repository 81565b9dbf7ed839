"""How a run ended that could not say so itself, and what of a run still needs undoing (SPEC 4.7, 7.2)."""

from collections.abc import Iterable, Iterator, Sequence

from .run import RunView, Step
from .unwind import UndoEntry, UnwindReport, UnwindVerdict
from .wording import ReplyWords, words

__all__ = ["cut_short", "still_to_undo", "still_to_unwind", "unfinished"]

_UNDONE = frozenset(("undone", "undone by hand"))
_UNFINISHED = frozenset(("failed", "not-attempted", "uncertain", "abandoned", "busy"))
_UNKNOWN = frozenset(("sent", "in doubt"))


def cut_short(view: RunView) -> RunView:
    """Return the end of a run that was terminated, timed out or broke, from what it showed last.

    No code of the run's ran at its end, so nothing was undone then, and a call that was under way may have taken
    effect: the reply says both, and the state is ``left`` unless it had done nothing.
    """
    said = words(view.language)
    done = [step.tool for step in view.steps if _stands(step) and step.state != "undoing"]
    unknown = list(_unknown(view))
    undone = [step for step in (view.steps[position - 1] for position in view.undone) if step.state in _UNDONE]
    sentences = [said.ended_outside()]
    if undone:
        sentences.append(said.undone([(step.tool, _undone_by(step, said)) for step in undone]))
    if done:
        sentences.append(said.still_done(done))
    if unknown:
        sentences.append(said.nobody_knows(unknown))
    state = "left" if done or unknown else "undone"
    report = _cut_off(view.unwinding) if view.unwinding and view.steps else None
    ended = {"state": state, "text": " ".join(sentences), "waiting": (), "notice": "", "unwinding": report}
    return view.model_copy(update=ended)


def _cut_off(report: UnwindReport) -> UnwindReport:
    """Return the report of an unwind that was ended by force: what was under way is in doubt, and the rest stands."""
    entries = []
    for entry in report.entries:
        if entry.status == "busy":
            reason = "undo" if entry.undo else "effect"
            entries.append(entry.model_copy(update={"status": "uncertain", "reason": reason}))
        elif entry.status == "not-attempted" and not entry.reason:
            entries.append(entry.model_copy(update={"reason": "stopped"}))
        else:
            entries.append(entry)
    return report.model_copy(update={"entries": tuple(entries), "verdict": _verdict(entries)})


def _verdict(entries: Sequence[UndoEntry]) -> UnwindVerdict:
    if unfinished(entries):
        return "stuck"
    return "unwound-with-leftovers" if any(each.status == "skipped-no-hook" for each in entries) else "unwound"


def still_to_undo(view: RunView, undoable: frozenset[str], *, atomic: bool) -> tuple[str, ...]:
    """Return the tools of a run's writes that still need undoing now that it is over, latest first.

    A write that nothing can undo, or that is left on purpose, does not need undoing, nor does one that an independent
    run keeps. A write, or an undo, of which nobody knows whether it took effect is counted: it may need undoing.
    """
    if view.state == "done":
        return ()
    landed = sorted((step for step in view.steps if _stands(step)), key=lambda step: -step.landed)
    unknown = [step.tool for step in reversed(view.steps) if step.writes and step.state in _UNKNOWN]
    return (*unknown, *(step.tool for step in landed if step.tool in undoable and (atomic or step.state == "undoing")))


def still_to_unwind(report: UnwindReport, *, remained: bool) -> tuple[str, ...]:
    """Return the tools of a run's writes that still need undoing after an unwind of it, in its order.

    ``remained`` says whether something did before. Of a run that went well, what the operator did not choose is kept
    on purpose.
    """
    left = unfinished(report.entries)
    return tuple(entry.tool for entry in left if remained or entry.reason != "not-chosen")


def unfinished(entries: Iterable[UndoEntry]) -> list[UndoEntry]:
    """Return the writes that a further unwind would have to do with. One that nothing can undo is none of them."""
    return [entry for entry in entries if entry.status in _UNFINISHED or entry.reason == "undo-missing"]


def _stands(step: Step) -> bool:
    return step.landed > 0 and step.state not in _UNDONE


def _unknown(view: RunView) -> Iterator[str]:
    for step in view.steps:
        if step.writes and step.state in _UNKNOWN:
            yield step.tool
        elif step.state == "undoing" and step.undo is not None:
            yield step.undo.tool


def _undone_by(step: Step, said: ReplyWords) -> str:
    if step.undo is not None and step.undo.by:
        return said.by_hand(step.undo.by)
    return said.undone_by(step.undo.tool if step.undo else "")
