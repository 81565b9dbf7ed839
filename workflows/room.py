"""The room of a run's calls in caps that cross sessions: taken before the check, given back if the call never ran.

A run whose rulebook has no such cap asks nobody, and its history has no event more. Otherwise a call that the cap
concerns costs two activities: one that asks the ledgers before the check, and one that tells them afterwards. What the
first answered is recorded, and is all the check sees of a ledger, so a replay sees the same.
"""

from collections.abc import Mapping
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

from ..contract.caps import RoomRequest, RoomUse
from ..contract.decision import Call
from ..contract.names import RESERVE_ACTIVITY, SETTLE_ACTIVITY, reserve_activity_id, settle_activity_id
from ..contract.run import Step
from ..rulebook.check import check
from ..rulebook.ledger import crosses_sessions, hoped_room, wants_of
from .cancellation import Cancellation
from .progress import Progress, call_event

__all__ = ["Room"]

_NOTHING: Mapping[str, bool] = {}
_PATIENCE = RetryPolicy(
    initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=5), maximum_attempts=6
)
"""A ledger that does not answer for half a minute counts as one without room. Asking again takes nothing twice."""
_ONE_TRY = timedelta(seconds=10)


class Room:
    """The room that the calls of one run hold in caps that cross sessions."""

    def __init__(self, progress: Progress, cancellation: Cancellation) -> None:
        self._progress = progress
        self._cancellation = cancellation
        self._has_caps = crosses_sessions(progress.rulebook)
        self._answers: dict[int, Mapping[str, bool]] = {}
        self._held: dict[int, RoomUse] = {}

    def reserved(self, step: Step) -> Mapping[str, bool]:
        """By rule, whether the ledger took the room for this step: what the check is given as ``reserved``."""
        return self._answers.get(step.number, _NOTHING)

    async def take(self, step: Step, call: Call) -> None:
        """Ask the ledgers for the room a call needs. Nobody is asked for a call that is refused in any case."""
        if not self._has_caps:
            return
        given, progress = self._progress.given, self._progress
        wants = wants_of(progress.rulebook, call, facts=given.facts)
        if not wants.of_user and not wants.of_all:
            return
        hoped = hoped_room(progress.rulebook, call)
        decision = check(
            progress.rulebook, call, tools=given.tools, facts=given.facts, record=progress.record, reserved=hoped
        )
        if decision.verdict == "refuse":
            self._answers[step.number] = hoped
            return
        ticket = f"{progress.run}#{step.number}"
        use = RoomUse(
            agent=given.agent,
            user=given.user,
            ticket=ticket,
            keep=False,
            of_user=bool(wants.of_user),
            of_all=bool(wants.of_all),
        )
        request = RoomRequest(
            agent=given.agent,
            user=given.user,
            ticket=ticket,
            day=call.day,
            of_user=wants.of_user,
            of_all=wants.of_all,
        )
        answers = await self._ask(request, step)
        self._answers[step.number] = answers or _NOTHING
        if answers is None or all(answers.values()):
            self._held[step.number] = use

    async def close(self, step: Step) -> None:
        """Tell the ledgers what became of a step: the room stays taken if the call ran, or if nobody knows."""
        use = self._held.pop(step.number, None)
        if use is None:
            return
        had_no_effect = call_event(step, self._progress.run).outcome in ("refused", "declined", "failed")
        handle = workflow.start_activity(
            SETTLE_ACTIVITY,
            use.model_copy(update={"keep": not had_no_effect}),
            activity_id=settle_activity_id(step.position),
            start_to_close_timeout=_ONE_TRY,
            retry_policy=_PATIENCE,
            summary=f"{'give back' if had_no_effect else 'keep'} the room of {step.tool}",
        )
        try:
            await self._cancellation.outlast(handle)
        except ActivityError:
            workflow.logger.warning("a ledger of caps was not told of %s; the room stays taken", use.ticket)

    async def _ask(self, request: RoomRequest, step: Step) -> Mapping[str, bool] | None:
        """Return the ledgers' answer; None when they gave none, and may have taken the room all the same."""
        handle: workflow.ActivityHandle[dict[str, bool]] = workflow.start_activity(
            RESERVE_ACTIVITY,
            request,
            activity_id=reserve_activity_id(step.position),
            result_type=dict[str, bool],
            start_to_close_timeout=_ONE_TRY,
            retry_policy=_PATIENCE,
            summary=f"room for {step.tool}",
        )
        try:
            return await self._cancellation.outlast(handle)
        except ActivityError:
            workflow.logger.warning("no ledger of caps answered for %s", request.ticket)
            return None
