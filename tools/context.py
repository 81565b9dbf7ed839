"""What a tool may know about the call it is serving (SPEC 1.5)."""

from dataclasses import dataclass

__all__ = ["ToolContext"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Ask for it by a parameter annotated ``ToolContext``; the engine fills it, and no turn or model ever does.

    Attributes:
        idempotency_key: 64 hexadecimal digits, the same on every try of one call; hand it to the target, so that a
            call sent twice takes effect once. An undo has a key of its own.
        session: the identity of the person's session with the agent.
        run: the id of the run.
        step: the session-wide number of the step, which never goes back. An undo has that of the step it undoes.
        attempt: which try this is, from 1.
        user: who the session belongs to.
    """

    idempotency_key: str
    session: str
    run: str
    step: int
    attempt: int
    user: str
