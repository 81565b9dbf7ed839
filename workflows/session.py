"""The session: one person's thread with one agent, over many runs (SPEC 7).

It is an entity: it lives as long as it is not terminated, takes turns one at a time, starts a run for each and keeps
what became of it. It is also the ledger: there is no second database. Runs are its children, and are left alone
whatever becomes of the session: cancelling or terminating it never cuts a run off in the middle of a rollback.

The main coroutine does one thing at a time: it takes in the end of a run, seals a full page of the record, begins the
next queued turn, or continues as new. Turns come as updates. A turn that need not wait is begun by its own handler,
which is the quickest way; every other is answered at once with what it waits for, and no handler stays parked.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from temporalio import workflow
from temporalio.common import (
    RawValue,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import FailureError, WorkflowAlreadyStartedError
from temporalio.workflow import ChildWorkflowCancellationType, ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from ..contract.loaded import LoadRequest
    from ..contract.names import (
        AGENT_ATTRIBUTE,
        CONDEMN_UPDATE,
        LANGUAGE_UPDATE,
        PAGE_WORKFLOW,
        RECORD_QUERY,
        REFUSAL_SIGNAL,
        REWIND_UPDATE,
        RUN_WORKFLOW,
        SESSION_WORKFLOW,
        STANDING_QUERY,
        STATE_ATTRIBUTE,
        STOP_SIGNAL,
        SUBMIT_UPDATE,
        USER_ATTRIBUTE,
        VIEW_QUERY,
        WITHDRAW_SIGNAL,
        run_id,
    )
    from ..contract.reading import Language
    from ..contract.record import Tail
    from ..contract.run import RunView
    from ..contract.session import Plan, Rewound, SessionState, SessionView, Submitted, Turn
    from ..contract.unwind import Condemned, CondemnRequest, Standing
    from .cancellation import Cancellation
    from .ending import AwaitedEnd
    from .folding import fold_anew
    from .forking import fork_plan
    from .keeping import Kept
    from .loading import start_loading
    from .reading import read_turn
    from .stopping import stop_words
    from .traces import leave_a_trace
    from .turns import Withdrawn, refuse_unsound
    from .unwinding import Unwinds, refusal_of, refuse_to_condemn

__all__ = ["SessionWorkflow"]

SUMMARY_LENGTH = 200
OVERDUE_EVENTS = 8_000
OVERDUE_BYTES = 8 * 1024 * 1024
OVERDUE_UPDATES = 1_500
"""With a run open, a session puts off continuing as new until one of these is reached: before that it costs nothing to
wait for the run's end. They are about twice what the server suggests at, and far from where it stops a workflow."""


@workflow.defn(name=SESSION_WORKFLOW)
class SessionWorkflow:
    """One person's thread with one agent (SPEC 7.1)."""

    @workflow.init
    def __init__(self, state: SessionState) -> None:
        self._kept = Kept(state)
        self._cancellation = Cancellation()
        self._beginning = ""
        self._end: AwaitedEnd | None = None
        self._updates = 0
        self._withdrawn = Withdrawn()
        self._stop: tuple[str, str] | None = None
        self._unwinds = Unwinds(self._kept)

    @workflow.run
    async def run(self, _: SessionState) -> None:
        """Serve turns until it is time to continue as new."""
        self._show()
        if self._kept.open is not None:
            self._end = AwaitedEnd(self._kept.open.run)
        while True:
            await self._cancellation.wait_through(
                lambda: (
                    self._may_be_over()
                    or self._may_pass_on_a_stop()
                    or self._unwinds.needs_attention()
                    or self._kept.ledger.full
                    or self._is_next()
                    or self._may_continue_as_new()
                )
            )
            if self._may_pass_on_a_stop():
                await self._cancellation.outlast(asyncio.create_task(self._pass_on_the_stop()))
            elif self._may_be_over():
                self._take_in_the_end()
            elif self._unwinds.needs_attention():
                await self._cancellation.outlast(asyncio.create_task(self._unwinds.attend(self._attributes())))
                leave_a_trace("an unwind")
            elif self._kept.ledger.full:
                await self._cancellation.outlast(asyncio.create_task(self._seal_a_page()))
            elif self._may_continue_as_new():
                # Nothing was awaited since the wait above, so no handler has begun in between.
                workflow.continue_as_new(self._kept.state())
            else:
                await self._cancellation.outlast(asyncio.create_task(self._begin_the_next()))

    def _may_continue_as_new(self) -> bool:
        due = (
            self._is_overdue()
            if self._kept.open or self._unwinds.under_way
            else workflow.info().is_continue_as_new_suggested()
        )
        return due and not self._beginning and workflow.all_handlers_finished()

    def _is_overdue(self) -> bool:
        info = workflow.info()
        return (
            info.get_current_history_length() >= OVERDUE_EVENTS
            or info.get_current_history_size() >= OVERDUE_BYTES
            or self._updates >= OVERDUE_UPDATES
        )

    # Turns

    @workflow.update(name=SUBMIT_UPDATE, description="A turn. Answered with the run it started, or why there is none.")
    async def submit(self, turn: Turn) -> Submitted:
        """Read a turn and start its run; or say why not, or what it waits for (SPEC 7.3)."""
        self._updates += 1
        if turn.settled and self._kept.open and self._kept.open.run == turn.settled:
            if self._end is not None:
                self._end.hint()
            await workflow.wait_condition(
                lambda: self._kept.open is None or self._kept.open.run != turn.settled or self._is_overdue()
            )
        request = turn.request_id or self._own_request()
        while not (self._kept.answer(request) or self._is_steady() or self._is_overdue()):
            await workflow.wait_condition(lambda: self._is_steady() or self._is_overdue())
        if answer := self._kept.answer(request):
            return answer
        if not self._is_steady() or (self._kept.open and self._kept.open.run == turn.settled):
            return Submitted(status="again")
        if self._kept.open is None:
            return await self._begin(turn, request)
        if turn.queue:
            self._kept.queue(turn.model_copy(update={"request_id": request}))
            return Submitted(status="queued", run=self._kept.open.run)
        return Submitted(status="busy", run=self._kept.open.run)

    @submit.validator
    def _turn_is_sound(self, turn: Turn) -> None:
        self._withdrawn.refuse(self._own_request())
        refuse_unsound(turn, self._kept)

    def _own_request(self) -> str:
        update = workflow.current_update_info()
        return update.id if update else ""

    def _is_steady(self) -> bool:
        """Whether it is decided what a turn that comes now meets: an open run, or none and nobody in line."""
        return not self._beginning and (self._kept.open is not None or not self._kept.queued)

    def _is_next(self) -> bool:
        return self._kept.open is None and not self._beginning and bool(self._kept.queued)

    async def _begin_the_next(self) -> None:
        turn = self._kept.queued.popleft()
        submitted = await self._begin(turn, turn.request_id)
        self._kept.remember(turn.request_id, submitted)
        leave_a_trace("a turn that waited")

    async def _begin(self, turn: Turn, request: str) -> Submitted:
        self._beginning = request
        try:
            submitted = await self._begun(turn)
        finally:
            self._beginning = self._kept.forking = ""
        if submitted.status != "not_started":  # the same request may be made again
            self._kept.remember(request, submitted)
        self._show()
        return submitted

    async def _begun(self, turn: Turn) -> Submitted:
        try:
            plan = await self._planned(turn)
            if tombstone := self._kept.condemned.bars_fork(turn.fork_of):
                return Submitted(status="condemned", run=tombstone.run, text=tombstone.reason)
            self._kept.forking = turn.fork_of
            self._kept.lacking = plan.lacking
            if plan.said:
                # A value that was asked for is kept with the turn that it completes.
                turn = turn.model_copy(update={"text": plan.said})
            if plan.unread is not None:
                self._kept.note_no_run(turn, plan.language, plan.text, workflow.now())
                status: Literal["unread", "lacking"] = "lacking" if plan.lacking else "unread"
                return Submitted(status=status, text=plan.text, unread=plan.unread, language=plan.language)
            if not self._kept.count_for(plan.rulebook):
                folded = await fold_anew(self._kept.ledger.chain, plan.rulebook)
                self._kept.count_for(plan.rulebook, folded)
            if self._stop is not None:
                return self._kept.note_stopped(turn, *self._stop, workflow.now())
            run, child = await self._started(turn, plan)
            self._unwinds.take_along(run, turn.fork_of)
        except FailureError as error:
            text = str(error.cause or error)
            self._kept.note_no_run(turn, turn.language or self._kept.language or "en", text, workflow.now())
            return Submitted(status="not_started", text=text)
        self._end = AwaitedEnd(run, child)
        return Submitted(status="started", run=run, asks=plan.asks, language=plan.language)

    async def _planned(self, turn: Turn) -> Plan:
        if turn.fork_of:
            return fork_plan(await start_loading(LoadRequest(run=turn.fork_of), tries=1), turn.at_step)
        return await read_turn(self._kept.agent, turn.text, turn.language or self._kept.language, self._kept.lacking)

    async def _started(self, turn: Turn, plan: Plan) -> "tuple[str, workflow.ChildWorkflowHandle[Any, Any]]":
        try:
            return await self._start(turn, plan)
        except WorkflowAlreadyStartedError:
            # Somebody reset this session by hand: it comes to numbers that were used up before. A new identity keeps
            # its runs and keys apart from those.
            self._kept.renew(workflow.uuid4().hex[:6])
            return await self._start(turn, plan)

    async def _start(self, turn: Turn, plan: Plan) -> "tuple[str, workflow.ChildWorkflowHandle[Any, Any]]":
        given = self._kept.run_input(turn, plan)
        run = run_id(given.session, given.number)
        child = await workflow.start_child_workflow(
            RUN_WORKFLOW,
            given,
            id=run,
            result_type=RunView,
            parent_close_policy=ParentClosePolicy.ABANDON,
            cancellation_type=ChildWorkflowCancellationType.ABANDON,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            search_attributes=self._attributes() if turn.attributes else None,
            static_summary=f"{', '.join(call.tool for call in given.calls)} · {given.user}"[:SUMMARY_LENGTH],
            static_details=turn.text,
        )
        self._kept.note_started(turn, plan, run, given, workflow.now())
        return run, child

    def _attributes(self) -> TypedSearchAttributes:
        values = {STATE_ATTRIBUTE: "running", AGENT_ATTRIBUTE: self._kept.agent, USER_ATTRIBUTE: self._kept.user}
        return TypedSearchAttributes(
            [SearchAttributePair(SearchAttributeKey.for_keyword(name), value) for name, value in values.items()]
        )

    # Stopping

    @workflow.signal(name=STOP_SIGNAL, description="Stop the open run, and begin no turn that waits: {by, reason}.")
    def stop(self, stop: object = None, *_: object) -> None:
        """Stop the session's open run and drop the turns that wait, whatever comes with the request (SPEC 8.4)."""
        said = stop_words(stop)
        self._kept.stop(*said, workflow.now())
        if self._kept.open is not None or self._beginning:
            self._stop = said
        self._show()
        leave_a_trace("a stop")

    @workflow.signal(name=WITHDRAW_SIGNAL, description="A turn's caller gave up: the id of its update.")
    def withdraw(self, update: object = None, *_: object) -> None:
        """Take no turn later on that nobody waits for any more (SPEC 7.3)."""
        self._withdrawn.note(update)
        leave_a_trace("a turn that was given up")

    @workflow.signal(dynamic=True, description="Anything else: it changes nothing.")
    def take_no_notice(self, _name: str, _given: Sequence[RawValue]) -> None:
        """Take a signal that nobody knows. Left without a handler, it would be kept for ever and leave no trace."""
        leave_a_trace("a signal that means nothing")

    def _may_pass_on_a_stop(self) -> bool:
        return self._stop is not None and not self._beginning

    async def _pass_on_the_stop(self) -> None:
        said, self._stop = self._stop, None
        if self._kept.open is None or said is None:
            return
        if not self._may_be_over():
            self._kept.stopped = self._kept.open.run
        run = workflow.get_external_workflow_handle(self._kept.open.run)
        try:
            await run.signal(STOP_SIGNAL, {"by": said[0], "reason": said[1]})
        except FailureError:
            workflow.logger.info("%s is over already", run.id)
        leave_a_trace("a stop that was passed on")

    # Unwinding

    @workflow.update(
        name=CONDEMN_UPDATE, description="Have a run undone: {run, by, reason}. Its tombstone comes first."
    )
    async def condemn(self, order: CondemnRequest) -> Condemned:
        """Set a run's tombstone and have it undone; say what undoes it (SPEC 8.2)."""
        self._updates += 1
        told = self._kept.condemn(order, workflow.now())
        if self._kept.open_run in (order.run, *told.before) and not order.repeats:
            self._unwinds.tell(order.model_copy(update={"run": self._kept.open_run, "steps": ()}))
        if told.status == "unwinding" and not told.execution:
            condemned = self._kept.condemned
            await workflow.wait_condition(lambda: not condemned.is_due(order.run))
            under_way = condemned.is_unwinding(order.run)  # it may be over by now, or could not be started
            now = {"execution": condemned.execution(order.run)} if under_way else {"status": "again"}
            told = told.model_copy(update=now)
        self._show()
        return told

    @condemn.validator
    def _may_be_condemned(self, order: CondemnRequest) -> None:
        refuse_to_condemn(order, self._kept)

    @workflow.query(name=STANDING_QUERY, description="What is known of a run: whether it is condemned.")
    def standing(self, run: str) -> Standing:
        """Return what is known of a run of this session."""
        return self._kept.standing(run)

    @workflow.signal(name=REFUSAL_SIGNAL, description="Somebody wanted what only an operator may do: {run, by, code}.")
    def refusal(self, refused: object = None, *_: object) -> None:
        """Write into the record that an operator's act was refused, whatever comes with it (SPEC 8.2)."""
        entry = refusal_of(refused, workflow.now())
        if entry is not None:
            self._kept.refuse(entry)
        leave_a_trace("a refusal")

    # The end of a run, and the record

    def _may_be_over(self) -> bool:
        return self._end is not None and self._end.needs_attention()

    def _take_in_the_end(self) -> None:
        end = self._end.take() if self._end else None
        if end is not None:
            self._end = None
            self._kept.close(end.view, workflow.now())
            self._show()

    async def _seal_a_page(self) -> None:
        name, page = self._kept.ledger.next_page()
        try:
            await workflow.start_child_workflow(
                PAGE_WORKFLOW,
                page,
                id=name,
                parent_close_policy=ParentClosePolicy.ABANDON,
                cancellation_type=ChildWorkflowCancellationType.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                static_summary=f"{self._kept.user} with {self._kept.agent}: record, page {page.number}"[
                    :SUMMARY_LENGTH
                ],
            )
        except WorkflowAlreadyStartedError:
            workflow.logger.info("page %s is kept already", name)  # its id holds the hash of what it holds
        self._kept.ledger.sealed(name, page)
        leave_a_trace("a page of the record")

    @workflow.update(name=REWIND_UPDATE, description="Forget the messages of failed runs, if nothing is left to undo.")
    def rewind(self) -> Rewound:
        """Say whether the memory is rewound; it is not while anything remains to be undone (SPEC 7.2)."""
        self._updates += 1
        open_run = self._kept.open.run if self._kept.open else ""
        return Rewound(refused=bool(open_run or self._kept.remains), open_run=open_run, remains=self._kept.remains)

    @workflow.update(name=LANGUAGE_UPDATE, description="The language turns are read in when a request names none.")
    def set_language(self, language: Language | None) -> Language | None:
        """Set the session's language; None goes back to the agent's (SPEC 2.2)."""
        self._updates += 1
        self._kept.set_language(language, workflow.now())
        return language

    @workflow.query(name=VIEW_QUERY, description="The session: its open run, its latest past ones, its memory.")
    def view(self) -> SessionView:
        """Return what the session shows now."""
        return self._kept.view()

    @workflow.query(name=RECORD_QUERY, description="The record: where its pages are, and the lines since the last.")
    def record(self) -> Tail:
        """Return the record as the session holds it."""
        return self._kept.tail(workflow.now())

    def _show(self) -> None:
        view = self._kept
        now = f"Open: `{view.open.run}`" if view.open else "No run is open."
        waiting = f" {len(view.queued)} queued." if view.queued else ""
        workflow.set_current_details(f"{view.user} with {view.agent}. {now}{waiting} {view.turns} past.")
