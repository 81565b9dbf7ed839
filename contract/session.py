"""A session: what it is started with, what a turn brings, and what it answers (SPEC 7)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from .model import Wire
from .reading import Language, Unread
from .run import PlannedCall, RunState
from .tool import ToolContract

__all__ = [
    "LONGEST_TURN",
    "Lacking",
    "Message",
    "Plan",
    "ReadRequest",
    "RecordLine",
    "SessionState",
    "SessionView",
    "Submitted",
    "Turn",
]


LONGEST_TURN = 2_000
"""The most characters a turn may have."""


class Turn(Wire):
    """One turn of a person, as it is submitted to a session.

    ``request_id`` names the request: the same id again is answered with the first answer. ``settled`` is the id of a
    run the caller has seen end; the session, which may hear of that end a moment later, waits for it instead of
    calling itself busy. ``facts`` come from the host, never from the turn. ``queue`` asks to wait for an open run
    instead of being told of it (SPEC 7.3).
    """

    text: str
    language: Language | None = None
    request_id: str = ""
    facts: Mapping[str, JsonValue] = {}
    settled: str = ""
    queue: bool = False
    attributes: bool = False


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
    nothing was done.
    """

    status: Literal["started", "unread", "lacking", "busy"]
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

    ``unread`` is set when there is nothing to run, and ``text`` then says why. ``digest`` names the agent's files as
    they were read: contracts, rulebook, vocabulary. ``lexicon`` is the hash of the words it was read with: those of
    the language file, the vocabulary and the tools; empty when unread. ``lacking`` is set when ``text`` asks for the
    one value that is missing. ``said`` is what the calls were read from: the turn, with an answer to such a question.
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
    asks: bool = False
    digest: str = ""
    lexicon: str = ""


class Message(Wire):
    """One message of the memory: what a model would read next."""

    role: Literal["user", "assistant"]
    text: str
    run: str = ""


class RecordLine(Wire):
    """One line of the record: what a run was asked and what became of it. Never rewound."""

    run: str
    turn: str
    state: RunState
    at: datetime
    text: str = ""
    steps: int = 0


class SessionState(Wire):
    """Everything a session keeps, carried whole when it continues as new.

    ``epoch`` is drawn when the session is first started. It is part of the session's identity, so that a session that
    was lost and started again never repeats a run id or an idempotency key.
    """

    agent: str
    user: str
    epoch: str
    language: Language | None = None
    next_run: int = 1
    next_step: int = 1
    record: tuple[RecordLine, ...] = ()
    tally: Mapping[str, JsonValue] | None = None
    memory: tuple[Message, ...] = ()
    requests: Mapping[str, Submitted] = {}
    lacking: Lacking | None = None
    condemned: tuple[str, ...] = ()

    @property
    def session(self) -> str:
        """The session's identity: agent, user and epoch."""
        return f"{self.agent}:{self.user}:{self.epoch}"


class SessionView(Wire):
    """What a session shows: its open run, if any, and its past runs, oldest first."""

    session: str
    agent: str
    user: str
    language: Language | None = None
    open_run: str = ""
    runs: tuple[RecordLine, ...] = ()
    memory: tuple[Message, ...] = ()
