"""A run and its steps: what a run is started with, and what it shows (SPEC 4)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue

from .decision import Decision
from .model import Wire
from .outcome import Failure
from .question import Answered, Asked, Expiry, Question
from .reading import Language
from .tool import ToolContract
from .unwind import Tombstone, UnwindReport

__all__ = [
    "OPEN_STATES",
    "PlannedCall",
    "RunInput",
    "RunState",
    "RunView",
    "Step",
    "StepState",
    "StopClass",
    "UndoView",
]

RunState = Literal[
    "reading", "running", "waiting", "undoing", "stuck",
    "done", "undone", "left", "abandoned", "refused", "condemned",
]  # fmt: skip
"""SPEC 4.7. The last six are ends. `undone`: it stopped and nothing of it remains. `left`: something remains."""

OPEN_STATES: frozenset[RunState] = frozenset(("reading", "running", "waiting", "undoing", "stuck"))

StepState = Literal[
    "proposed", "refused", "declined", "approved", "sent", "done", "failed", "in doubt", "did not happen",
    "undoing", "undone", "undone by hand", "undo failed", "left",
]  # fmt: skip
"""SPEC 4.7."""


StopClass = Literal["before dispatch", "aborted", "unknown", "committed"]
"""What a stop found of the call that was in flight (SPEC 8.4)."""


class PlannedCall(Wire):
    """One call of a plan: a tool and its arguments in their one wire form."""

    tool: str
    arguments: Mapping[str, JsonValue] = {}


class UndoView(Wire):
    """The undo of a step, once its rollback came to it. ``by`` says who did it by hand, if a person did."""

    tool: str
    arguments: Mapping[str, JsonValue] = {}
    key: str = ""
    tries: int = 0
    failure: Failure | None = None
    by: str = ""
    ended_at: datetime | None = None


class Step(Wire):
    """One call of a run, with everything that was decided and became of it.

    ``number`` is the session-wide step number, which never goes back; ``position`` the place in the run, from 1.
    ``landed`` orders writes by taking effect: 1 landed first, 0 did not land. ``unchanged`` is set for a write that is
    done because it was already so. ``day`` is the UTC date of its check.
    ``evidence`` says in order how a doubt was settled: what was asked, and what came back. ``stopped`` is set for the
    call that was in flight when the run was stopped.
    """

    position: int
    number: int
    tool: str
    arguments: Mapping[str, JsonValue] = {}
    writes: bool = False
    day: str = ""
    state: StepState = "proposed"
    decision: Decision | None = None
    confirmed_by: str = ""
    key: str = ""
    attempts: int = 0
    result: JsonValue = None
    failure: Failure | None = None
    landed: int = 0
    unchanged: bool = False
    sent_at: datetime | None = None
    ended_at: datetime | None = None
    undo: UndoView | None = None
    evidence: tuple[str, ...] = ()
    stopped: StopClass | None = None


class RunInput(Wire):
    """Everything a run needs, pinned when it starts, so that a changed file never changes a run in flight (SPEC 3.5).

    ``session`` is the session's identity, ``number`` the run's place in it from 1, ``first_step`` the session-wide
    number of its first step. ``rulebook`` and ``record`` are the wire forms of `rulebook.rules.Rulebook` and
    `rulebook.record.RecordState`. ``tools`` holds the contracts of the tools of the agent. ``attributes`` says
    whether the server knows our search attributes. ``proof`` is the public key that answers must be signed with, or
    empty (SPEC 13.2). ``expiry`` is how long a confirmation is waited for, None for ever. ``forked_from`` is the run
    whose first steps this one goes on from.
    """

    session: str
    number: int
    agent: str
    user: str
    turn: str = ""
    language: Language = "en"
    calls: tuple[PlannedCall, ...]
    first_step: int = 1
    tools: Mapping[str, ToolContract]
    rulebook: Mapping[str, JsonValue] = {}
    record: Mapping[str, JsonValue] | None = None
    facts: Mapping[str, JsonValue] = {}
    atomic: bool = True
    proof: str = Field(default="", exclude_if=lambda value: not value)
    expiry: Expiry | None = Field(default=None, exclude_if=lambda value: value is None)
    attributes: bool = False
    tenant: str | None = None
    forked_from: str = ""


class RunView(Wire):
    """What a run shows at any moment, and returns at its end: steps, open questions, answers, reply.

    ``text`` is the one reply of the run, empty while it is open. ``undone`` and ``left`` name steps by position, in the
    order the rollback came to them. ``notice`` says what an open run waits for, where it is no person.
    ``asked`` holds every question of the run, in order, open or closed. ``planned`` is the number of calls of its plan.
    ``forked_from`` is the run that it goes on from. ``condemned`` says who had it undone from outside, ``unwinding``
    what came of that. An unwind of a run that was over shows itself in the same way: ``run`` is then its own workflow
    id, and ``unwinding.run`` the run it undoes.
    """

    run: str
    session: str
    agent: str
    user: str
    turn: str
    language: Language
    state: RunState
    steps: tuple[Step, ...] = ()
    waiting: tuple[Question, ...] = ()
    answers: tuple[Answered, ...] = ()
    asked: tuple[Asked, ...] = ()
    planned: int = 0
    text: str = ""
    undone: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    notice: str = ""
    forked_from: str = ""
    condemned: Tombstone | None = None
    unwinding: UnwindReport | None = None

    @property
    def has_more(self) -> bool:
        """Whether calls of its plan are still to come, any of which may ask."""
        return len(self.steps) < self.planned

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.state not in OPEN_STATES
