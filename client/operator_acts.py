"""What is done to runs from outside, apart from any conversation: stopping them, and undoing them (SPEC 8)."""

from collections.abc import Sequence

from ..contract.run import OPEN_STATES
from ..contract.unwind import UnwindReport
from .home import Home
from .runs import RunSummary, list_unwinds
from .stopping import BY, PATIENCE, Stopped, stop_all, stop_run, stop_session
from .unwinding import PATIENCE as UNDO_PATIENCE
from .unwinding import UndoRequest, undo_run

__all__ = ["OperatorActs"]


class OperatorActs:
    """The part of `agent.AsyncAgent` that is not for the person of a session."""

    _home: Home

    @property
    def name(self) -> str:
        """The agent's name in its file."""
        return self._home.agent.name

    # Stopping

    async def stop(self, run: str, *, by: str = BY, reason: str = "", patience: float = PATIENCE) -> Stopped:
        """Stop a run now: nothing more is sent, and what it did is undone (SPEC 8.4).

        Args:
            run: the run's id.
            by: who stops it; named in the reply and in the record.
            reason: why; 300 characters of it are kept.
            patience: seconds to wait for the rollback, for it to be over or to ask something.

        Raises:
            NotFound: ``no_such_run``: there is none, or it is over.
        """
        return self._noted(await stop_run(await self._home.open(), run, by=by, reason=reason, patience=patience))

    async def stop_session(self, user: str, *, by: str = BY, reason: str = "", patience: float = PATIENCE) -> Stopped:
        """Stop a user's session: its open run as `stop` does, and the turns that wait are not begun.

        Raises:
            NotFound: ``no_such_session``.
            Unreachable: no worker serves the agent; the stop is recorded all the same.
        """
        place = await self._home.open()
        return self._noted(await stop_session(place, self.name, user, by=by, reason=reason, patience=patience))

    async def stop_all(
        self, *, everything: bool = False, by: str = BY, reason: str = "", patience: float = PATIENCE
    ) -> Stopped:
        """Stop every open run and session of this agent, or of every agent there is (``everything``)."""
        agent = None if everything else self.name
        return self._noted(await stop_all(await self._home.open(), agent, by=by, reason=reason, patience=patience))

    def _noted(self, stopped: Stopped) -> Stopped:
        for each in stopped.runs:
            if each.state is not None and each.state not in OPEN_STATES:
                self._home.note_end(each.run)
        return stopped

    # Undoing

    async def unwinds(self, *, open_only: bool = True) -> list[RunSummary]:
        """List the unwinds of runs that were over, latest first; each is named by its own id, which takes answers."""
        return await list_unwinds(await self._home.open(), self.name, open_only=open_only)

    async def undo(
        self,
        run: str,
        *,
        dry_run: bool = False,
        reason: str = "",
        token: str | None = None,
        by: str = "",
        steps: Sequence[int] = (),
        continue_past_uncertain: bool = False,
        digest: str = "",
        patience: float = UNDO_PATIENCE,
    ) -> UnwindReport:
        """Undo a run from outside, open or over, or plan to: condemn it, then undo its writes, latest first (SPEC 8).

        Done again, it goes on where it stood: what is undone stays so, and a failed undo is tried anew.

        Args:
            run: the run's id.
            dry_run: only return the plan. Nothing is sent or noted, and no token is needed.
            reason: why; it stands in the record.
            token: an operator token that allows ``undo``; see `operators`.
            by: the person behind the token, where that is known; by default the token's name.
            steps: the positions of the writes to undo, from 1; by default all. The run must be over.
            continue_past_uncertain: go on past a write that nobody knows of, instead of asking a person and waiting.
            digest: the digest of the plan that was shown; refused if the plan has changed since.
            patience: seconds to wait for the end. The unwind goes on by itself after that, and the report says
                ``unwinding``.

        Raises:
            NotFound: ``no_such_run``, ``no_such_step``.
            NotAllowed: the token will not do; see `Operators.check`.
            Conflict: ``plan_digest_mismatch``; ``run_open``.
            ValueError: there is no reason, or it has more than 300 characters, or ``by`` more than 200.
        """
        request = UndoRequest(
            run=run,
            reason=reason,
            token=token,
            by=by,
            steps=tuple(steps),
            past_uncertain=continue_past_uncertain,
            digest=digest,
            patience=patience,
        )
        report = await undo_run(await self._home.open(), self.name, self._home.operators, request, dry_run=dry_run)
        if not dry_run and report.verdict not in ("unwinding", "stuck"):
            self._home.note_end(run)
        return report
