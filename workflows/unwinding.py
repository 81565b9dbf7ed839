"""Starting the unwinds of a session's runs, telling open runs, and hearing of the ends (SPEC 8.2).

Everything here is called by the session's main coroutine: see `ending` for why.
"""

from datetime import datetime
from typing import Any

from pydantic import ValidationError
from temporalio import workflow
from temporalio.common import TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, FailureError, WorkflowAlreadyStartedError
from temporalio.workflow import ChildWorkflowCancellationType, ParentClosePolicy

from ..contract.loaded import UnwindInput
from ..contract.names import CONDEMN_SIGNAL, UNWIND_WORKFLOW, owner_of_run, unwind_id
from ..contract.record import Entry
from ..contract.run import RunView
from ..contract.unwind import CondemnRequest, Refusal, Unwind
from .condemning import SOME_EXECUTION
from .ending import AwaitedEnd
from .keeping import Kept

__all__ = ["Unwinds", "refusal_of", "refuse_to_condemn"]

SUMMARY_LENGTH = 200


class Unwinds:
    """The unwinds of one session, as its current execution sees them through."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._ends = {
            unwind.order.run: AwaitedEnd(unwind_id(unwind.order.run))
            for unwind in kept.condemned.unwinding
            if unwind.execution
        }
        self._to_tell: list[CondemnRequest] = []

    @property
    def under_way(self) -> bool:
        """Whether one is under way, or a run has to be told."""
        return bool(self._kept.condemned.unwinding or self._to_tell)

    def tell(self, order: CondemnRequest) -> None:
        """Have the open run told that it is condemned."""
        self._to_tell.append(order)

    def take_along(self, fork: str, of: str) -> None:
        """Condemn an open fork, if that was done to what it is a fork of while the fork was being started."""
        tombstone = self._kept.condemned.bars_fork(of)
        if tombstone is not None:
            order = CondemnRequest(run=fork, by=tombstone.by, reason=tombstone.reason, token=tombstone.token)
            self._kept.condemn(order, workflow.now())
            self.tell(order)

    def needs_attention(self) -> bool:
        """Whether `attend` has something to do."""
        return (
            bool(self._to_tell) or self._due() is not None or any(end.needs_attention() for end in self._ends.values())
        )

    async def attend(self, attributes: TypedSearchAttributes | None) -> None:
        """Do one thing that is to be done."""
        if self._to_tell:
            await self._tell(self._to_tell.pop(0))
            return
        for run, end in self._ends.items():
            if end.needs_attention():
                ended = end.take()
                if ended is not None:
                    del self._ends[run]
                    self._kept.close_unwind(run, ended.view, workflow.now())
                return
        due = self._due()
        if due is not None:
            await self._start(due.order, attributes)

    def _due(self) -> Unwind | None:
        return self._kept.condemned.due(self._kept.open_run, self._kept.forking)

    async def _tell(self, order: CondemnRequest) -> None:
        try:
            await workflow.get_external_workflow_handle(order.run).signal(CONDEMN_SIGNAL, order)
        except FailureError:
            workflow.logger.info("%s is over already", order.run)  # its end is taken in, and has it unwound

    async def _start(self, order: CondemnRequest, attributes: TypedSearchAttributes | None) -> None:
        kept = self._kept
        tombstone = kept.condemned.tombstone(order.run)
        if tombstone is None:
            raise AssertionError("nothing is unwound before its tombstone is set")
        given = UnwindInput(
            order=order, tombstone=tombstone.model_copy(update={"entries": ()}), agent=kept.agent, user=kept.user
        )
        child: workflow.ChildWorkflowHandle[Any, Any] | None = None
        execution = SOME_EXECUTION
        try:
            child = await workflow.start_child_workflow(
                UNWIND_WORKFLOW,
                given,
                id=unwind_id(order.run),
                result_type=RunView,
                parent_close_policy=ParentClosePolicy.ABANDON,
                cancellation_type=ChildWorkflowCancellationType.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                search_attributes=attributes if order.attributes else None,
                static_summary=f"undo {order.run} · {order.by}: {order.reason}"[:SUMMARY_LENGTH],
            )
            execution = child.first_execution_run_id or execution
        except WorkflowAlreadyStartedError:
            # Started by a session of this user that was ended by force since then.
            workflow.logger.info("%s is under way already", unwind_id(order.run))
        except FailureError as error:
            workflow.logger.warning("%s was not started: %s", unwind_id(order.run), error)
            kept.condemned.given_up(order.run)
            return
        kept.condemned.started(order.run, execution)
        self._ends[order.run] = AwaitedEnd(unwind_id(order.run), child)


def refuse_to_condemn(order: CondemnRequest, kept: Kept) -> None:
    """Refuse to condemn what is no run of this session, or more runs than a session can carry.

    Raises:
        ApplicationError: ``no_such_run`` or ``too_many_condemned``; before anything is noted.
    """
    if owner_of_run(order.run) != (kept.agent, kept.user):
        said = f"{order.run!r} is no run of {kept.user} with {kept.agent}"
        raise ApplicationError(said, type="no_such_run", non_retryable=True)
    if kept.condemned.tombstone(order.run) is None and kept.condemned.full:
        said = (
            f"{len(kept.condemned.tombstones)} runs of {kept.user} with {kept.agent} are condemned; no more have room"
        )
        raise ApplicationError(said, type="too_many_condemned", non_retryable=True)


def refusal_of(raw: object, at: datetime) -> Entry | None:
    """Return the line of a refused operator's act, from what came with the signal; None when that says nothing."""
    try:
        refused = Refusal.model_validate(raw)
    except ValidationError:
        return None
    token = f"token {refused.token}" if refused.token else ""
    return Entry(
        kind="refusal", at=at, by=refused.by, run=refused.run, outcome=refused.code, text=refused.act, note=token
    )
