"""Undoing a run on an operator's word: plan it, have it condemned by its session, follow it to its report (SPEC 8).

The plan and the report are one function of what the run did (`tools.undo_plan`), so that a plan cannot promise
something else than what is then done. What the session has noted is durable: a client that goes away, and a worker that
dies, change nothing about it, and whoever asks again is shown how far it is.
"""

import asyncio
import dataclasses
import secrets
from contextlib import suppress
from datetime import datetime

from temporalio.client import WithStartWorkflowOperation, WorkflowUpdateFailedError
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from ..activities.loading import loaded_run
from ..contract.errors import Conflict, NotAllowed, NotFound
from ..contract.loaded import LoadedRun
from ..contract.names import (
    ANSWER_SIGNAL,
    CONDEMN_SIGNAL,
    CONDEMN_UPDATE,
    REFUSAL_SIGNAL,
    SESSION_WORKFLOW,
    owner_of_run,
    session_workflow_id,
    unwind_id,
)
from ..contract.question import Answer, Question
from ..contract.run import RunView
from ..contract.session import SessionState
from ..contract.unwind import Condemned, CondemnRequest, Refusal, Standing, UnwindReport
from ..tools.undo_plan import plan_undo
from .following import Follower
from .later_runs import later_runs
from .operators import Operators
from .patience import while_served
from .place import Place
from .standing import standing_of

__all__ = ["PATIENCE", "UndoRequest", "undo_run"]

PATIENCE = 60.0
"""Seconds to wait for an unwind, unless told otherwise. It goes on by itself after that."""
AGAIN = 0.1
"""Seconds before a session is asked again that was just hearing of the end of the run."""
LONGEST_REASON = 300
LONGEST_NAME = 200
LONGEST_RUN = 300


@dataclasses.dataclass(frozen=True)
class UndoRequest:
    """What an operator wants undone.

    Attributes:
        run: the run's id.
        reason: why; 300 characters at most.
        token: the operator token.
        by: the person behind the token, where that is known.
        steps: positions of the writes to undo, from 1; empty for all.
        past_uncertain: go on past a write that nobody knows of, without asking a person.
        digest: the digest of the plan that was shown; the undo is refused if the plan has changed since.
        patience: seconds to wait for the end of it.
    """

    run: str
    reason: str = ""
    token: str | None = dataclasses.field(default=None, repr=False)
    by: str = ""
    steps: tuple[int, ...] = ()
    past_uncertain: bool = False
    digest: str = ""
    patience: float = PATIENCE


async def undo_run(
    place: Place, agent: str, operators: Operators, request: UndoRequest, *, dry_run: bool
) -> UnwindReport:
    """Plan the unwind of a run, or have it done.

    Raises:
        NotFound: ``no_such_run``, ``no_such_step``.
        NotAllowed: the operator token will not do; that is noted in the record of the run's session.
        Conflict: ``plan_digest_mismatch``; ``run_open``: single steps of an open run were chosen.
        ValueError: no reason is given, or too long a one, or too long a name.
    """
    unwinder = _Unwinder(place, agent, request)
    if dry_run:
        return await unwinder.plan()
    order = await unwinder.allowed(operators)
    plan = await unwinder.plan()
    if plan.verdict == "swept":
        return plan.model_copy(update={"dry_run": False})
    if request.digest and request.digest != plan.digest:
        message = f"What would be undone of {request.run} is not what was shown: the plan is now {plan.digest}."
        raise Conflict("plan_digest_mismatch", message, "Look at the plan again.", run_id=request.run)
    return await unwinder.carry_out(order, plan)


class _Unwinder:
    def __init__(self, place: Place, agent: str, request: UndoRequest) -> None:
        self._place = place
        self._request = request
        self._run = request.run
        owner = owner_of_run(request.run)
        if owner is None:
            raise self._no_such_run()
        self._agent, self._user = owner
        if self._agent != agent:
            # Its session is served on another queue, and its operators may be others.
            message = f"{request.run} is a run of the agent {self._agent}, not of {agent}."
            hint = f"Undo it as that agent: `--name {self._agent}`, or `agent={self._agent!r}`."
            raise NotFound("no_such_run", message, hint, run_id=request.run)
        self._session = session_workflow_id(*owner)
        self._latest = ""

    # The plan

    async def plan(self, since: datetime | None = None) -> UnwindReport:
        """Return the plan; or, ``since`` an unwind was asked for of which nothing is left to do, what became of it."""
        loaded = await loaded_run(self._place.client, self._run)
        standing = await standing_of(self._place, self._run)
        if loaded is None:
            return self._swept(standing)
        self._check_steps(loaded)
        self._latest = loaded.unwind
        plan = plan_undo(
            loaded, chosen=self._request.steps, tombstone=standing.tombstone, since=since, forks=standing.forks
        )
        written = await later_runs(self._place, self._agent, self._user, self._run)
        later = tuple(each for each in written if each.run not in standing.forks)
        under_way = loaded.closed_at is None and standing.tombstone is not None
        return plan.model_copy(update={"later": later, **(await self._under_way() if under_way else {})})

    async def _under_way(self) -> dict[str, object]:
        """Return which workflow undoes the run at present, and what it asks."""
        for workflow in (unwind_id(self._run), self._run):
            with suppress(RPCError):  # there is none
                view = await Follower(self._place.client, workflow).look()
                if view.unwinding is not None and not view.over:
                    return {"unwind": workflow, "waiting": view.waiting}
        return {}

    def _swept(self, standing: Standing) -> UnwindReport:
        """Return what can be said of a run whose history Temporal has let go of: never that there is nothing to undo.

        Raises:
            NotFound: ``no_such_run``: there never was one.
        """
        if not standing.known and standing.tombstone is None:
            raise self._no_such_run()
        tombstone = standing.tombstone
        entries = tombstone.entries if tombstone else ()
        return UnwindReport(
            run=self._run,
            dry_run=True,
            condemned=tombstone is not None,
            tombstone=tombstone.model_copy(update={"entries": ()}) if tombstone else None,
            verdict=(tombstone.verdict if tombstone and entries else None) or "swept",
            entries=tuple(
                entry.model_copy(update={"status": "already-compensated"}) if entry.status == "compensated" else entry
                for entry in entries
            ),
        )

    def _check_steps(self, loaded: LoadedRun) -> None:
        landed = {step.position for step in loaded.steps if step.landed}
        for position in self._request.steps:
            if position not in landed:
                message = f"Step {position} of {self._run} is no write that took effect."
                hint = f"Those are {', '.join(map(str, sorted(landed)))}." if landed else "None did."
                raise NotFound("no_such_step", message, hint, run_id=self._run)
        if self._request.steps and loaded.closed_at is None:
            message = f"{self._run} is still open, or is being undone; steps of it can be chosen once that is over."
            raise Conflict("run_open", message, "`amends stop` stops it; without steps, all of it is undone.")

    def _no_such_run(self) -> NotFound:
        return NotFound("no_such_run", f"There is no run {self._run}.", "`amends runs` lists them.", run_id=self._run)

    # Who may

    async def allowed(self, operators: Operators) -> CondemnRequest:
        request = self._request
        if len(request.by) > LONGEST_NAME:
            raise ValueError(f"by has {len(request.by)} characters; it may have {LONGEST_NAME}")
        try:
            operator = operators.check(request.token, "undo")
        except NotAllowed as error:
            known = operators.owner(request.token)
            refusal = Refusal(
                run=self._run[:LONGEST_RUN],
                by=request.by,
                code=error.code,
                token=known.name if known else "",
                act="undo",
            )
            with suppress(RPCError):  # there may be no session to note it in
                await self._place.client.get_workflow_handle(self._session).signal(REFUSAL_SIGNAL, refusal)
            raise
        if not request.reason.strip() or len(request.reason) > LONGEST_REASON:
            raise ValueError(f"the reason has {len(request.reason)} characters; it must have 1 to {LONGEST_REASON}")
        return CondemnRequest(
            run=self._run,
            by=request.by or operator.name,
            reason=request.reason.strip(),
            token=operator.name,
            steps=request.steps,
            past_uncertain=request.past_uncertain,
            attributes=self._place.attributes,
        )

    # Doing it

    async def carry_out(self, order: CondemnRequest, plan: UnwindReport) -> UnwindReport:
        begun: list[Follower] = []
        order = order.model_copy(update={"latest": self._latest})
        # Patience is for the undos. The word itself is given first, whoever waits for nothing after it.
        told = await self._condemn(order)
        try:
            async with asyncio.timeout(self._request.patience):
                view = await self.followed(order.model_copy(update={"repeats": True}), told, begun)
        except TimeoutError:
            view = await begun[-1].look() if begun else None
            if view is None or view.unwinding is None:
                noted = {"condemned": True, "tombstone": told.tombstone.model_copy(update={"entries": ()})}
                return plan.model_copy(update={**noted, "dry_run": False, "verdict": "unwinding"})
        if view is None or view.unwinding is None:
            # Everything is undone: what the run is now says it all.
            return (await self.plan(told.at)).model_copy(update={"dry_run": False})
        around = {"later": plan.later, "forks": plan.forks} if view.unwinding.run == self._run else {}
        return view.unwinding.model_copy(update={**around, "waiting": view.waiting})

    async def followed(self, order: CondemnRequest, told: Condemned, begun: list[Follower]) -> RunView | None:
        """Follow what undoes a condemned run until that is over or asks. None: nothing is left to do."""
        while True:
            match told.status:
                case "settled":
                    return None
                case "again":
                    pass
                case "first":
                    # What goes on from it is undone before it, and each of those says for itself how far it is.
                    view = await self._fork_followed(told.before[0], order, begun)
                    if view is not None and view.waiting:
                        return view
                case "open":
                    view = await self._told_to_the_run(order, told.at, begun)
                    if view is not None:
                        return view
                case "unwinding":
                    follower = Follower(self._place.client, unwind_id(self._run), execution=told.execution)
                    begun.append(follower)
                    if order.past_uncertain:  # it may have begun on another word, and wait for an answer
                        with suppress(RPCError):
                            await follower.handle.signal(CONDEMN_SIGNAL, order)
                    return await self._attended(follower, order, told.at)
            await asyncio.sleep(AGAIN)
            told = await self._condemn(order)

    async def _fork_followed(self, fork: str, order: CondemnRequest, begun: list[Follower]) -> RunView | None:
        unwinder = _Unwinder(self._place, self._agent, dataclasses.replace(self._request, run=fork, steps=()))
        order = order.model_copy(update={"run": fork, "steps": (), "latest": ""})
        return await unwinder.followed(order, await self._condemn(order), begun)

    async def _told_to_the_run(self, order: CondemnRequest, at: datetime, begun: list[Follower]) -> RunView | None:
        """Tell an open run, as its session does too, and follow it. None when it was over before it heard of it."""
        follower = Follower(self._place.client, self._run)
        begun.append(follower)
        with suppress(RPCError):
            await follower.handle.signal(CONDEMN_SIGNAL, order)
        view = await self._attended(follower, order, at)
        if view.condemned is None:
            begun.clear()
            return None
        return view

    async def _attended(self, follower: Follower, order: CondemnRequest, at: datetime) -> RunView:
        """Wait until an unwind is over or asks. A failed undo that was asked about before now is tried again."""
        retried: set[str] = set()
        while True:
            view = await while_served(follower.until_attention(), self._place)
            failed = next((each for each in view.waiting if each.kind == "undo" and each.asked_at < at), None)
            if view.over or failed is None or failed.id in retried:  # it takes no answer but from its console
                return view
            retried.add(failed.id)
            before = follower.read
            await self._retry(follower, order, failed)
            view = await while_served(follower.until_attention(since=before), self._place)

    async def _retry(self, follower: Follower, order: CondemnRequest, failed: Question) -> None:
        answer = Answer(
            question_id=failed.id,
            answer="retry",
            by=order.by,
            note=order.reason,
            answer_id=secrets.token_hex(8),
            digest=failed.digest,
        )
        with suppress(RPCError):  # it has just ended
            await follower.handle.signal(ANSWER_SIGNAL, answer)

    async def _condemn(self, order: CondemnRequest) -> Condemned:
        start: WithStartWorkflowOperation[object, object] = WithStartWorkflowOperation(
            SESSION_WORKFLOW,
            SessionState(agent=self._agent, user=self._user, epoch=secrets.token_hex(3)),
            id=self._session,
            task_queue=self._place.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=f"{self._user} with {self._agent}",
        )
        update = self._place.client.execute_update_with_start_workflow(
            CONDEMN_UPDATE, order, start_workflow_operation=start, result_type=Condemned
        )
        try:
            told: Condemned = await while_served(update, self._place)
        except WorkflowUpdateFailedError as error:
            if not isinstance(error.cause, ApplicationError) or error.cause.type != "too_many_condemned":
                raise
            hint = "`amends stop` stops an open run, and its rollback undoes it."
            raise Conflict("too_many_condemned", f"{error.cause.message}.", hint, run_id=self._run) from error
        return told
