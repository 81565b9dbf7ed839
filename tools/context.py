"""What a tool may know about the call it is serving (SPEC 1.5)."""

from collections.abc import Callable
from dataclasses import dataclass, field

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
    say_progress: Callable[[int, int | None, str], None] | None = field(default=None, repr=False, compare=False)

    def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """Say how far a long call is. People who look at the run see it; nothing else changes by it.

        It may be called from any thread and as often as one likes; the latest is shown within seconds.

        Args:
            done: how much is done, in whatever the tool counts.
            total: how much there is to do, if that is known.
            note: what is counted, such as ``messages``; 200 characters of it are kept.
        """
        if self.say_progress is not None:
            self.say_progress(done, total, note)
