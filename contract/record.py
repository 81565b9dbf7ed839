"""The record: one line for everything a session did and was told, never rewound (SPEC 3.6, 7.2, 7.4).

A line is an `Entry`, numbered and chained to the line before it (`contract.chain`). Full pages of lines are sealed away
from the session that wrote them, and the session keeps the names of its pages and the lines since the last.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from .decision import Verdict
from .model import Wire

__all__ = ["CallEvent", "CallOutcome", "Chain", "Entry", "EntryKind", "Page", "Ruling", "Tail"]

CallOutcome = Literal["ran", "failed", "unknown", "in_flight", "declined", "refused"]
"""What became of a call. `failed`: definitely without effect. `unknown`: nobody knows yet."""


class CallEvent(Wire):
    """What rules see of one call: order rules and caps count these, undone calls included.

    ``undone`` says that a later undo took its effect back; the line itself stays.
    """

    step: int
    run: str
    day: str
    tool: str
    arguments: Mapping[str, JsonValue]
    outcome: CallOutcome
    undone: bool = False
    undoes: int | None = None
    result: JsonValue = None


EntryKind = Literal[
    "turn", "question", "answer", "call", "undo", "end", "rewind", "language", "stop", "condemn", "unwind", "refusal"
]
"""`turn`: what a person said. `end`: what became of it, with the one reply. `rewind`: a run left the memory.
`stop`: the session was stopped from outside. `condemn`: an operator had a run undone. `unwind`: what came of that, for
a run that was over. `refusal`: somebody wanted what only an operator may do."""


class Ruling(Wire):
    """A rule that had a say in a call, and where it is written."""

    rule: str
    effect: Verdict
    file: str = ""
    line: int = 0


class Entry(Wire):
    """What one line of the record says. Fields that do not apply are left out of the line.

    Attributes:
        kind: what it is about.
        at: when it happened, UTC; in the line to the whole second.
        by: who: the person of a turn or an answer, who approved a call, who undid a write by hand, who stopped a
            session or had a run undone.
        run: the run it belongs to; empty for a turn that started none.
        day: the UTC date a call counts for, in caps by the day.
        step: the session-wide step number of a call, or of the call that a question or an undo is about; 0 for none.
        tool: the tool that was called, or would have been.
        writes: whether a call is one that writes.
        arguments: what it was called with. Values that are too long are replaced by their hash and length.
        key: the idempotency key; empty when it was never sent.
        verdict: what the check said, when last asked.
        rules: the rules behind the verdict.
        outcome: the state of the step, the undo or the run at its end; for an answer ``taken``, or why it was not; for
            an unwind its verdict; for a refusal its code.
        tries: how often it was sent.
        took_ms: milliseconds from sending to the outcome; for an answer, from the question.
        result: what came back, bounded as the arguments are.
        error: how it failed: the error's class and its message.
        question: the question's id within its run.
        text: the turn, the question, the answer, the reply, or the reason of a stop or an unwind, word for word.
        warnings: what the question warned of.
        digest: what the question was bound to.
        note: the remark that came with an answer; how a doubt was settled; that a write was already so; the operator
            token that was used.
        language: what the turn was read in; for a ``language`` line, what the session is set to.
        facts: what the host said of the world when the turn came.
        remains: the tools of writes that still need undoing when the run, or its unwind, ended.
    """

    kind: EntryKind
    at: datetime
    by: str = ""
    run: str = ""
    day: str = ""
    step: int = 0
    tool: str = ""
    writes: bool = False
    arguments: Mapping[str, JsonValue] | None = None
    key: str = ""
    verdict: Verdict | None = None
    rules: tuple[Ruling, ...] = ()
    outcome: str = ""
    tries: int = 0
    took_ms: int | None = None
    result: JsonValue = None
    error: str = ""
    question: str = ""
    text: str = ""
    warnings: tuple[str, ...] = ()
    digest: str = ""
    note: str = ""
    language: str = ""
    facts: Mapping[str, JsonValue] | None = None
    remains: tuple[str, ...] = ()


class Page(Wire):
    """A full page of the record: whole lines of JSON, in order."""

    session: str
    number: int
    lines: tuple[str, ...]


class Chain(Wire):
    """The record as its session carries it: the names of the sealed pages, and the lines since the last of them.

    Attributes:
        session: whose record it is; the chain begins with its hash.
        count: how many lines there are, sealed ones included.
        head: the hash of the latest line; empty before the first.
        pages: the workflow ids of the sealed pages, in order.
        lines: the lines that are not sealed yet.
    """

    session: str
    count: int = 0
    head: str = ""
    pages: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


class Tail(Wire):
    """What a session answers about its record: the chain, whose it is, and the run whose lines are still to come."""

    chain: Chain
    agent: str
    user: str
    open_run: str = ""
    at: datetime
