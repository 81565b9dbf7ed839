"""The sentences of a reply in English (SPEC 6.3). Their meanings stand at `wording.ReplyWords`."""

from collections.abc import Sequence

from .run import StopClass


def done(ran: Sequence[str], skipped: Sequence[str]) -> str:
    """Say that the run is done."""
    said = f"Done: {', '.join(ran)}." if ran else "Nothing was done."
    return f"{said} Skipped: {', '.join(skipped)}." if skipped else said


def stopped(cause: str) -> str:
    """Say that the run stopped."""
    return f"This run stopped: {cause}."


def undone(steps: Sequence[tuple[str, str]]) -> str:
    """Say what was undone, latest first."""
    return f"Undone, latest first: {', '.join(f'{tool} ({by})' for tool, by in steps)}."


def left(steps: Sequence[str]) -> str:
    """Say what nothing can undo."""
    return f"Not undoable, and left as they are: {', '.join(steps)}."


def kept(steps: Sequence[str]) -> str:
    """Say what the run keeps."""
    return f"Kept, because runs of this agent are independent: {', '.join(steps)}."


def remaining(steps: Sequence[str]) -> str:
    """Say what still needs undoing."""
    return f"Still to be undone by hand: {', '.join(steps)}."


def failed(tool: str, error: str) -> str:
    """Give the cause: a tool failed."""
    return f"{tool} failed ({error})"


def refused(tool: str, rule: str, say: str) -> str:
    """Give the cause: the check refused a call."""
    return f"{tool} was refused ({rule}: {say.rstrip('.')})" if say else f"{tool} was refused ({rule})"


def cancelled(by: str) -> str:
    """Give the cause: a person answered cancel all."""
    return f"cancelled by {by}"


def not_confirmed(tool: str) -> str:
    """Give the cause: nobody confirmed a write in time."""
    return f"nobody confirmed {tool} in time"


def did_not_happen(tool: str, by: str) -> str:
    """Give the cause: a doubtful write did not happen."""
    return f"{tool} did not happen, said {by}"


def cancelled_outside() -> str:
    """Give the cause: cancelled from outside."""
    return "it was cancelled from outside"


def stopped_by(by: str, reason: str) -> str:
    """Give the cause: a person stopped the run."""
    return f"stopped by {by}: {reason.rstrip('.')}" if reason else f"stopped by {by}"


def condemned(by: str, reason: str) -> str:
    """Give the cause: an operator had the run undone."""
    return f"{by} had it undone: {reason.rstrip('.')}"


def unwound(by: str, reason: str) -> str:
    """Begin the reply of an unwind."""
    return f"{by} had this run undone: {reason.rstrip('.')}."


def barred() -> str:
    """Say that a condemned run sends nothing."""
    return "This run was undone from outside. It sends nothing any more."


def not_begun(cause: str) -> str:
    """Say that a turn's run was never started."""
    return f"This turn was not begun: {cause}."


def in_flight(tool: str, found: StopClass) -> str:
    """Say what became of the call in flight."""
    said = {
        "before dispatch": "was not sent",
        "aborted": "was aborted",
        "unknown": "had been sent",
        "committed": "took effect",
    }
    return f"In flight when it was stopped: {tool}, which {said[found]}."


def undone_by(tool: str) -> str:
    """Say which tool undid a write."""
    return f"by {tool}"


def by_hand(by: str) -> str:
    """Say that a person undid a write."""
    return f"by hand, {by}"


def declined() -> str:
    """Say what the result of a skipped call says."""
    return "The person declined this call."


def ended_outside() -> str:
    """Say that the run was ended from outside."""
    return "This run was ended from outside before it was over."


def still_done(steps: Sequence[str]) -> str:
    """Say what such a run did and did not undo."""
    return f"What it did is still done: {', '.join(steps)}."


def nobody_knows(tools: Sequence[str]) -> str:
    """Say which calls may have taken effect."""
    return f"Nobody knows whether these took effect: {', '.join(tools)}."
