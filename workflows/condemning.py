"""The runs of a session that an operator had undone: their tombstones, and the unwinds under way (SPEC 8.2, 8.3). Pure.

A tombstone is set before anything is undone, and is never taken away: it travels with the session for ever. What its
unwind came to, write by write, travels as long as it is one of the latest; the record has it all.
"""

from collections.abc import Iterable
from datetime import datetime

from ..contract.ending import unfinished
from ..contract.run import RunView
from ..contract.unwind import Condemned, CondemnRequest, Tombstone, UndoEntry, Unwind, UnwindReport
from .entries import kept_values
from .lineage import Lineage

__all__ = ["SOME_EXECUTION", "CondemnedRuns"]

SOME_EXECUTION = "unknown"
"""In place of the Temporal run id of an unwind that a lost session of this person started."""
REPORTS_KEPT = 30
"""How many tombstones keep what their unwind came to, write by write."""
REPORTS_BYTES = 256 * 1024
"""The most bytes that these reports may have together: they travel with the session, in one payload with the rest."""
TOMBSTONE_BYTES = 640 * 1024
"""The most bytes that all tombstones may have besides: some thousand."""
LONGEST_ERROR = 500
_FRAME = 200
"""What a tombstone has in its wire form besides the words of whoever condemned the run, about."""


class CondemnedRuns:
    """The tombstones of one session, in the order in which they were set, and the unwinds it has to see through."""

    def __init__(self, tombstones: Iterable[Tombstone], unwinding: Iterable[Unwind], lineage: Lineage) -> None:
        self._lineage = lineage
        self._tombstones = {tombstone.run: tombstone for tombstone in tombstones}
        self._unwinding = {unwind.order.run: unwind for unwind in unwinding}

    @property
    def tombstones(self) -> tuple[Tombstone, ...]:
        """Every tombstone, oldest first."""
        return tuple(self._tombstones.values())

    @property
    def unwinding(self) -> tuple[Unwind, ...]:
        """The unwinds that are to be started or under way."""
        return tuple(self._unwinding.values())

    def tombstone(self, run: str) -> Tombstone | None:
        """Return the tombstone of a run, if it has one."""
        return self._tombstones.get(run)

    @property
    def full(self) -> bool:
        """Whether a session can carry no tombstone more: it could not continue as new with too many of them."""
        return sum(map(_size, self._tombstones.values())) >= TOMBSTONE_BYTES

    def bars_fork(self, run: str) -> Tombstone | None:
        """Return the tombstone because of which a run cannot be forked: its own, or that of a run it goes on from."""
        return next(filter(None, map(self.tombstone, self._lineage.with_ancestors(run))), None)

    def condemn(self, order: CondemnRequest, *, is_open: bool, at: datetime) -> Condemned:
        """Set a run's tombstone, unless it has one, and say what undoes it. An unwind that is due is noted."""
        tombstone = self._tombstones.setdefault(
            order.run, Tombstone(run=order.run, by=order.by, reason=order.reason, at=at, token=order.token)
        )
        if is_open:
            return Condemned(status="open", tombstone=tombstone, at=at)
        if order.run in self._unwinding:
            return Condemned(status="unwinding", tombstone=tombstone, execution=self.execution(order.run), at=at)
        if tombstone.verdict is not None and (order.repeats or _finished(tombstone)):
            return Condemned(status="settled", tombstone=tombstone, at=at)
        self._unwinding[order.run] = Unwind(order=order)
        return Condemned(status="unwinding", tombstone=tombstone, at=at)

    def due(self, open_run: str, forking: str) -> Unwind | None:
        """Return an unwind that is to be started, if one is. Forks come before what they are forks of.

        ``forking`` is the run of which a fork is just being begun; that fork is waited for as well.
        """
        awaited = frozenset(self._lineage.with_ancestors(forking))
        for run, unwind in self._unwinding.items():
            if not unwind.execution and run not in awaited and not self.pending_forks(run, open_run):
                return unwind
        return None

    def pending_forks(self, run: str, open_run: str) -> tuple[str, ...]:
        """Return the condemned forks of a run that have to be undone before it, and are not."""
        forks = self._lineage.descendants(run)
        return tuple(fork for fork in forks if fork in self._unwinding or fork == open_run)

    def is_unwinding(self, run: str) -> bool:
        """Whether a run has an unwind that is to be started or under way."""
        return run in self._unwinding

    def is_due(self, run: str) -> bool:
        """Whether the unwind of a run is to be started."""
        unwind = self._unwinding.get(run)
        return unwind is not None and not unwind.execution

    def started(self, run: str, execution: str) -> None:
        """Note the Temporal run id of an unwind that was started."""
        self._unwinding[run] = self._unwinding[run].model_copy(update={"execution": execution})

    def given_up(self, run: str) -> None:
        """Note that an unwind could not be started. Asked for again, it is due again."""
        self._unwinding.pop(run, None)

    def execution(self, run: str) -> str:
        """Return the Temporal run id of the unwind under way, or empty text where it has none that is known."""
        unwind = self._unwinding.get(run)
        return unwind.execution if unwind and unwind.execution != SOME_EXECUTION else ""

    def run_ended(self, view: RunView) -> bool:
        """Take in the end of a condemned run that was open; say whether it undid itself.

        One that was over before it heard of it has to be unwound. One that was ended by force is left as it is:
        whoever did that is at the controls, and may have it undone again (docs/decisions/0016-terminated-runs.md).
        """
        tombstone = self._tombstones[view.run]
        if view.unwinding is not None:
            self._note(tombstone, view.unwinding, "")
            return True
        if view.ended_at is None:
            return False
        order = CondemnRequest(run=view.run, by=tombstone.by, reason=tombstone.reason, token=tombstone.token)
        self._unwinding[view.run] = Unwind(order=order)
        return False

    def unwound(self, run: str, report: UnwindReport | None) -> None:
        """Take in the end of an unwind. ``report`` is None when nothing is left of it to be seen."""
        execution = self.execution(run)
        self._unwinding.pop(run, None)
        tombstone = self._tombstones.get(run)
        if tombstone is not None and report is not None:
            self._note(tombstone, report, execution)

    def _note(self, tombstone: Tombstone, report: UnwindReport, execution: str) -> None:
        self._tombstones[tombstone.run] = tombstone.model_copy(
            update={"verdict": report.verdict, "entries": tuple(map(_kept, report.entries)), "execution": execution}
        )
        reported = [each for each in reversed(self._tombstones.values()) if each.entries]
        room = REPORTS_BYTES
        for place, each in enumerate(reported):
            room -= sum(len(entry.model_dump_json().encode()) for entry in each.entries)
            if place >= REPORTS_KEPT or room < 0:
                self._tombstones[each.run] = each.model_copy(update={"entries": ()})


def _kept(entry: UndoEntry) -> UndoEntry:
    return entry.model_copy(update={"arguments": kept_values(entry.arguments), "error": entry.error[:LONGEST_ERROR]})


def _size(tombstone: Tombstone) -> int:
    return _FRAME + sum(len(word.encode()) for word in (tombstone.run, tombstone.by, tombstone.reason, tombstone.token))


def _finished(tombstone: Tombstone) -> bool:
    """Whether nothing that can be undone is left. Where its writes are forgotten, only a clean verdict says so."""
    if not tombstone.entries:
        return tombstone.verdict in ("unwound", "nothing-to-undo")
    return not unfinished(tombstone.entries)
