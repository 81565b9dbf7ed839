"""Unwinding a run from outside: what is asked, what is kept, and the report (SPEC 8.1 to 8.3).

One vocabulary for the plan and for what became of it: a plan is the report of an unwind that has not begun.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue

from .model import Wire
from .question import Question

__all__ = [
    "CondemnRequest",
    "Condemned",
    "LaterRun",
    "Refusal",
    "Standing",
    "Tombstone",
    "UndoEntry",
    "UndoReason",
    "UndoStatus",
    "Unwind",
    "UnwindReport",
    "UnwindVerdict",
]

UndoStatus = Literal[
    "compensated", "already-compensated", "would-compensate", "skipped-not-executed", "skipped-no-hook",
    "uncertain", "busy", "failed", "not-attempted", "done-by-hand", "abandoned",
]  # fmt: skip
"""What became, or would become, of one write.

`compensated`: undone by this unwind. `already-compensated`: it was undone before. `would-compensate`: a plan would undo
it. `skipped-not-executed`: it did not take effect. `skipped-no-hook`: nothing undoes it, see the reason. `uncertain`:
nobody knows whether the write, or its undo, took effect. `busy`: the write or its undo is under way. `failed`: the
tries of its undo are spent. `not-attempted`: something before it stopped the unwind, or it was not chosen.
`done-by-hand`, `abandoned`: a person's answers to a failed undo.
"""

UndoReason = Literal[
    "", "irreversible", "undo-none", "no-undo", "undo-missing", "effect", "undo", "not-chosen", "stopped"
]
"""Why, where the status alone does not say. `irreversible`: its contract says that nothing can undo it. `undo-none`:
its contract says on purpose that none is needed. `no-undo`: its contract names none. `undo-missing`: the tool that
undoes it is gone. `effect`, `undo`: it is the write, or its undo, that nobody knows of. `not-chosen`: other steps were
chosen. `stopped`: an undo before it failed, was abandoned or is in doubt."""

UnwindVerdict = Literal[
    "unwound", "unwound-with-leftovers", "stuck", "abandoned", "nothing-to-undo", "unwinding", "swept"
]
"""`unwound`: everything that took effect is undone. `unwound-with-leftovers`: what can be undone is; something stays.
`stuck`: a person is asked. `unwinding`: it is under way. `swept`: Temporal no longer has the run's history, so nobody
can say what it did. A plan's verdict is what the unwind would come to if every undo succeeds."""


class CondemnRequest(Wire):
    """An operator's word that a run is to be undone, as it is given to the run's session.

    ``by`` is the operator, ``token`` the name of the operator token that allowed it. ``steps`` are the positions of the
    writes to undo, or empty for all. ``past_uncertain`` goes on past a write that nobody knows of, without asking a
    person. ``attributes`` says whether the server knows our search attributes. ``repeats`` marks a word that was given
    a moment ago and is only sent again, to learn how far it is: it begins nothing anew. ``latest`` is the Temporal run
    id of the latest unwind of the run that there is, as whoever gives the word knows; a session that was lost knows of
    none.
    """

    run: str = Field(max_length=300)
    by: str = Field(min_length=1, max_length=200)
    reason: str = Field(min_length=1, max_length=300)
    token: str = Field(default="", max_length=100)
    steps: tuple[int, ...] = Field(default=(), max_length=200)
    past_uncertain: bool = False
    attributes: bool = False
    repeats: bool = False
    latest: str = Field(default="", pattern=r"^([0-9a-f-]{36})?$")


class Tombstone(Wire):
    """Who condemned a run, why and when, UTC. The first word stands; later ones are in the record.

    ``verdict`` is what its latest unwind came to, None while there was none to its end, and ``execution`` the Temporal
    run id of that unwind. ``entries`` say it write by write, for as long as the session keeps them.
    """

    run: str
    by: str
    reason: str
    at: datetime
    token: str = ""
    verdict: UnwindVerdict | None = None
    execution: str = ""
    entries: "tuple[UndoEntry, ...]" = ()


class Condemned(Wire):
    """What a session answers to a `CondemnRequest`.

    ``open``: the run is open and is told; it undoes itself. ``unwinding``: the workflow ``execution`` (a Temporal run
    id) of `names.unwind_id` undoes it. ``settled``: nothing that could be undone is left. ``first``: the forks
    ``before`` have to be undone before it; ask again when they are. ``again``: what it is now is to be asked once more.
    ``at`` is the session's time.
    """

    status: Literal["open", "unwinding", "settled", "first", "again"]
    tombstone: Tombstone
    execution: str = ""
    before: tuple[str, ...] = ()
    at: datetime


class Refusal(Wire):
    """Somebody wanted what only an operator may do, and was refused. ``by`` is who they say they are, if they do.

    ``token`` is the name of the token they gave, where it is one that is known; ``code`` why it did not do.
    """

    run: str = Field(default="", max_length=300)
    by: str = Field(default="", max_length=200)
    code: str = Field(max_length=60)
    token: str = Field(default="", max_length=100)
    act: str = Field(default="undo", max_length=40)


class Unwind(Wire):
    """An unwind that a session has to start, or has started: then ``execution`` is its Temporal run id."""

    order: CondemnRequest
    execution: str = ""


class Standing(Wire):
    """What a session knows of a run.

    ``known`` says whether it ever started one of that name. ``tombstone`` is there if the run is condemned. ``forks``
    are the runs that go on from it, latest first.
    """

    known: bool = False
    tombstone: Tombstone | None = None
    forks: tuple[str, ...] = ()


class UndoEntry(Wire):
    """One write of a run, in the order of the unwind.

    ``position`` is its place in the run, from 1, ``step`` its session-wide number. ``undo`` is the tool that undoes it,
    with the ``arguments`` bound to it and the idempotency ``key``; empty where nothing does. A plan has the arguments
    whole, a report those that are too long by their hash and length. ``attempts`` counts how often the undo was sent,
    ``by`` names who undid it by hand. ``at`` is when that was settled, UTC. ``dependents`` are
    the positions of later writes that stand on this one and would stay.
    """

    position: int
    step: int
    tool: str
    status: UndoStatus
    reason: UndoReason = ""
    undo: str = ""
    arguments: Mapping[str, JsonValue] = {}
    key: str = ""
    attempts: int = 0
    error: str = ""
    by: str = ""
    at: datetime | None = None
    dependents: tuple[int, ...] = ()


class LaterRun(Wire):
    """A later run of the same session that wrote something which still stands: an unwind does not touch it."""

    run: str
    tools: tuple[str, ...]


class UnwindReport(Wire):
    """The plan of an unwind, how far it is, or what it came to (SPEC 8.2).

    ``entries`` are in the order of the unwind. ``condemned`` says whether the run is, ``tombstone`` by whom. ``digest``
    binds what would be undone, with what and in which order. ``unwind`` is the workflow id that undoes it and takes the
    answers to its questions, ``waiting``: the run itself, or ``unwind:<run>``; empty when there is none. ``later`` are
    runs of the session that wrote after it. ``forks`` are the runs that go on from it, which are condemned with it and
    undone before it.
    """

    run: str
    dry_run: bool = False
    condemned: bool = False
    tombstone: Tombstone | None = None
    verdict: UnwindVerdict
    entries: tuple[UndoEntry, ...] = ()
    digest: str = ""
    unwind: str = ""
    waiting: tuple[Question, ...] = ()
    later: tuple[LaterRun, ...] = ()
    forks: tuple[str, ...] = ()

    @property
    def statuses(self) -> tuple[UndoStatus, ...]:
        """The statuses of the entries, in order."""
        return tuple(entry.status for entry in self.entries)
