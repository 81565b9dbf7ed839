"""The plan of an unwind, for whoever wants to see it before it is done: nothing runs (SPEC 8.2).

It is the function that the reverse loop and its report are made of, on a run as it was read.
"""

from collections.abc import Collection
from datetime import datetime

from ..contract.loaded import LoadedRun
from ..contract.unwind import Tombstone, UnwindReport
from ..rulebook.unwinding import Unwinding, unwind_report

__all__ = ["plan_undo"]


def plan_undo(
    loaded: LoadedRun,
    *,
    chosen: Collection[int] = (),
    tombstone: Tombstone | None = None,
    since: datetime | None = None,
    forks: Collection[str] = (),
) -> UnwindReport:
    """Return what an unwind of a run would do from here on.

    Args:
        loaded: the run.
        chosen: the positions of the writes to undo, from 1; empty for all.
        tombstone: the run's tombstone, if it has one.
        since: say instead what became of an unwind that was asked for at this time.
        forks: the runs that go on from it, which are undone before it.
    """
    over = loaded.closed_at is not None
    unwinding = Unwinding(loaded.given, loaded.steps, over=over, chosen=frozenset(chosen), since=since)
    return unwind_report(unwinding, dry_run=since is None, tombstone=tombstone, forks=forks)
