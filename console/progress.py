"""How far the calls in flight of a run are, as their heartbeats said last (SPEC 12.3)."""

from datetime import UTC, datetime

from pydantic import ValidationError
from temporalio.client import Client

from ..contract.model import Wire
from ..contract.progress import Progress
from ..contract.run import RunView
from .events import call_of

__all__ = ["CallProgress", "far", "progress_of"]

_IN_FLIGHT = frozenset(("sent", "undoing"))


class CallProgress(Wire):
    """One call in flight. ``beat_at`` is when its worker was last heard of, ``progress`` what its tool said last."""

    step: int
    undo: bool
    tool: str
    beat_at: datetime | None = None
    progress: Progress | None = None


async def progress_of(client: Client, view: RunView) -> list[CallProgress]:
    """Return the calls in flight of a run, and how far each is. Nothing is asked where nothing is in flight."""
    if not any(step.state in _IN_FLIGHT for step in view.steps):
        return []
    description = await client.get_workflow_handle(view.run).describe()
    found: list[CallProgress] = []
    for pending in description.raw_description.pending_activities:
        call = call_of(pending.activity_id)
        if call is None:
            continue
        said: Progress | None = None
        if pending.heartbeat_details.payloads:
            (told, *_) = await client.data_converter.decode(pending.heartbeat_details.payloads)
            try:
                said = Progress.model_validate(told)
            except ValidationError:  # the tool has heartbeats of its own
                said = None
        beat = pending.last_heartbeat_time
        found.append(
            CallProgress(
                step=call.step,
                undo=call.undo,
                tool=pending.activity_type.name,
                beat_at=beat.ToDatetime(UTC) if beat.seconds else None,
                progress=said,
            )
        )
    return found


def far(progress: Progress) -> str:
    """Say how far a call is: ``120 / 4000``, with the tool's note. No percent: nobody knows how long the rest takes."""
    said = str(progress.done) if progress.total is None else f"{progress.done} / {progress.total}"
    return f"{said} {progress.note}".rstrip()
