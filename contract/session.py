"""A session: what it is started with, what a turn brings, and what it answers (SPEC 7)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue

from .chain import Head
from .memory import Message, Remembered
from .model import Wire
from .question import Expiry
from .reading import Language, Unread
from .record import Chain
from .run import PlannedCall, RunState, RunView
from .tool import ToolContract
from .unwind import Tombstone, Unwind

__all__ = [
    "LONGEST_FACTS",
    "LONGEST_TURN",
    "MOST_QUEUED",
    "Fork",
    "Lacking",
    "OpenRun",
    "PastRun",
    "Plan",
    "ReadRequest",
    "Remains",
    "Rewound",
    "RunEnd",
    "SessionState",
    "SessionView",
    "Submitted",
    "Turn",
]


LONGEST_TURN = 2_000
"""The most characters a turn may have."""
LONGEST_FACTS = 32_000
"""The most characters of JSON the host's facts may have; they travel with every call of the check."""
MOST_QUEUED = 10
"""The most turns that may wait for an open run."""


class Turn(Wire):
    """One turn of a person, as it is submitted to a session.

    ``request_id`` names the request: the same id again is answered with the first answer. ``settled`` is the id of a
    run the caller has seen end; the session, which may hear of that end a moment later, waits for it instead of
    calling itself busy. ``facts`` come from the host, never from the turn. ``queue`` asks to wait for an open run
    instead of being told of it (SPEC 7.3). ``fork_of`` names a run of the session that is over: instead of being read,
    the turn goes on from the first ``at_step`` steps of that run, and ``text`` does not matter.
    """

    text: str
    language: Language | None = None
    request_id: str = ""
    facts: Mapping[str, JsonValue] = {}
    settled: str = ""
    queue: bool = False
    attributes: bool = False
    fork_of: str = ""
    at_step: int = 0


class Lacking(Wire):
    """A turn that lacks one value, and the value that was asked for (SPEC 2.4)."""

    turn: str
    tool: str
    parameter: str
    language: Language


class Submitted(Wire):
    """What became of a turn.

    ``started``: ``run`` runs; ``asks`` says whether a person will be asked. ``unread``: ``text`` says why and what to
    say instead. ``lacking``: ``text`` asks for the one value that is missing. ``busy``: ``run`` is still open, and
    nothing was done. ``queued``: it is kept and will start when its time comes, which is not before ``run`` has ended;
    the same request again tells what became of it. ``again``: the session is just continuing as new; nothing was done,
    and the same request is to be sent again. ``not_started``: there is no run, and ``text`` says why. ``stopped``: the
    session was stopped before its run began; ``text`` says by whom. ``condemned``: the run that was to be forked is
    condemned, or the one that it is a fork of; ``run`` says which.
    """

    status: Literal["started", "unread", "lacking", "busy", "queued", "again", "not_started", "stopped", "condemned"]
    run: str = ""
    asks: bool = False
    text: str = ""
    unread: Unread | None = None
    language: Language = "en"


class ReadRequest(Wire):
    """What the reading activity is given. ``language`` is None when neither the turn nor the session names one.

    ``lacking`` is the turn whose missing value was asked for last: the text is first taken for that value.
    """

    agent: str
    text: str
    language: Language | None = None
    lacking: Lacking | None = None


class Plan(Wire):
    """A turn's reading, made into calls, with everything that is pinned to the run (SPEC 3.5).

    ``proof`` is the public key that answers must be signed with; empty where none is demanded.
    ``expiry`` is how long a confirmation is waited for, None for ever.

    ``unread`` is set when there is nothing to run, and ``text`` then says why. ``digest`` names the agent's files as
    they were read: contracts, rulebook, vocabulary. ``lexicon`` is the hash of the words it was read with: those of
    the language file, the vocabulary and the tools; empty when unread. ``lacking`` is set when ``text`` asks for the
    one value that is missing. ``said`` is what the calls were read from: the turn, with an answer to such a question.
    ``forked_from`` is the run whose calls these are, for a fork.
    """

    language: Language
    calls: tuple[PlannedCall, ...] = ()
    unread: Unread | None = None
    lacking: Lacking | None = None
    said: str = ""
    text: str = ""
    tools: Mapping[str, ToolContract] = {}
    rulebook: Mapping[str, JsonValue] = {}
    atomic: bool = True
    proof: str = Field(default="", exclude_if=lambda value: not value)
    expiry: Expiry | None = Field(default=None, exclude_if=lambda value: value is None)
    asks: bool = False
    digest: str = ""
    lexicon: str = ""
    forked_from: str = ""


class Fork(Wire):
    """A run that was begun as a fork of another: what that one did is not undone with it."""

    run: str
    of: str


class PastRun(Wire):
    """One turn that is over: the run it started, if any, and what became of it. A line of `SessionView`."""

    run: str
    turn: str
    state: RunState
    at: datetime
    text: str = ""
    steps: int = 0


class OpenRun(Wire):
    """The run that is open, with what the session needs at its end.

    ``undoable`` names the tools of its plan that a rollback can undo. ``calls`` is the plan, as bounded as in the
    record, and ``first_step`` the number of the first.
    """

    run: str
    turn: str
    language: Language
    undoable: tuple[str, ...] = ()
    atomic: bool = True
    first_step: int = 1
    calls: tuple[PlannedCall, ...] = ()


class RunEnd(Wire):
    """How a run ended. ``view`` is None when nothing is left of it to be seen."""

    view: RunView | None = None


class Remains(Wire):
    """A run that is over and not undone: the tools of its writes that still need undoing, latest first."""

    run: str
    tools: tuple[str, ...]


class Rewound(Wire):
    """What became of a request to rewind: done, or refused because of an open run or of what remains to be undone."""

    refused: bool = False
    open_run: str = ""
    remains: tuple[Remains, ...] = ()


class SessionState(Wire):
    """Everything a session keeps, carried whole when it continues as new.

    ``epoch`` is drawn when the session is first started. It is part of the session's identity, so that a session that
    was lost and started again never repeats a run id or an idempotency key. ``tally`` is the fold that rules ask
    (`rulebook.record.RecordState`), ``chain`` the record itself with its full pages elsewhere. ``past`` holds the
    latest turns, ``turns`` counts all that are over. ``queued`` are the turns that wait for the open run, in order.
    ``remains`` are the runs that are over and not undone. ``tombstones`` are those of condemned runs, and ``unwinding``
    the unwinds that are to be started or under way. ``former`` are the epochs that it had before. ``forks`` says which
    runs are forks of which.
    """

    agent: str
    user: str
    epoch: str
    language: Language | None = None
    next_run: int = 1
    next_step: int = 1
    chain: Chain | None = None
    past: tuple[PastRun, ...] = ()
    turns: int = 0
    tally: Mapping[str, JsonValue] | None = None
    memory: Remembered = Remembered()
    requests: Mapping[str, Submitted] = {}
    lacking: Lacking | None = None
    queued: tuple[Turn, ...] = ()
    open: OpenRun | None = None
    remains: tuple[Remains, ...] = ()
    tombstones: tuple[Tombstone, ...] = ()
    unwinding: tuple[Unwind, ...] = ()
    former: tuple[str, ...] = ()
    forks: tuple[Fork, ...] = ()

    @property
    def session(self) -> str:
        """The session's identity: agent, user and epoch."""
        return f"{self.agent}:{self.user}:{self.epoch}"


class SessionView(Wire):
    """What a session shows: its open run, if any, and its latest past turns, oldest first.

    ``stopped`` is the run that the session held to be open when it was last stopped, at ``stopped_at``, UTC.
    ``turns`` counts all that are over, ``queued`` those that wait. ``memory`` is what a model would read next, without
    the ``earlier`` turns that only the record holds. ``remains`` names runs with something left to undo. ``head`` is
    the end of the record. ``condemned`` are the runs that an operator had undone, or is having undone.
    """

    session: str
    agent: str
    user: str
    language: Language | None = None
    open_run: str = ""
    stopped: str = ""
    stopped_at: datetime | None = None
    runs: tuple[PastRun, ...] = ()
    turns: int = 0
    queued: int = 0
    memory: tuple[Message, ...] = ()
    earlier: int = 0
    remains: tuple[Remains, ...] = ()
    condemned: tuple[str, ...] = ()
    head: Head
