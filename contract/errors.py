"""Every error of amends is one tree; this is its map.

::

    AmendsError
    ├── ToolError            a tool raises one of these to say how its call failed (SPEC 5.3)
    │   ├── Refused          the target said a definite no: nothing took effect
    │   ├── NotSent          provably nothing was sent
    │   ├── OutcomeUnknown   it was sent, and nobody knows whether it took effect
    │   └── Unchanged        no failure: it is already so, and the call changed nothing
    ├── CallerError          what a caller of the client gets; a failed run is a reply, never an error
    │   ├── Conflict         it cannot be done now, the way things stand
    │   │   └── CondemnedRunError   an operator had the run undone
    │   ├── Ambiguous        more than one thing fits; name the one that is meant
    │   ├── NotAllowed       this caller may not do it
    │   ├── NotFound         there is no such run, question, agent or operator token
    │   └── Unreachable      Temporal, or a worker that would do it, does not answer
    ├── BadArguments         a call whose arguments the tool does not take; nothing was sent
    ├── UnknownFact          the host gives a fact that the rulebook's facts list lacks
    ├── FileMistake          one mistake in a file, with its line           (contract/mistakes.py)
    └── FileMistakes         all the mistakes that were found in one loading (contract/mistakes.py)

Each has a stable ``code`` in snake_case, its facts as plain fields, and a text that names the place, the value and the
way out. Each is rebuilt from its fields alone, ``type(error)(**error.fields)``, and survives pickling, since an error
that was stored must be readable later. Classes a user derives from these survive pickling too.

An ordinary exception that a tool raises counts as a definite failure, except those that leave the outcome in doubt
by themselves, such as a timeout or a lost connection.
"""

import dataclasses
from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

__all__ = [
    "Ambiguous",
    "AmendsError",
    "ArgumentProblem",
    "BadArguments",
    "CallerError",
    "CondemnedRunError",
    "Conflict",
    "ConflictCode",
    "NotAllowed",
    "NotAllowedCode",
    "NotFound",
    "NotFoundCode",
    "NotSent",
    "OutcomeUnknown",
    "Refused",
    "ToolError",
    "Unchanged",
    "UnknownFact",
    "Unreachable",
    "UnreachableCode",
]


class AmendsError(Exception):
    """The root: whatever amends raises on purpose. Every class under it is a dataclass of its fields.

    Attributes:
        code: which case it is, in snake_case; stable, for programs.
    """

    code: str

    @property
    def fields(self) -> dict[str, object]:
        """The facts of this error by name: what its class is called with to make it again."""
        return {name: getattr(self, name) for name in getattr(type(self), "__dataclass_fields__", ())}

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, dict(self.__dict__))


def _rebuild(kind: type[AmendsError], args: tuple[object, ...], state: Mapping[str, object]) -> AmendsError:
    """Make a stored error again without calling its constructor, which a user's own class may have changed."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


@dataclasses.dataclass(eq=False)
class ToolError(AmendsError):
    """A tool says how its call failed. Raise one of the classes under it.

    Attributes:
        message: what happened, in the tool's words. It is shown to people and stored, so no secrets.
        details: facts for the record, such as the target's own error code.
    """

    code = "tool_error"
    message: str = ""
    details: Mapping[str, JsonValue] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return self.message or self.code.replace("_", " ")


@dataclasses.dataclass(eq=False)
class Refused(ToolError):
    """The target said a definite no, and nothing took effect: a declined card, an order that does not exist."""

    code = "refused"


@dataclasses.dataclass(eq=False)
class NotSent(ToolError):
    """Provably nothing was sent: the address did not resolve, the connection was never made.

    A reset connection proves nothing, since it may come after the request was taken; raise `OutcomeUnknown` for it.
    """

    code = "not_sent"


@dataclasses.dataclass(eq=False)
class OutcomeUnknown(ToolError):
    """It was sent and no clear answer came back, so nobody knows whether it took effect."""

    code = "outcome_unknown"


@dataclasses.dataclass(eq=False)
class Unchanged(ToolError):
    """It is already so: the target holds what the call asks for, and this call changed nothing.

    The call counts as done, with ``result`` as what it returned, and the run goes on. A failed run does not undo it:
    what it would take away is not this run's doing.
    """

    code = "unchanged"
    result: object = None


@dataclasses.dataclass(eq=False)
class CallerError(AmendsError):
    """What a caller of the client asked for cannot be done.

    Attributes:
        code: which case it is; stable, for programs.
        message: the case in words, with the ids it is about.
        hint: the way out.
        run_id: the run it is about, if one is.
        question_id: the question it is about, if one is.
    """

    _STATUS = 422
    code: str
    message: str
    hint: str = ""
    run_id: str | None = None
    question_id: str | None = None

    @property
    def status(self) -> int:
        """The HTTP status that tells of it, in the API and in a problem document."""
        return 410 if self.code == "question_expired" else self._STATUS

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


ConflictCode = Literal[
    "already_ended",
    "answer_not_offered",
    "digest_mismatch",
    "no_open_question",
    "operator_name_taken",
    "plan_digest_mismatch",
    "question_closed",
    "question_expired",
    "queue_full",
    "rewind_with_pending_compensation",
    "run_condemned",
    "run_not_started",
    "run_open",
    "thread_is_waiting",
    "too_many_condemned",
    "undo_in_progress",
    "unproven_answer",
]


@dataclasses.dataclass(eq=False)
class Conflict(CallerError):
    """It cannot be done now, the way things stand: an answered question, a run that is over, changed bytes."""

    _STATUS = 409
    code: ConflictCode


@dataclasses.dataclass(eq=False)
class CondemnedRunError(Conflict):
    """The run is condemned: an operator had it undone, so it takes no answer and cannot be forked (SPEC 8.3)."""


@dataclasses.dataclass(eq=False)
class Ambiguous(CallerError):
    """More than one thing fits what was asked.

    Attributes:
        choices: the ids or names that fit; name one of them.
    """

    _STATUS = 409
    code: Literal["several_agents", "several_questions"]
    choices: tuple[str, ...] = ()


NotAllowedCode = Literal[
    "not_your_question",
    "operator_token_expired",
    "operator_token_not_configured",
    "operator_token_required",
    "operator_token_revoked",
    "operator_token_scope",
    "self_approval_forbidden",
]


@dataclasses.dataclass(eq=False)
class NotAllowed(CallerError):
    """This caller may not do it."""

    _STATUS = 403
    code: NotAllowedCode


NotFoundCode = Literal[
    "no_such_agent",
    "no_such_operator",
    "no_such_question",
    "no_such_result",
    "no_such_run",
    "no_such_session",
    "no_such_step",
]


@dataclasses.dataclass(eq=False)
class NotFound(CallerError):
    """There is no such run, step, result, question, session, agent or operator token."""

    _STATUS = 404
    code: NotFoundCode


UnreachableCode = Literal["embedded_server_failed", "no_worker_polling", "temporal_unreachable"]


@dataclasses.dataclass(eq=False)
class Unreachable(CallerError):
    """Temporal, or a worker that would do it, does not answer. Nothing is lost: ask again once it is there."""

    _STATUS = 503
    code: UnreachableCode


@dataclasses.dataclass(frozen=True)
class ArgumentProblem:
    """One argument that will not do: its name (with a path inside it, ``items.0``), its value as text, and why."""

    argument: str
    value: str
    why: str

    def __str__(self) -> str:
        return f"{self.argument} = {self.value}: {self.why}" if self.value else f"{self.argument}: {self.why}"


@dataclasses.dataclass(eq=False)
class BadArguments(AmendsError):
    """A call whose arguments the tool does not take. It was found before anything was sent.

    Attributes:
        tool: the tool's name.
        problems: every problem found, in the order of the arguments.
    """

    code = "bad_arguments"
    tool: str
    problems: tuple[ArgumentProblem, ...]

    def __str__(self) -> str:
        return f"{self.tool} does not take these arguments: " + "; ".join(str(problem) for problem in self.problems)


@dataclasses.dataclass(eq=False)
class UnknownFact(AmendsError):
    """The host gives a fact that no rule can ask for: it is not in the rulebook's list of facts.

    Attributes:
        fact: its name.
        known: the facts of the list.
        near: those of them that it may be a slip of.
    """

    code = "unknown_fact"
    fact: str
    known: tuple[str, ...]
    near: tuple[str, ...] = ()

    def __str__(self) -> str:
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else f"it lists {', '.join(self.known) or 'none'}"
        return f"the context gives the fact {self.fact!r}, which the rulebook's facts list lacks; {hint}"
