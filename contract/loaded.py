"""A run that is over, as it is read again for its unwind, and what an unwind is started with (SPEC 8.2)."""

from datetime import datetime

from .model import Wire
from .run import RunInput, Step
from .unwind import CondemnRequest, Tombstone

__all__ = ["LoadRequest", "LoadedRun", "UnwindInput"]


class LoadedRun(Wire):
    """What a run was started with and what became of its steps, earlier unwinds of it included.

    ``given`` is without the record it was started with, which only its own check needs. ``closed_at`` is when the run
    or its latest unwind ended, UTC: nothing of it was sent after that. ``unwind`` is the Temporal run id of the latest
    unwind that there is, where it was looked for.
    """

    given: RunInput
    steps: tuple[Step, ...] = ()
    closed_at: datetime | None = None
    unwind: str = ""


class LoadRequest(Wire):
    """Which run is to be read again. ``unwound_by`` are the Temporal run ids of its unwinds, the latest first.

    The first of them that had begun to undo says how the run stands; where none had, the run itself does.

    With an ``order``, an execution of it that is open, which somebody started anew by force, is told to undo itself.
    """

    run: str
    unwound_by: tuple[str, ...] = ()
    order: CondemnRequest | None = None


class UnwindInput(Wire):
    """What the workflow that unwinds a run is started with: the order, and the tombstone that was set before."""

    order: CondemnRequest
    tombstone: Tombstone
    agent: str
    user: str
