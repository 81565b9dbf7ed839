"""The exit codes, in one table: what a script may conclude from the end of a command (SPEC 12.2)."""

from enum import IntEnum

from ..contract.errors import (
    Ambiguous,
    AmendsError,
    BadArguments,
    CallerError,
    Conflict,
    NotAllowed,
    NotFound,
    Unreachable,
)
from ..contract.question import Question
from ..contract.run import RunState

__all__ = ["Exit", "exit_of_error", "exit_of_run"]


class Exit(IntEnum):
    """What became of a command.

    Attributes:
        DONE: done; skipped steps count as done.
        FAULT: a fault of amends itself, worth a report. For ``verify``: it failed.
        USAGE: the command, a setting or a file it names is wrong. For ``verify``: it cannot be read.
        WAITS: a run waits for a person to confirm, and nobody was there to be asked.
        STOPPED: the run stopped; everything that can be undone is undone.
        LEFT: the run stopped; something stays that a person must know of.
        STUCK: an undo failed, or nobody knows whether a call took effect.
        CONFLICT: it cannot be done the way things stand: look again before trying again.
        NOT_ALLOWED: this caller may not do it.
        NOT_FOUND: there is no such run, session or agent.
        FINDINGS: ``lint --strict`` found something.
        UNREACHABLE: Temporal or a worker does not answer; nothing is lost.
        UNREAD: the turn was not read.
        WRITES: ``plan --detailed-exitcode``: the turn reads, and would write.
        GOES_ON: ``--wait`` ran out; what was begun goes on by itself.
        DETACHED: left with Ctrl-C; runs go on.
    """

    DONE = 0
    FAULT = 1
    USAGE = 2
    WAITS = 3
    STOPPED = 4
    LEFT = 5
    STUCK = 6
    CONFLICT = 7
    NOT_ALLOWED = 8
    NOT_FOUND = 9
    FINDINGS = 10
    UNREACHABLE = 11
    UNREAD = 12
    WRITES = 20
    GOES_ON = 124
    DETACHED = 130


_OF_STATE: dict[RunState, Exit] = {
    "done": Exit.DONE,
    "refused": Exit.STOPPED,
    "undone": Exit.STOPPED,
    "left": Exit.LEFT,
    "abandoned": Exit.LEFT,
    "stuck": Exit.STUCK,
    "condemned": Exit.CONFLICT,
}

_OF_ERROR: dict[type[AmendsError], Exit] = {
    NotFound: Exit.NOT_FOUND,
    NotAllowed: Exit.NOT_ALLOWED,
    Unreachable: Exit.UNREACHABLE,
    Conflict: Exit.CONFLICT,
    BadArguments: Exit.USAGE,
}


def exit_of_run(state: RunState, waiting: tuple[Question, ...]) -> Exit:
    """Return the exit code of a run as it stands: where it ended, or what it waits for."""
    if waiting:
        return Exit.WAITS if all(question.kind == "confirm" for question in waiting) else Exit.STUCK
    return _OF_STATE.get(state, Exit.WAITS)


def exit_of_error(error: AmendsError) -> Exit:
    """Return the exit code of an error: what the caller can do about it. A mistake in a file or a setting is usage."""
    if isinstance(error, Ambiguous):
        return Exit.CONFLICT if error.code == "several_questions" else Exit.USAGE
    for kind, code in _OF_ERROR.items():
        if isinstance(error, kind):
            return code
    return Exit.FAULT if isinstance(error, CallerError) else Exit.USAGE
